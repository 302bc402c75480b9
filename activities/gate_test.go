package activities_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"rihla/activities"
)

// TestGateRefusesOnce: what does not replay is an answer, which is not asked for again; a Temporal that is away is none.
func TestGateRefusesOnce(t *testing.T) {
	t.Parallel()

	gate := func(found activities.Gated, err error) (activities.Gated, error) {
		g := activities.Gate{Replay: func(context.Context) (activities.Gated, error) { return found, err }}

		return g.ReplayHistories(t.Context())
	}

	got, err := gate(activities.Gated{Replayed: 7}, nil)
	require.NoError(t, err)
	require.Equal(t, int64(7), got.Replayed)

	many := activities.Gated{Replayed: 40}
	for i := range 12 {
		many.Refused = append(many.Refused, "Payment payment/"+strconv.Itoa(i))
	}

	_, err = gate(many, nil)

	refused, ok := errors.AsType[*temporal.ApplicationError](err)
	require.True(t, ok)
	require.True(t, refused.NonRetryable())
	require.Equal(t, "DOES_NOT_REPLAY", refused.Type())
	require.Contains(t, refused.Error(), "12 workflows")
	require.Equal(t, 10, strings.Count(refused.Error(), "payment/"))

	_, err = gate(activities.Gated{}, errors.New("Temporal is away"))
	require.ErrorContains(t, err, "Temporal is away")

	refused, ok = errors.AsType[*temporal.ApplicationError](err)
	require.False(t, ok && refused.NonRetryable())
}
