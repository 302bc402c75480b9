package admission

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
	"rihla/models"
)

var defaults = config.Admission{Target: time.Second, Min: 8, Max: 200}

// simulation is a service that takes one request after the other, and clients each of which sends its next one when the last is answered;
// one that is refused waits for two seconds.
type simulation struct {
	limiter *limiter // nil: no limit
	clients int
	each    time.Duration // what the service needs for one request

	now  time.Time
	free time.Time // when the service has nothing left to do
}

type arrival struct {
	at     time.Time
	permit *Permit
	sent   time.Time // of a request that is answered then; zero: of one that is sent
}

// run goes on for some time, and returns how long the answered requests took and how many were refused.
func (s *simulation) run(next []arrival, until time.Time) (rest []arrival, took []time.Duration, refused int) {
	if next == nil {
		for range s.clients {
			next = append(next, arrival{at: s.now})
		}
	}

	for {
		slices.SortStableFunc(next, func(a, b arrival) int { return a.at.Compare(b.at) })

		one := &next[0]
		if one.at.After(until) {
			return next, took, refused
		}

		s.now = one.at

		if !one.sent.IsZero() {
			took = append(took, s.now.Sub(one.sent))
			one.permit.Observe(s.now.Sub(one.sent))
			one.permit.Release()
			one.sent = time.Time{}
		}

		if s.limiter != nil {
			turn, ok := s.limiter.take()
			if turn != nil {
				ok = s.limiter.giveUp(turn)
			}

			if !ok {
				refused++
				one.at = s.now.Add(2 * time.Second)

				continue
			}

			one.permit = &Permit{limiter: s.limiter, began: s.now}
		}

		if s.free.Before(s.now) {
			s.free = s.now
		}

		s.free = s.free.Add(s.each)
		one.sent, one.at = s.now, s.free
	}
}

func (s *simulation) clock() time.Time { return s.now }

func at(share float64, took []time.Duration) time.Duration {
	slices.SortFunc(took, cmp.Compare)

	return took[int(share*float64(len(took)-1))]
}

// A service that becomes slow takes fewer at once, so that those which it takes are answered in time; and no fewer of them are done than
// without a limit. When it is quicker than before no request is refused any more.
func TestTheLimitFollowsTheService(t *testing.T) {
	t.Parallel()

	s := &simulation{clients: 64, each: time.Second / 35, now: time.Unix(0, 0)}
	s.limiter = newLimiter(defaults, s.clock)

	next, took, _ := s.run(nil, s.now.Add(20*time.Second))
	require.Less(t, at(0.95, took), 1500*time.Millisecond)
	require.InDelta(t, 35*20, len(took), 20, "the service is never idle")

	s.each = time.Second / 8
	next, _, _ = s.run(next, s.now.Add(10*time.Second)) // time to notice

	next, took, refused := s.run(next, s.now.Add(20*time.Second))
	require.Less(t, at(0.95, took), 2*time.Second)
	require.Less(t, at(1, took), 2*time.Second)
	require.InDelta(t, 8*20, len(took), 4)
	require.Positive(t, refused)

	s.each = time.Second / 200
	next, _, _ = s.run(next, s.now.Add(20*time.Second))
	_, _, refused = s.run(next, s.now.Add(20*time.Second))
	require.Zero(t, refused)
}

// Few clients at a service that is quick are never refused, and one slow moment does not shut them out.
func TestFewAreNotRefused(t *testing.T) {
	t.Parallel()

	s := &simulation{clients: 16, each: time.Second / 30, now: time.Unix(0, 0)}
	s.limiter = newLimiter(defaults, s.clock)

	next, _, refused := s.run(nil, s.now.Add(20*time.Second))
	require.Zero(t, refused)

	s.free = s.free.Add(1500 * time.Millisecond)
	_, _, refused = s.run(next, s.now.Add(20*time.Second))
	require.Zero(t, refused)
}

