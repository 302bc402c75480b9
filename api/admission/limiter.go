package admission

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"rihla/internal/config"
)

const (
	// maxWait is how long a request waits for a place: a refusal has to be quick, and a longer queue would only be latency.
	maxWait = 50 * time.Millisecond
	// queueShare is how many may wait, of the limit.
	queueShare = 0.25
	// initialLimit is that of a process that has measured nothing.
	initialLimit = 32

	// A window of samples decides about the limit. It is over after minWindow with minSamples of them, after maxWindow with any.
	minWindow  = 500 * time.Millisecond
	maxWindow  = 2 * time.Second
	minSamples = 10
	// quantile of a window's samples is held to the target.
	quantile = 0.9

	// When the target was missed, the limit shrinks to goal of what is done within the target's time (Little's law: that many are under way
	// when each takes that long), and by mostCut at once: what happened in one moment may be over in the next.
	goal, mostCut = 0.8, 0.5
	// used is from which share of the limit on it counts as met: one that was not met says nothing about a larger one.
	used = 0.8
)

// limiter is a concurrency limit that follows latency: it grows in small steps while the target is kept, and shrinks to what can be done.
type limiter struct {
	target   time.Duration
	min, max float64
	now      func() time.Time

	mu       sync.Mutex
	limit    float64
	inflight int
	peak     int // of inflight, in this window
	waiting  []chan struct{}
	samples  []time.Duration
	began    time.Time // of this window
	changed  time.Time // when the limit was, the last time
	early    bool      // a sample of this window began before that, and says nothing about a larger limit
}

func newLimiter(c config.Admission, now func() time.Time) *limiter {
	l := &limiter{target: c.Target, min: float64(c.Min), max: float64(c.Max), now: now}
	l.limit, l.began = min(max(initialLimit, l.min), l.max), now()

	return l
}

// Permit is a place that a request has. A nil one is that of a request which needs none.
type Permit struct {
	limiter *limiter
	began   time.Time
}

// Observe tells how long the service's own parts took for the request.
func (p *Permit) Observe(took time.Duration) {
	if p != nil {
		p.limiter.observe(p.began, took)
	}
}

// Release gives the place back.
func (p *Permit) Release() {
	if p != nil {
		p.limiter.release()
	}
}

func (l *limiter) state() (limit, inflight int) {
	l.mu.Lock()
	defer l.mu.Unlock()

	return int(l.limit), l.inflight
}

// acquire takes a place, the one that becomes free within maxWait at the latest. Places are given in the order of asking.
func (l *limiter) acquire(ctx context.Context) (*Permit, bool) {
	turn, ok := l.take()
	if !ok {
		return nil, false
	}

	if turn != nil {
		patience := time.NewTimer(maxWait)
		defer patience.Stop()

		select {
		case <-turn:
		case <-patience.C:
			ok = l.giveUp(turn)
		case <-ctx.Done():
			ok = l.giveUp(turn)
		}
	}

	if !ok {
		return nil, false
	}

	return &Permit{limiter: l, began: l.now()}, true
}

// take takes a free place, or one in the queue, whose turn is then told. ok is false when the queue is full.
func (l *limiter) take() (turn chan struct{}, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.inflight < int(l.limit) && len(l.waiting) == 0 {
		l.inflight++
		l.peak = max(l.peak, l.inflight)

		return nil, true
	}

	l.peak = max(l.peak, int(l.limit)) // it was met, whatever is under way after a cut

	if len(l.waiting) >= int(math.Ceil(queueShare*l.limit)) {
		return nil, false
	}

	turn = make(chan struct{})
	l.waiting = append(l.waiting, turn)

	return turn, true
}

// giveUp leaves the queue and reports whether the place was given at the same moment.
func (l *limiter) giveUp(turn chan struct{}) (given bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	at := slices.Index(l.waiting, turn)
	if at < 0 {
		return true
	}

	l.waiting = slices.Delete(l.waiting, at, at+1)

	return false
}

func (l *limiter) release() {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.inflight--
	l.handOut()
}

// handOut gives free places to those who wait.
func (l *limiter) handOut() {
	for len(l.waiting) > 0 && l.inflight < int(l.limit) {
		close(l.waiting[0])

		l.waiting = l.waiting[1:]
		l.inflight++
		l.peak = max(l.peak, l.inflight)
	}
}

func (l *limiter) observe(began time.Time, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.samples = append(l.samples, took)
	l.early = l.early || began.Before(l.changed)

	now := l.now()
	if age := now.Sub(l.began); age >= maxWindow || age >= minWindow && len(l.samples) >= minSamples {
		l.adjust(now)
		l.handOut()
	}
}

// adjust decides about the limit by the window's samples and begins another one.
func (l *limiter) adjust(now time.Time) {
	slices.Sort(l.samples)
	measured := l.samples[int(quantile*float64(len(l.samples)-1))]
	possible := float64(len(l.samples)) / now.Sub(l.began).Seconds() * l.target.Seconds()

	limit := l.limit

	switch {
	case measured > l.target:
		limit = max(l.min, min(limit, max(mostCut*limit, goal*possible)))
	case l.early:
	case float64(l.peak) >= used*limit, limit < initialLimit: // back to where it began it finds by itself
		limit = min(l.max, limit+math.Sqrt(limit))
	}

	if limit != l.limit {
		l.limit, l.changed = limit, now
	}

	l.samples, l.began, l.peak, l.early = l.samples[:0], now, l.inflight, false
}
