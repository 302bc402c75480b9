//go:build !linux

package cputime

import (
	"testing"
	"time"
)

// Of is the time that f takes: other systems have no clock per thread in Go's standard library.
func Of(tb testing.TB, f func()) time.Duration {
	tb.Helper()

	began := time.Now()
	f()

	return time.Since(began)
}
