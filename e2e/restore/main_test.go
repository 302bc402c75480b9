//go:build drill

// Package restore drills what docs/restore.md says: real programs, load on, and afterwards `rihla reconcile` and `rihla audit`.
package restore

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) { os.Exit(m.Run()) }
