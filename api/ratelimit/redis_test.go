package ratelimit

import (
	"log/slog"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// patience is a timeout that a busy machine does not reach.
const patience = 20 * time.Second

func newRedisLimiter(tb testing.TB, url string, change ...func(*RedisOptions)) *Redis {
	tb.Helper()

	o := RedisOptions{URL: url, Secret: []byte("secret"), Timeout: patience, Log: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&o)
	}

	r, err := NewRedis(tb.Context(), o)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, r.Close()) })

	return r
}

// twins are the two limiters on one clock, whose step is Redis' microsecond.
type twins struct {
	memory *Memory
	shared *Redis
	redis  *miniredis.Miniredis
	now    time.Time
}

func newTwins(tb testing.TB) *twins {
	tb.Helper()

	w := &twins{redis: miniredis.RunT(tb), memory: NewMemory()}
	w.shared = newRedisLimiter(tb, "redis://"+w.redis.Addr())
	w.memory.now = func() time.Time { return w.now }
	w.shared.now = w.memory.now
	w.set(time.Unix(1_800_000_000, 0))

	return w
}

func (w *twins) set(now time.Time) {
	w.now = now
	w.redis.SetTime(now)
}

// seen is what a caller learns, as it stands in the headers.
type seen struct {
	ok                           bool
	remaining, reset, retryAfter int64
}

// both asks both limiters; exact tells how far from each other the two durations behind the headers were.
func (w *twins) both(tb testing.TB, key string, perMinute int) (memory, shared seen, apart time.Duration) {
	tb.Helper()

	see := func(l Limiter) (seen, time.Time, time.Duration) {
		remaining, reset, retryAfter, ok, err := l.Allow(tb.Context(), key, perMinute)
		require.NoError(tb, err)

		s := seen{ok: ok, remaining: int64(remaining), reset: reset.Add(time.Second - 1).Unix()}
		if !ok {
			s.retryAfter = WholeSeconds(retryAfter)
		}

		return s, reset, retryAfter
	}

	memory, reset, retryAfter := see(w.memory)
	shared, sharedReset, sharedRetry := see(w.shared)

	return memory, shared, max(reset.Sub(sharedReset).Abs(), (retryAfter - sharedRetry).Abs())
}

// TestLimitersAgree spends each default limit (rules: input.rates), waits as long as the answer says, and spends again: both
// limiters show the same to the digit.
func TestLimitersAgree(t *testing.T) {
	t.Parallel()

	for _, perMinute := range []int{1, 2, 7, 10, 60, 120, 600, 1200, 6000} {
		t.Run(strconv.Itoa(perMinute), func(t *testing.T) {
			t.Parallel()

			w := newTwins(t)
			w.set(w.now.Add(123_456 * time.Microsecond))
			interval := time.Minute / time.Duration(perMinute)
			step := (interval / time.Duration(2*perMinute)).Truncate(time.Microsecond)

			spend := func(n int) (refused seen) {
				for left := n - 1; left >= 0; left-- {
					memory, shared, _ := w.both(t, "user:a", perMinute)
					require.Equal(t, memory, shared)
					require.Equal(t, seen{ok: true, remaining: int64(left), reset: memory.reset}, memory)
					w.set(w.now.Add(step))
				}

				memory, shared, _ := w.both(t, "user:a", perMinute)
				require.Equal(t, memory, shared)
				require.False(t, memory.ok)
				require.Zero(t, memory.remaining)
				require.Positive(t, memory.retryAfter)

				return memory
			}

			refused := spend(perMinute)
			memory, shared, _ := w.both(t, "user:b", perMinute)
			require.Equal(t, memory, shared)
			require.True(t, memory.ok, "another caller has an allowance of its own")

			w.set(w.now.Add(time.Duration(refused.retryAfter) * time.Second))
			memory, shared, _ = w.both(t, "user:a", perMinute)
			require.Equal(t, memory, shared)
			require.True(t, memory.ok, "a caller that waits for Retry-After is let through")

			w.set(time.Unix(memory.reset, 123_456_000))
			spend(perMinute)
		})
	}
}

