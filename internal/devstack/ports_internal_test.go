package devstack

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"
)

func TestPort(t *testing.T) {
	t.Parallel()

	seen := map[int]bool{}
	for range 50 {
		port, err := Port(t.Context(), nil, AnyPort)
		require.NoError(t, err)
		require.False(t, seen[port], "given twice")
		require.True(t, port >= lowestPort && port <= highestPort, "an outgoing connection may take it: %d", port)
		seen[port] = true
	}

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	require.NoError(t, err)

	defer func() { require.NoError(t, listener.Close()) }()

	taken := listener.Addr().(*net.TCPAddr).Port
	port, err := Port(t.Context(), nil, taken)
	require.NoError(t, err)
	require.NotEqual(t, taken, port)

	again, err := Port(t.Context(), nil, port)
	require.NoError(t, err)
	require.Equal(t, port, again, "it is free, and wanted")
}

// A port that another process has been given, and does not listen on yet, is its own until it ends.
func TestPortOfAnotherProcess(t *testing.T) {
	t.Parallel()

	wanted, err := Port(t.Context(), nil, AnyPort)
	require.NoError(t, err)

	other := flock.New(filepath.Join(os.TempDir(), fmt.Sprintf("rihla-port-%d.lock", wanted)))

	t.Cleanup(func() { _ = os.Remove(other.Path()) })

	got, err := other.TryLock()
	require.NoError(t, err)
	require.True(t, got)

	port, err := Port(t.Context(), nil, wanted)
	require.NoError(t, err)
	require.NotEqual(t, wanted, port)

	require.NoError(t, other.Unlock())

	for range 2 { // and is kept by the one that has it
		port, err = Port(t.Context(), nil, wanted)
		require.NoError(t, err)
		require.Equal(t, wanted, port)
	}
}
