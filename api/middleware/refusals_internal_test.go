package middleware

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRefusalsAreCounted: each of them is in a line, once, and each reason has lines of its own.
func TestRefusalsAreCounted(t *testing.T) {
	t.Parallel()

	var r refusals

	now := time.Now()
	require.Equal(t, 1, r.add("payments", now))
	require.Zero(t, r.add("payments", now.Add(time.Second)))
	require.Equal(t, 1, r.add("webhooks", now.Add(time.Second)))
	require.Zero(t, r.add("payments", now.Add(refusalsEvery-time.Nanosecond)))
	require.Equal(t, 3, r.add("payments", now.Add(refusalsEvery)))
	require.Zero(t, r.add("payments", now.Add(refusalsEvery)))
	require.Equal(t, 1, r.add("webhooks", now.Add(time.Minute)))
}
