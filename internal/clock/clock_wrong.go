//go:build chaos

// Package clock is the time by which the service decides. This one can be put wrong; only the chaos harness builds it.
package clock

import (
	"os"
	"strings"
	"time"
)

// Now is the machine's time, and as wrong as the file that CHAOS_CLOCK names says it is ("-1.5s"); without one it is right.
func Now() time.Time {
	text, err := os.ReadFile(os.Getenv("CHAOS_CLOCK"))
	if err != nil {
		return time.Now()
	}

	wrong, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		return time.Now()
	}

	return time.Now().Add(wrong)
}
