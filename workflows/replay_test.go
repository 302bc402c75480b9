package workflows_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"rihla/workflows"
)

// TestEveryKeptHistoryReplays is the replay gate: a change to a workflow that would break payments under way breaks
// here first. Histories are added, one per scenario, and never overwritten (e2e/histories records them).
func TestEveryKeptHistoryReplays(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob("testdata/histories/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files, "the gate has nothing to guard")

	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()

			f, err := os.Open(file)
			require.NoError(t, err)

			defer f.Close()

			history, err := client.HistoryFromJSON(f, client.HistoryJSONOptions{})
			require.NoError(t, err)

			replayer := worker.NewWorkflowReplayer()
			workflows.Register(register{replayer})

			logger := log.NewStructuredLogger(slog.New(slog.DiscardHandler))
			require.NoError(t, replayer.ReplayWorkflowHistory(logger, history))
		})
	}
}

// register narrows the replayer to what workflows.Register wants.
type register struct{ worker.WorkflowReplayer }

func (r register) RegisterWorkflow(w any) { r.WorkflowReplayer.RegisterWorkflow(w) }
