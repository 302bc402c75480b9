package ratelimit

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// clock is a time that the test moves.
type clock struct{ t time.Time }

func newClockedLimiter() (*Memory, *clock) {
	c := &clock{t: time.Unix(1_800_000_000, 0)}
	m := NewMemory()
	m.now = func() time.Time { return c.t }

	return m, c
}

func TestMemoryLimiter(t *testing.T) {
	t.Parallel()

	m, c := newClockedLimiter()

	for left := 59; left >= 0; left-- {
		remaining, reset, _, ok, err := m.Allow(t.Context(), "a", 60)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, left, remaining)
		require.Equal(t, c.t.Add(time.Duration(60-left)*time.Second), reset)
	}

	_, reset, retryAfter, ok, _ := m.Allow(t.Context(), "a", 60)
	require.False(t, ok)
	require.Equal(t, time.Second, retryAfter)
	require.Equal(t, c.t.Add(time.Minute), reset)

	remaining, _, _, ok, err := m.Allow(t.Context(), "b", 60)
	require.NoError(t, err)
	require.True(t, ok, "another key has its own allowance")
	require.Equal(t, 59, remaining)

	c.t = c.t.Add(retryAfter)
	remaining, _, _, ok, err = m.Allow(t.Context(), "a", 60)
	require.NoError(t, err)
	require.True(t, ok, "a caller that waits retryAfter is let through")
	require.Zero(t, remaining)

	c.t = c.t.Add(time.Hour)
	remaining, _, _, ok, err = m.Allow(t.Context(), "a", 60)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, 59, remaining)
}

// TestMemoryLimiterNeverExceeds counts, for any sequence of calls and pauses, the allowed calls in a window of any length.
func TestMemoryLimiterNeverExceeds(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(rt *rapid.T) {
		m, c := newClockedLimiter()
		perMinute := rapid.IntRange(1, 100).Draw(rt, "perMinute")
		start, passed := c.t, 0

		for range rapid.IntRange(1, 300).Draw(rt, "calls") {
			c.t = c.t.Add(time.Duration(rapid.IntRange(0, 2000).Draw(rt, "pause")) * time.Millisecond)

			remaining, _, retryAfter, ok, _ := m.Allow(t.Context(), "k", perMinute)
			if ok {
				passed++
			} else if retryAfter <= 0 || remaining != 0 {
				rt.Fatalf("refused with remaining %d and retryAfter %v", remaining, retryAfter)
			}
		}

		most := perMinute + int(c.t.Sub(start)/(time.Minute/time.Duration(perMinute))) + 1
		if passed > most {
			rt.Fatalf("%d got through, at most %d may", passed, most)
		}
	})
}

func TestMemoryLimiterIsBounded(t *testing.T) {
	t.Parallel()

	m, c := newClockedLimiter()
	held := func() (n int) {
		for i := range m.shards {
			n += len(m.shards[i].tat)
		}

		return n
	}

	for i := range limiterShards*maxShardKeys + 50_000 {
		_, _, _, ok, err := m.Allow(t.Context(), strconv.Itoa(i), 10)
		require.NoError(t, err)
		require.True(t, ok)
	}

	require.LessOrEqual(t, held(), limiterShards*maxShardKeys)

	// Idle keys go away by themselves.
	c.t = c.t.Add(time.Hour)

	for i := range 10_000 {
		_, _, _, ok, err := m.Allow(t.Context(), "n"+strconv.Itoa(i), 10)
		require.NoError(t, err)
		require.True(t, ok)
	}

	require.LessOrEqual(t, held(), 10_000)
}
