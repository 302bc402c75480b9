package failure_test

import (
	"testing"

	"rihla/internal/testkit"
	"rihla/internal/testkit/cputime"
)

func TestMain(m *testing.M) { testkit.RunWaiting(m, 3) }

// besideOthers runs a test that makes load beside the others, unless the race detector makes its load take both processors.
func besideOthers(t *testing.T) {
	t.Helper()

	if !cputime.Race {
		t.Parallel()
	}
}
