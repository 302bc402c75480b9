package sources_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness/sources"
)

// TestNote notes the sources of the service; TestAChangeIsNoticed runs it in a copy of the module.
func TestNote(t *testing.T) {
	t.Parallel()
	require.NoError(t, sources.Note(context.Background(), moduleRoot(t), "rihla"))
}

func moduleRoot(t *testing.T) string {
	t.Helper()

	root, err := filepath.Abs("../../..")
	require.NoError(t, err)

	return root
}

// TestAChangeIsNoticed changes packages and embedded files that no end-to-end test imports, and sees that `go test` runs again.
func TestAChangeIsNoticed(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("compiles a copy of the module")
	}

	there := copySources(t, moduleRoot(t))
	run := func() string {
		cmd := exec.CommandContext(context.Background(), "go", "test", "-run", "^TestNote$", "./e2e/harness/sources")
		cmd.Dir = there

		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))

		return string(out)
	}

	require.NotContains(t, run(), "(cached)")
	require.Contains(t, run(), "(cached)", "nothing has changed")

	for _, name := range []string{
		"main.go", "cmd/wire.go", "worker/worker.go", "api/operations/bookings.go", "internal/inbox/queue.go", "internal/inbox/relay.go",
		"api/openapi.yaml", "migrations/0001_accounts.tx.up.sql", "go.mod",
	} {
		path := filepath.Join(there, name)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, append(text, '\n'), 0o600))
		age(t, path)
		require.NotContains(t, run(), "(cached)", "%s has changed", name)
		require.Contains(t, run(), "(cached)")
	}
}

// copySources copies what the service and this test are built from.
func copySources(t *testing.T, root string) string {
	t.Helper()

	there := t.TempDir()

	for _, pkg := range []string{"rihla", "rihla/e2e/harness/sources"} {
		dirs, err := sources.Of(context.Background(), root, pkg)
		require.NoError(t, err)

		if pkg != "rihla" { // the test itself, which no program is built from
			dirs = append(dirs, filepath.Join(root, "e2e/harness/sources"))
		}

		for _, dir := range dirs {
			copyFiles(t, dir, filepath.Join(there, dir[len(root):]))
		}
	}

	return there
}

func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(to, 0o700))

	entries, err := os.ReadDir(from)
	require.NoError(t, err)

	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}

		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, e.Name()), text, 0o600))
		age(t, filepath.Join(to, e.Name()))
	}
}

// past is when the files of the copy were last changed; `go test` does not trust a file of the last two seconds.
var past = time.Now().Add(-time.Hour)

func age(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.Chtimes(path, past, past))
}
