// Package histories_test runs every scenario of a workflow through the real service and replays each history on the
// code of the day. With RECORD_HISTORIES=1 it also keeps the histories that workflows/testdata/histories lacks; a kept
// one is never overwritten.
package histories_test

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/temporalproto"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"rihla/e2e/harness"
	"rihla/internal/devstack"
	"rihla/workflows"
)

// replay waits for the workflow's end, replays its history, and keeps it under name when asked to.
func replay(t *testing.T, s *harness.Stack, name, workflowID string) {
	t.Helper()

	require.NoError(t, s.Temporal.GetWorkflow(t.Context(), workflowID, "").Get(t.Context(), nil))
	replayRunning(t, s, name, workflowID)
}

// replayRunning is replay for a workflow that goes on, such as a campaign's.
func replayRunning(t *testing.T, s *harness.Stack, name, workflowID string) {
	t.Helper()
	replayRun(t, s, name, &commonpb.WorkflowExecution{WorkflowId: workflowID})
}

// replayRun is replayRunning for one run of several with the same id.
func replayRun(t *testing.T, s *harness.Stack, name string, run *commonpb.WorkflowExecution) {
	t.Helper()

	history := &historypb.History{}

	events := s.Temporal.GetWorkflowHistory(t.Context(), run.GetWorkflowId(), run.GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		require.NoError(t, err)

		history.Events = append(history.Events, e)
	}

	// On a busy machine a second is no deadlock; workflowcheck looks for code that blocks.
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true})
	require.NoError(t, err)
	workflows.Register(replayer)
	require.NoError(t, replayer.ReplayWorkflowHistory(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), history))

	if os.Getenv("RECORD_HISTORIES") != "" {
		keep(t, name, history)
	}
}

// identity is the process and host that a worker or client ran on, which must not be in the repository.
var identity = regexp.MustCompile(`"(identity|binaryChecksum|buildId)": "[^"]*"`)

func keep(t *testing.T, name string, history *historypb.History) {
	t.Helper()

	root, err := devstack.ModuleRoot()
	require.NoError(t, err)

	text, err := temporalproto.CustomJSONMarshalOptions{Indent: " "}.Marshal(history)
	require.NoError(t, err)

	// The marshaller varies its spaces on purpose.
	text = bytes.ReplaceAll(text, []byte(`":  "`), []byte(`": "`))
	text = identity.ReplaceAll(text, []byte(`"$1": "rihla"`))

	file, err := os.OpenFile(filepath.Join(root, "workflows", "testdata", "histories", name+".json"),
		os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return
	}

	require.NoError(t, err)

	_, err = file.Write(append(text, '\n'))
	require.NoError(t, errors.Join(err, file.Close()))
}