// The limit stays between its ends, and one that is not met does not grow.
func TestTheLimitHasEnds(t *testing.T) {
	t.Parallel()

	now := time.Unix(0, 0)
	l := newLimiter(config.Admission{Target: time.Second, Min: 5, Max: 40}, func() time.Time { return now })

	window := func(took time.Duration, atOnce int) int {
		permits := make([]*Permit, atOnce)
		for i := range permits {
			permits[i] = &Permit{limiter: l, began: now}
			_, ok := l.take()
			require.True(t, ok)
		}

		now = now.Add(maxWindow)

		for _, p := range permits {
			p.Observe(took)
			p.Release()
		}

		limit, inflight := l.state()
		require.Zero(t, inflight)

		return limit
	}

	require.Equal(t, initialLimit, window(time.Millisecond, 1), "it was not met")

	for range 5 {
		limit, _ := l.state()
		window(time.Millisecond, limit)
	}

	require.Equal(t, 40, window(time.Millisecond, 40))

	for range 10 {
		window(5*time.Second, 5)
	}

	require.Equal(t, 5, window(5*time.Second, 5))

	for range 20 {
		window(time.Millisecond, 1)
	}

	require.GreaterOrEqual(t, window(time.Millisecond, 1), initialLimit, "it comes back by itself")
}

// What had begun before the limit has grown does not let it grow again.
func TestOldLatencyIsNoReasonToGrow(t *testing.T) {
	t.Parallel()

	now := time.Unix(0, 0)
	l := newLimiter(defaults, func() time.Time { return now })
	old := &Permit{limiter: l, began: now}
	l.peak = initialLimit

	grow := func() int {
		now = now.Add(maxWindow)
		old.Observe(time.Millisecond)

		limit, _ := l.state()

		return limit
	}

	grown := grow()
	require.Greater(t, grown, initialLimit)

	l.peak = grown
	require.Equal(t, grown, grow())

	old.began = now
	l.peak = grown
	require.Greater(t, grow(), grown)
}

type metrics struct{ refused atomic.Int64 }

func (*metrics) AdmissionState(models.Gateway, func() (limit, inflight int)) {}

func (m *metrics) AdmissionRefused(models.Gateway) { m.refused.Add(1) }

// A gateway whose places are taken refuses its own payments only, at once; and the next place goes to the one that waits.
func TestEachGatewayHasPlacesOfItsOwn(t *testing.T) {
	t.Parallel()

	m := &metrics{}
	l := New(config.Admission{Target: time.Second, Min: 1, Max: 1}, m)

	held, ok := l.Admit(t.Context(), models.MethodWalletB)
	require.True(t, ok)

	began := time.Now()
	_, ok = l.Admit(t.Context(), models.MethodWalletB)
	require.False(t, ok)
	require.Less(t, time.Since(began), time.Second)
	require.EqualValues(t, 1, m.refused.Load())
	require.GreaterOrEqual(t, l.After(), time.Second)

	other, ok := l.Admit(t.Context(), models.MethodCreditCard)
	require.True(t, ok)
	other.Release()

	turn, ok := l.limiters[models.GatewayWalletB].take()
	require.True(t, ok)
	held.Release()
	<-turn

	_, inflight := l.limiters[models.GatewayWalletB].state()
	require.Equal(t, 1, inflight)
}

func TestNoTargetNoLimit(t *testing.T) {
	t.Parallel()

	for _, l := range []*Limits{nil, New(config.Admission{}, &metrics{})} {
		for range 1000 {
			p, ok := l.Admit(t.Context(), models.MethodCreditCard)
			require.True(t, ok)
			p.Observe(time.Hour)
		}
	}
}

// However many come and go at once, and give up waiting, places are neither lost nor made.
func TestPlacesAreKept(t *testing.T) {
	t.Parallel()

	l := newLimiter(config.Admission{Target: time.Millisecond, Min: 2, Max: 8}, time.Now)

	var (
		all  sync.WaitGroup
		most atomic.Int64
		now  atomic.Int64
	)

	for i := range 32 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
			defer cancel()

			for range 200 {
				p, ok := l.acquire(ctx)
				if !ok {
					continue
				}

				most.Store(max(most.Load(), now.Add(1)))
				p.Observe(time.Duration(i) * 100 * time.Microsecond)
				now.Add(-1)
				p.Release()
			}
		})
	}

	all.Wait()
	require.LessOrEqual(t, most.Load(), int64(8))

	_, inflight := l.state()
	require.Zero(t, inflight)
	require.Empty(t, l.waiting)
}
