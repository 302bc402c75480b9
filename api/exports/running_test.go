package exports

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// A service that stops waits for what its exports still have to do, and only for so long.
func TestExportsStop(t *testing.T) {
	t.Parallel()

	e := NewRunning()

	request, answered := context.WithCancel(t.Context())

	first, done, err := e.begin(request)
	require.NoError(t, err)
	answered()
	require.NoError(t, first.Err(), "it outlives its request")

	_, second, err := e.begin(t.Context())
	require.NoError(t, err)
	_, third, err := e.begin(t.Context())
	require.NoError(t, err)
	_, _, err = e.begin(t.Context())
	require.Equal(t, models.CodeServiceUnavailable, models.CodeOf(err), "three at once")

	third()

	_, third, err = e.begin(t.Context())
	require.NoError(t, err, "its place is free again")

	e.stop()
	e.stop()

	select {
	case <-first.Done():
	case <-time.After(10 * time.Second):
		require.Fail(t, "it goes on")
	}

	third()
	second()

	_, _, err = e.begin(t.Context())
	require.Equal(t, models.CodeServiceUnavailable, models.CodeOf(err), "there is a place, but no time")

	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()

	require.ErrorIs(t, e.over(soon), context.DeadlineExceeded, "the first is still there")

	done()
}

func TestExportsAreOver(t *testing.T) {
	t.Parallel()

	e := NewRunning()

	_, done, err := e.begin(t.Context())
	require.NoError(t, err)
	e.stop()

	over := make(chan error, 1)
	go func() { over <- e.over(t.Context()) }()

	done()
	require.NoError(t, <-over)
}

// Files of killed processes are removed, those of running exports are not.
func TestClear(t *testing.T) { //nolint:paralleltest // sets the environment
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)

	running, err := newDir()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(running.dir, "excelize-1"), []byte("ledger"), 0o600))

	left := filepath.Join(dir, dirPrefix+"left")
	require.NoError(t, os.Mkdir(left, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(left, "excelize-2"), []byte("ledger"), 0o600))

	// Neither a file nor a link is one of ours.
	other := t.TempDir()
	file, link := filepath.Join(dir, dirPrefix+"file"), filepath.Join(dir, dirPrefix+"link")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink(other, link))

	Clear(t.Context(), slog.New(slog.DiscardHandler))

	require.NoDirExists(t, left)
	require.FileExists(t, filepath.Join(running.dir, "excelize-1"))
	require.DirExists(t, other)
	require.FileExists(t, file)

	require.NoError(t, running.lock.Close(), "as the system does for a process that is killed")
	Clear(t.Context(), slog.New(slog.DiscardHandler))
	require.NoDirExists(t, running.dir)
}
