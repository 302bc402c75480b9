package cputime

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Of is the CPU time that f takes on the calling goroutine's thread. Work of other tests does not count.
func Of(tb testing.TB, f func()) time.Duration {
	tb.Helper()
	runtime.LockOSThread()

	defer runtime.UnlockOSThread()

	before := threadTime(tb)
	f()

	return threadTime(tb) - before
}

func threadTime(tb testing.TB) time.Duration {
	tb.Helper()

	// The kernel's usage of resources is counted in ticks, of which a cheap call has none.
	var now unix.Timespec
	require.NoError(tb, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now))

	return time.Duration(now.Nano())
}
