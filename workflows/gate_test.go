package workflows_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"rihla/activities"
	"rihla/workflows"
)

// TestGate: it waits for a Temporal that does not answer, and ends with what replaying has shown.
func TestGate(t *testing.T) {
	t.Parallel()

	for name, refused := range map[string][]string{"all replay": nil, "one does not": {"Payment payment/1"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tries := 0
			w := newWorld(t)
			w.RegisterActivity(&activities.Gate{Replay: func(context.Context) (activities.Gated, error) {
				if tries++; tries == 1 {
					return activities.Gated{}, errors.New("Temporal is away")
				}

				return activities.Gated{Replayed: 3, Refused: refused}, nil
			}})
			w.ExecuteWorkflow(workflows.Gate)
			require.Equal(t, 2, tries)

			if len(refused) > 0 {
				failed, ok := errors.AsType[*temporal.ApplicationError](w.GetWorkflowError())
				require.True(t, ok)
				require.Equal(t, "DOES_NOT_REPLAY", failed.Type())

				return
			}

			var got activities.Gated

			require.NoError(t, w.GetWorkflowResult(&got))
			require.Equal(t, int64(3), got.Replayed)
		})
	}
}
