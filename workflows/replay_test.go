package workflows_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"rihla/workflows"
)

// kept is where the histories are, and sums the digest of each as it was when it came in.
const (
	kept = "testdata/histories"
	sums = kept + "/SHA256SUMS"
)

// keptHistories reads every history in the directory, by file name.
func keptHistories(t *testing.T) map[string]*historypb.History {
	t.Helper()

	files, err := filepath.Glob(kept + "/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files, "the gate has nothing to guard")

	all := map[string]*historypb.History{}

	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)

		all[filepath.Base(file)], err = client.HistoryFromJSON(bytes.NewReader(text), client.HistoryJSONOptions{})
		require.NoError(t, err, file)
	}

	return all
}

// TestEveryKeptHistoryReplays is the replay gate: a change to a workflow that would break payments under way breaks
// here first. Histories are added, one per scenario, and never overwritten (e2e/histories records them).
func TestEveryKeptHistoryReplays(t *testing.T) {
	t.Parallel()

	for file, history := range keptHistories(t) {
		t.Run(file, func(t *testing.T) {
			t.Parallel()

			// On a busy machine a second is no deadlock; workflowcheck looks for code that blocks.
			replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true})
			require.NoError(t, err)
			workflows.Register(replayer)

			logger := log.NewStructuredLogger(slog.New(slog.DiscardHandler))
			require.NoError(t, replayer.ReplayWorkflowHistory(logger, history))
		})
	}
}

// TestEveryWorkflowHasAHistory: the gate guards nothing that was never recorded.
func TestEveryWorkflowHasAHistory(t *testing.T) {
	t.Parallel()

	recorded := map[string]bool{}
	for _, history := range keptHistories(t) {
		recorded[history.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName()] = true
	}

	registered := workflows.Names()
	require.NotEmpty(t, registered)

	for _, name := range registered {
		require.True(t, recorded[name], "no history of %s: add a scenario to e2e/histories and record it", name)
	}
}

// TestHistoriesStayAsTheyWere: what was recorded once stays, word for word, for runs like it may still be waiting; when none
// can be, it is in the folder retired (versions.go). The file of digests only grows, which a reviewer sees. RECORD_HISTORIES=1 adds the digests of new histories.
func TestHistoriesStayAsTheyWere(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile(sums)
	require.NoError(t, err)

	known := map[string]string{}

	for line := range strings.Lines(string(text)) {
		sum, file, ok := strings.Cut(strings.TrimSpace(line), "  ")
		require.True(t, ok, "%q is not a digest and a name", line)
		require.Empty(t, known[file], "%s is there twice", file)
		known[file] = sum
	}

	var added []string

	files, err := filepath.Glob(kept + "/*.json")
	require.NoError(t, err)
	retired, err := filepath.Glob(kept + "/retired/*.json")
	require.NoError(t, err)

	for _, path := range append(files, retired...) {
		history, err := os.ReadFile(path)
		require.NoError(t, err)

		digest := sha256.Sum256(history)
		sum, file := hex.EncodeToString(digest[:]), filepath.Base(path)

		switch known[file] {
		case sum:
		case "":
			added = append(added, sum+"  "+file)
		default:
			t.Errorf("%s has changed: put it back, and record another one under a new name", file)
		}

		delete(known, file)
	}

	for file := range known {
		t.Errorf("%s has gone: runs like it may still be waiting", file)
	}

	if len(added) > 0 && os.Getenv("RECORD_HISTORIES") != "" {
		slices.SortFunc(added, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
		require.NoError(t, os.WriteFile(sums, append(text, strings.Join(added, "\n")+"\n"...), 0o644))

		return
	}

	require.Empty(t, added, "new histories: RECORD_HISTORIES=1 go test ./workflows -run TestHistoriesStayAsTheyWere adds their digests")
}
