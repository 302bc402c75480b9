package cputime

import (
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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

	var usage syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_THREAD, &usage))

	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
