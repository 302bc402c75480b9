package ratelimit

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/uuid"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/require"
)

func TestRedisKeysNameNobody(t *testing.T) {
	t.Parallel()

	m := miniredis.RunT(t)
	a := newRedisLimiter(t, "redis://"+m.Addr())
	b := newRedisLimiter(t, "redis://"+m.Addr(), func(o *RedisOptions) { o.Secret = []byte("another") })

	for _, whose := range []string{"account:traveller@rihla.test", "ip:203.0.113.9", "login:2001:db8::", "user:" + uuid.Nil.String()} {
		_, _, _, _, err := a.Allow(t.Context(), whose, 10)
		require.NoError(t, err)

		kind, person, _ := strings.Cut(whose, ":")
		require.NotContains(t, strings.Join(m.Keys(), " "), person)
		require.True(t, m.Exists("rate:"+a.key(whose)))
		require.Contains(t, a.key(whose), kind)
		require.NotEqual(t, a.key(whose), b.key(whose), "a plain hash could be looked up")
	}

	require.Len(t, m.Keys(), 4)
}

// waitForProbe waits until the breaker lets one call look whether Redis is back, and moves the clock by as much.
func waitForProbe(t *testing.T, r *Redis, c *clock) {
	t.Helper()

	require.Eventually(t, func() bool { return r.breaker.State() == gobreaker.StateHalfOpen }, 5*breakerPause, time.Millisecond)

	c.t = c.t.Add(breakerPause)
}

// TestRedisAway takes Redis away and brings it back.
func TestRedisAway(t *testing.T) {
	t.Parallel()

	var (
		lines  bytes.Buffer
		states []bool
		m      = miniredis.RunT(t)
	)

	m.RequireAuth("something-else")

	r := newRedisLimiter(t, "redis://:nobody-sees-this@"+m.Addr(), func(o *RedisOptions) {
		o.Log = slog.New(slog.NewTextHandler(&lines, nil))
		o.Observe = func(shared bool) { states = append(states, shared) }
	})
	c := &clock{t: time.Now()}
	r.now = func() time.Time { return c.t }
	r.local.now = r.now

	m.SetTime(c.t)

	take := func() int {
		remaining, _, _, ok, err := r.Allow(t.Context(), "user:a", 10)
		require.NoError(t, err)
		require.True(t, ok)

		return remaining
	}

	require.Equal(t, []bool{true, false}, states)
	require.Equal(t, 9, take(), "this process counts alone")

	m.RequireAuth("nobody-sees-this")
	require.Equal(t, 8, take(), "and does not ask again at once")

	waitForProbe(t, r, c)
	require.Equal(t, 9, take(), "Redis is back, and counts from the start")
	require.Equal(t, []bool{true, false, true}, states)

	m.Close()
	require.Equal(t, 7, take(), "this process goes on where it was; one second has given nothing back")
	require.Equal(t, []bool{true, false, true, false}, states)

	waitForProbe(t, r, c)
	require.Equal(t, 6, take())

	require.NoError(t, m.Restart())
	waitForProbe(t, r, c)
	require.Equal(t, 8, take())

	require.Equal(t, []bool{true, false, true, false, true}, states, "each change is told once")
	require.Equal(t, 2, strings.Count(lines.String(), "level=WARN"))
	require.Equal(t, 2, strings.Count(lines.String(), "level=INFO"))
	require.NotContains(t, lines.String(), "nobody-sees-this")
}

// TestRedisSilent has a Redis that takes connections and never answers: requests do not queue up behind it.
func TestRedisSilent(t *testing.T) {
	t.Parallel()

	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)

	var connections atomic.Int64

	t.Cleanup(func() { _ = l.Close() })

	go func() {
		var held []net.Conn

		for {
			c, err := l.Accept()
			if err != nil {
				break
			}

			connections.Add(1)

			held = append(held, c)
		}

		for _, c := range held {
			_ = c.Close()
		}
	}()

	r := newRedisLimiter(t, "redis://"+l.Addr().String(), func(o *RedisOptions) { o.Timeout = 200 * time.Millisecond })
	c := &clock{t: time.Now()}
	r.now = func() time.Time { return c.t }

	rush := func() {
		var wg sync.WaitGroup

		for range 200 {
			wg.Go(func() {
				if _, _, _, ok, err := r.Allow(t.Context(), "user:a", 10_000); err != nil || !ok {
					t.Error("refused")
				}
			})
		}

		wg.Wait()
	}

	rush()
	require.Equal(t, int64(1), connections.Load(), "the start found out, and nobody asks again")

	waitForProbe(t, r, c)

	rush()
	require.Equal(t, int64(2), connections.Load(), "one looks for all")

	rush()
	require.Equal(t, int64(2), connections.Load())
}

func TestRedisOptions(t *testing.T) {
	t.Parallel()

	_, err := NewRedis(t.Context(), RedisOptions{URL: "redis://h"})
	require.ErrorContains(t, err, "required")

	_, err = NewRedis(t.Context(), RedisOptions{
		URL: "redis://u:sentinel@h:port", Secret: []byte("s"), Timeout: 1, Log: slog.New(slog.DiscardHandler),
	})
	require.ErrorContains(t, err, "cannot be read")
	require.NotContains(t, err.Error(), "sentinel")
}
