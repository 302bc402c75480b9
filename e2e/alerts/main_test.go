//go:build drill

// Package alerts_test is the drill of the alerts: a real Prometheus scrapes the real processes, what each alert is about happens, and the
// alert fires and ends.
package alerts_test

import (
	"testing"

	"rihla/internal/testkit"
)

func TestMain(m *testing.M) { testkit.RunWaiting(m, 8) } // phases of the drill wait for alerts
