package process

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStaleIsOnlyOurs(t *testing.T) {
	t.Parallel()
	self := os.Getpid()
	require.True(t, Stale{PID: self, Words: []string{os.Args[0]}}.isRunning(t.Context()))
	require.False(t, Stale{PID: self, Words: []string{os.Args[0], "/some/other/data"}}.isRunning(t.Context()))
	require.False(t, Stale{PID: 0}.isRunning(t.Context()))
}
