package gateways

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"
)

// Circuit is the state of a breaker.
type Circuit string

// The states of a breaker: calls are sent, one is sent to see, or none.
const (
	CircuitClosed   Circuit = "closed"
	CircuitHalfOpen Circuit = "half_open"
	CircuitOpen     Circuit = "open"
)

const (
	// waitAtMost bounds how long a call waits for its turn. An activity makes up to three calls, and has 15 s for them.
	waitAtMost = 400 * time.Millisecond
	// pauseAtMost bounds how long a gateway may tell us to go away: it might mean the year after next.
	pauseAtMost = 2 * time.Minute
	// pauseAtLeast is for a gateway that is busy and does not say for how long.
	pauseAtLeast = time.Second
	// busyFor is after how long another call may have ended.
	busyFor = 250 * time.Millisecond

	// A breaker opens by failures in a row, or when half of a fair number of calls failed lately.
	rollingWindow  = 30 * time.Second
	rollingStep    = 5 * time.Second
	minCallsFactor = 4 // times BreakerFailures
)

// Why a call was not sent.
const (
	notSentOpen     = "open"
	notSentPaused   = "paused"
	notSentBusy     = "busy"
	notSentRate     = "rate"
	notSentCanceled = "canceled" // the caller canceled
)

var (
	errAnomaly        = errors.New("the gateway's answer does not match the request")
	errCallerCanceled = errors.New("the caller canceled the call")
)

// circuit is what a Guard knows of one kind of calls.
type circuit struct {
	calls   Calls
	openFor time.Duration
	reports Reports
	breaker *gobreaker.TwoStepCircuitBreaker[any] // nil: it never opens

	mu          sync.Mutex
	openUntil   time.Time // when an open breaker lets one call try
	pausedUntil time.Time
	downSince   time.Time // zero while the breaker is closed
	lastFailure time.Time
	lastKind    ErrorKind // of that failure
	lastAnswer  time.Time // zero: no call has succeeded since the start
}

func newCircuit(calls Calls, limits Limits, reports Reports) *circuit {
	c := &circuit{calls: calls, openFor: limits.BreakerOpenFor, reports: reports}
	if limits.BreakerFailures <= 0 {
		return c
	}

	inARow := uint32(limits.BreakerFailures) //nolint:gosec // positive, and configured by a person

	c.breaker = gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		Name: string(calls), MaxRequests: 1, Interval: rollingWindow, BucketPeriod: rollingStep, Timeout: limits.BreakerOpenFor,
		ReadyToTrip: func(n gobreaker.Counts) bool {
			return n.ConsecutiveFailures >= inARow || (n.Requests >= minCallsFactor*inARow && 2*n.TotalFailures >= n.Requests)
		},
		IsSuccessful:  func(err error) bool { return !countsAsFailure(err) },
		IsExcluded:    func(err error) bool { return errors.Is(err, errCallerCanceled) },
		OnStateChange: func(_ string, _, to gobreaker.State) { c.stateChanged(to) },
	})

	return c
}

// countsAsFailure reports errors that count against the gateway. A rejection is an answer and does not.
func countsAsFailure(err error) bool {
	if err == nil {
		return false
	}

	kind := KindOf(err)

	return kind == KindUnknown || kind == KindRateLimited || kind == KindUnreachable || kind == KindUnauthorized
}

// stateChanged is called under the breaker's own lock.
func (c *circuit) stateChanged(to gobreaker.State) {
	c.mu.Lock()
	defer c.mu.Unlock()

	state := CircuitClosed

	switch to {
	case gobreaker.StateOpen:
		state, c.openUntil = CircuitOpen, time.Now().Add(c.openFor)
		if c.downSince.IsZero() {
			c.downSince = time.Now()
		}
	case gobreaker.StateHalfOpen:
		state = CircuitHalfOpen
	default:
		c.downSince = time.Time{}
	}

	c.reports.Moved(c.calls, state, c.lastKind)
}

// admit permits a call or returns why not. The caller reports the result of a permitted call.
func (g *Guard) admit(ctx context.Context, c *circuit) (done func(error), err error) {
	began := time.Now()

	if err := c.closed(); err != nil {
		return nil, err
	}

	if err := g.takeSlot(ctx, c); err != nil {
		return nil, err
	}

	report, err := g.admitWithSlot(ctx, c, began)
	if err != nil {
		g.freeSlot()

		return nil, err
	}

	g.reports.Waited(c.calls, time.Since(began))

	return func(err error) {
		report(err)
		g.freeSlot()
	}, nil
}

func (g *Guard) admitWithSlot(ctx context.Context, c *circuit, began time.Time) (done func(error), err error) {
	if err := g.waitForRate(ctx, c, began); err != nil {
		return nil, err
	}

	if err := c.closed(); err != nil { // it may have happened while this call waited
		return nil, err
	}

	return c.allow()
}

