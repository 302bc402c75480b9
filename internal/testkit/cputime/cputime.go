// Package cputime holds what a hostile input costs to what a harmless one of the same size costs, in the same process at
// the same time: a machine that is busy or slow is so for both.
package cputime

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// MaxRatio is how much more CPU a hostile input may take than a harmless one of its size. Inputs whose cost grows
	// faster than their size take hundreds or thousands of times as much.
	MaxRatio = 25
	// floor is what is never called much: a thread's clock and the garbage collector are not exact.
	floor = 20 * time.Millisecond
	// looks is how often the clock is read before it is believed.
	looks = 3
)

// RequireInProportion fails the test when hostile takes far more CPU than harmless. Both must do their work on the
// calling goroutine; they may be called several times.
func RequireInProportion(tb testing.TB, hostile, harmless func(), what string, args ...any) {
	tb.Helper()

	for look := 1; ; look++ {
		took := Of(tb, hostile)
		if took <= floor {
			return
		}

		reference := Of(tb, harmless)
		if took <= floor+MaxRatio*reference {
			return
		}

		if look == looks {
			require.LessOrEqual(tb, took, floor+MaxRatio*reference, append([]any{"CPU of " + what}, args...)...)
		}
	}
}
