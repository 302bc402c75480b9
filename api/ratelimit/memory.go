package ratelimit

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// Limiter counts requests. Allow takes one from the key's allowance of perMinute: remaining is what is left right now,
// reset when all of it is there again, retryAfter how long a refused caller waits. Errors mean that it could not count.
type Limiter interface {
	Allow(ctx context.Context, key string, perMinute int) (
		remaining int, reset time.Time, retryAfter time.Duration, ok bool, err error)
	// Return gives back what Allow has taken, when it turns out not to count.
	Return(ctx context.Context, key string, perMinute int) error
}

const (
	limiterShards = 64
	// maxShardKeys bounds the memory: 64 × 4,096 keys of about 150 bytes are some 40 MiB at the very worst.
	maxShardKeys = 4096
	sweepEvery   = time.Minute
	// sweepFull bounds what a flood of new keys costs: a full shard is searched for idle keys once a second.
	sweepFull = time.Second
)

// Memory is a Limiter for one process: GCRA, the algorithm of redis_rate, with a burst of the whole minute. Its
// memory is bounded; keys that have their whole allowance back are forgotten.
type Memory struct {
	now    func() time.Time
	seed   maphash.Seed
	shards [limiterShards]limiterShard
}

type limiterShard struct {
	mu sync.Mutex
	// tat holds each key's theoretical arrival time: until then the allowance is not whole again.
	tat   map[string]time.Time
	swept time.Time
}

// NewMemory makes an empty limiter.
func NewMemory() *Memory {
	m := &Memory{now: time.Now, seed: maphash.MakeSeed()}
	for i := range m.shards {
		m.shards[i].tat = map[string]time.Time{}
	}

	return m
}

// Allow implements Limiter; it never fails.
func (m *Memory) Allow(_ context.Context, key string, perMinute int) (
	remaining int, reset time.Time, retryAfter time.Duration, ok bool, err error,
) {
	now := m.now()
	interval := time.Minute / time.Duration(perMinute)
	burst := interval * time.Duration(perMinute)
	shard := &m.shards[m.shard(key)]

	shard.mu.Lock()
	defer shard.mu.Unlock()

	tat := shard.tat[key]
	if tat.Before(now) {
		tat = now
	}

	next := tat.Add(interval)
	if wait := next.Sub(now) - burst; wait > 0 {
		return 0, tat, wait, false, nil
	}

	shard.store(key, next, now)

	return left(perMinute, next.Sub(now)), next, 0, true, nil
}

// Return implements Limiter; it never fails. A key that was forgotten meanwhile has its whole allowance already.
func (m *Memory) Return(_ context.Context, key string, perMinute int) error {
	shard := &m.shards[m.shard(key)]

	shard.mu.Lock()
	defer shard.mu.Unlock()

	if tat, known := shard.tat[key]; known {
		shard.tat[key] = tat.Add(-time.Minute / time.Duration(perMinute))
	}

	return nil
}

func (m *Memory) shard(key string) uint64 { return maphash.String(m.seed, key) % limiterShards }

// secondsGrain is the step of a date that is kept as seconds in a double, as redis_rate does.
const secondsGrain = 60 * time.Nanosecond

// left is how many requests may follow at once when the whole allowance is there again in reset. Both limiters say it by
// this rule: it forgives the rounding of seconds in floating point, which adds up with each request, and without which
// Redis would at times show one less than there is.
func left(perMinute int, reset time.Duration) int {
	interval := time.Minute / time.Duration(perMinute)
	slack := min(secondsGrain*time.Duration(perMinute), interval/2)

	return min(perMinute-1, max(0, int((time.Minute-reset+slack)/interval)))
}

// store keeps the shard within its bound: idle keys go first, then any key, which at worst gives that caller a fresh
// allowance.
func (s *limiterShard) store(key string, tat, now time.Time) {
	idle := now.Sub(s.swept)
	if idle >= sweepEvery || len(s.tat) >= maxShardKeys && idle >= sweepFull {
		s.swept = now

		for k, t := range s.tat {
			if !t.After(now) {
				delete(s.tat, k)
			}
		}
	}

	if _, known := s.tat[key]; !known && len(s.tat) >= maxShardKeys {
		for k := range s.tat {
			delete(s.tat, k)

			break
		}
	}

	s.tat[key] = tat
}
