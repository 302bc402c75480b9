package histories_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"rihla/e2e/harness"
)

// TestGateHistory: the gate of a version, which replays what runs beside it, its own history among it.
func TestGateHistory(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})

	run, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "gate/" + uuid.NewString(), TaskQueue: s.Queue}, "Gate")
	require.NoError(t, err)
	replay(t, s, "gate", run.GetID())
}
