package filelock_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/devstack/filelock"
)

func TestSharersExcludeTheExclusive(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *filelock.File {
		file, err := filelock.Open(path)
		require.NoError(t, err)
		t.Cleanup(file.Close)
		return file
	}
	first, second, third := open(), open(), open()

	for _, sharer := range []*filelock.File{first, second} {
		ok, err := sharer.TryShared()
		require.NoError(t, err)
		require.True(t, ok)
	}
	ok, err := third.TryExclusive()
	require.NoError(t, err)
	require.False(t, ok)

	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, third.Exclusive(ended), context.Canceled)

	done := make(chan error, 1)
	go func() { done <- third.Exclusive(t.Context()) }()
	require.NoError(t, first.Unlock())
	second.Close()
	require.NoError(t, <-done)

	require.NoError(t, third.WritePID())
	require.Equal(t, os.Getpid(), first.PID())
	ok, err = first.TryShared()
	require.NoError(t, err)
	require.False(t, ok)
}