// closed refuses a call while the breaker is open or the gateway wants a pause.
func (c *circuit) closed() error {
	open := c.isOpen()

	c.mu.Lock()
	paused, left := time.Until(c.pausedUntil), time.Until(c.openUntil)
	c.mu.Unlock()

	switch {
	case paused > 0:
		return c.notSent(notSentPaused, paused, "call not sent: the gateway rate-limited us (429); calls resume after its pause")
	case open:
		return c.notSent(notSentOpen, left, "call not sent: the circuit is open after failed calls; a trial call follows")
	default:
		return nil
	}
}

func (c *circuit) allow() (done func(error), err error) {
	report := func(error) {}

	if c.breaker != nil {
		if report, err = c.breaker.Allow(); err != nil {
			return nil, c.notSent(notSentOpen, busyFor, "call not sent: the circuit is half open and a trial call is under way")
		}
	}

	return func(err error) {
		c.note(err)
		report(err)
	}, nil
}

func (c *circuit) note(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	switch {
	case countsAsFailure(err) && !errors.Is(err, errCallerCanceled):
		c.lastFailure, c.lastKind = time.Now(), KindOf(err)
	case err == nil:
		c.lastAnswer = time.Now()
	}
}

// paused begins the pause that a gateway asks for by 429, and gives the error the time that is really waited.
func (c *circuit) paused(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Kind != KindRateLimited {
		return err
	}

	pause := min(max(e.RetryAfter, pauseAtLeast), pauseAtMost)

	c.mu.Lock()
	if until := time.Now().Add(pause); until.After(c.pausedUntil) {
		c.pausedUntil = until
	}
	c.mu.Unlock()

	c.reports.Paused(c.calls, pause)

	bounded := *e
	bounded.RetryAfter = withJitter(pause)

	return &bounded
}

func (c *circuit) notSent(reason string, after time.Duration, message string) error {
	c.reports.NotSent(c.calls, reason)

	return &Error{Kind: KindNotSent, Code: reason, Message: message, RetryAfter: withJitter(max(after, busyFor))}
}

// withJitter adds up to a fifth, so that calls that were held back together do not come back together.
func withJitter(d time.Duration) time.Duration {
	return d + time.Duration(rand.Int64N(int64(d)/5+1)) //nolint:gosec // not a secret
}

func (g *Guard) takeSlot(ctx context.Context, c *circuit) error {
	if g.slots == nil {
		return nil
	}

	select {
	case g.slots <- struct{}{}:
		return nil
	default:
	}

	wait := time.NewTimer(waitAtMost)
	defer wait.Stop()

	select {
	case g.slots <- struct{}{}:
		return nil
	case <-wait.C:
		return c.notSent(notSentBusy, busyFor, "call not sent: the limit of concurrent calls to the gateway is reached")
	case <-ctx.Done():
		return errCanceled(ctx)
	}
}

func (g *Guard) freeSlot() {
	if g.slots != nil {
		<-g.slots
	}
}

// waitForRate waits for the rate to allow the call, for what is left of waitAtMost.
func (g *Guard) waitForRate(ctx context.Context, c *circuit, began time.Time) error {
	if g.limiter == nil {
		return nil
	}

	reservation := g.limiter.Reserve()

	delay := reservation.Delay()
	if delay == 0 {
		return nil
	}

	if delay > waitAtMost-time.Since(began) {
		reservation.Cancel()

		return c.notSent(notSentRate, delay, "call not sent: the limit of calls per second to the gateway is reached")
	}

	wait := time.NewTimer(delay)
	defer wait.Stop()

	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		reservation.Cancel()

		return errCanceled(ctx)
	}
}

func errCanceled(ctx context.Context) error {
	return &Error{Kind: KindNotSent, Code: notSentCanceled, Err: ctx.Err()}
}

// isOpen lets an open breaker see that its time is over, which it does only when it is called: one that no call needs any more
// would be reported as open for ever, although it lets the next call out.
func (c *circuit) isOpen() (open bool) {
	return c.breaker != nil && c.breaker.State() == gobreaker.StateOpen
}

// Health is what calls tell about a gateway.
type Health struct {
	DownSince   time.Time // since when a breaker has not been closed; zero while all are
	LastFailure time.Time // the newest failure of a call of such a kind
	LastAnswer  time.Time // the newest call that succeeded; zero: none since the start
}

// Health tells how the gateway has been doing towards this process.
func (g *Guard) Health() Health {
	var h Health

	for _, c := range g.kinds {
		c.isOpen()

		c.mu.Lock()

		if c.lastAnswer.After(h.LastAnswer) {
			h.LastAnswer = c.lastAnswer
		}

		if since := c.downSince; !since.IsZero() {
			if h.DownSince.IsZero() || since.Before(h.DownSince) {
				h.DownSince = since
			}

			if c.lastFailure.After(h.LastFailure) {
				h.LastFailure = c.lastFailure
			}
		}
		c.mu.Unlock()
	}

	return h
}