// TestLimitersAgreeAlways does the same for any limit and any sequence of calls and pauses. The moments are left out at
// which the answer changes within what seconds in floating point cannot tell apart (some microseconds).
func TestLimitersAgreeAlways(t *testing.T) {
	t.Parallel()

	w := newTwins(t)
	keys := 0

	rapid.Check(t, func(rt *rapid.T) {
		keys++
		key := "user:" + strconv.Itoa(keys)
		perMinute := rapid.IntRange(1, 6000).Draw(rt, "perMinute")
		interval := time.Minute / time.Duration(perMinute)
		grain := 2 * secondsGrain * time.Duration(perMinute)
		most := rapid.SampledFrom([]time.Duration{0, interval, 3 * interval, 2 * time.Minute}).Draw(rt, "most")
		w.set(w.now.Add(time.Duration(rapid.IntRange(0, 999_999).Draw(rt, "offset")) * time.Microsecond))

		for range rapid.IntRange(1, 100).Draw(rt, "calls") {
			pause := time.Duration(rapid.Int64Range(0, int64(most)).Draw(rt, "pause"))
			w.set(w.now.Add(pause.Truncate(time.Microsecond)))

			for w.ambiguous(key, interval, grain) {
				w.set(w.now.Add(grain.Truncate(time.Microsecond) + time.Microsecond))
			}

			memory, shared, apart := w.both(t, key, perMinute)
			if apart > grain+time.Microsecond {
				rt.Fatalf("the limiters are %v apart", apart)
			}

			// A whole second between the two durations makes one of difference in the header.
			if abs(memory.reset-shared.reset) == 1 {
				shared.reset = memory.reset
			}

			if abs(memory.retryAfter-shared.retryAfter) == 1 {
				shared.retryAfter = memory.retryAfter
			}

			if memory != shared {
				rt.Fatalf("memory %+v, Redis %+v", memory, shared)
			}
		}
	})
}

func abs(n int64) int64 { return max(n, -n) }

// ambiguous reports whether the next request comes within a grain of the moment at which one more is allowed, or shown.
func (w *twins) ambiguous(key string, interval, grain time.Duration) bool {
	tat := w.memory.shards[w.memory.shard(key)].tat[key]
	if !tat.After(w.now) {
		return false
	}

	room := time.Minute - interval - tat.Sub(w.now) // negative: refused
	if room.Abs() <= grain {
		return true
	}

	rest := room % interval

	return room > 0 && rest > interval-2*grain && rest < interval-grain/8
}

// TestSharedLimit has two processes spend one allowance at the same time. It runs on the Redis that TEST_REDIS_URL
// names, or else on one in memory.
func TestSharedLimit(t *testing.T) {
	t.Parallel()

	url := os.Getenv("TEST_REDIS_URL")
	if url == "" {
		url = "redis://" + miniredis.RunT(t).Addr()
	}

	const perMinute, interval = 30, 2 * time.Second

	var (
		key      = "user:" + uuid.NewString()
		replicas = []*Redis{newRedisLimiter(t, url), newRedisLimiter(t, url)}
		passed   atomic.Int64
		wg       sync.WaitGroup
	)

	began := time.Now()

	for i := range 100 {
		wg.Go(func() {
			if _, _, _, ok, _ := replicas[i%2].Allow(t.Context(), key, perMinute); ok {
				passed.Add(1)
			}
		})
	}

	wg.Wait()

	most := perMinute + int64(time.Since(began)/interval) + 1
	require.GreaterOrEqual(t, passed.Load(), int64(perMinute))
	require.Less(t, passed.Load(), most+1)

	memory := NewMemory()
	key = "user:" + uuid.NewString()

	// One after the other on a real clock: the same numbers again.
	for range 15 {
		remaining, reset, _, ok, _ := memory.Allow(t.Context(), key, 10)
		sharedRemaining, sharedReset, _, sharedOK, _ := replicas[0].Allow(t.Context(), key, 10)
		require.Equal(t, []any{ok, remaining}, []any{sharedOK, sharedRemaining})
		require.WithinDuration(t, reset, sharedReset, patience)
	}

	ttl, err := replicas[0].client.TTL(t.Context(), "rate:"+replicas[0].key(key)).Result()
	require.NoError(t, err)
	require.Greater(t, ttl, time.Second, "counts do not stay for ever")
}
