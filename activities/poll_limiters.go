package activities

import (
	"context"
	"time"

	"golang.org/x/time/rate"

	"rihla/gateways"
)

// PollLimiters bound how many of a gateway's calls questions about attempts may be, so that most are left to payments. The zero value
// has no bounds.
type PollLimiters struct {
	Waited *rate.Limiter // about open attempts whose customers wait
}

// NewPollLimiters gives questions about attempts whose customers wait a quarter of the calls per second that one worker process makes
// at a gateway; 0: no bounds.
func NewPollLimiters(perSecond float64) PollLimiters {
	if perSecond <= 0 {
		return PollLimiters{}
	}

	const share = 0.25

	return PollLimiters{Waited: rate.NewLimiter(rate.Limit(share*perSecond), pollBatch)}
}

// takeSpare waits for calls that the gateway has to spare, and says how many, at most those of a batch; 0: there is none in time. One
// that does not say what it has to spare has enough.
func takeSpare(ctx context.Context, g gateways.Gateway, until time.Time) int {
	const (
		look      = 10 * time.Millisecond
		callsEach = 2 // one that is open still is closed
	)

	guard, ok := g.(interface{ Spare(callsEach int) int })
	if !ok {
		return lateBatch
	}

	for time.Now().Before(until) && ctx.Err() == nil {
		if n := guard.Spare(callsEach); n > 0 {
			return min(n, lateBatch)
		}

		select {
		case <-time.After(look):
		case <-ctx.Done():
		}
	}

	return 0
}

// takeTokens takes the turns that are there, at most those of questions asked side by side, or waits for one until then; 0: there is
// none in time.
func takeTokens(ctx context.Context, limiter *rate.Limiter, until time.Time) int {
	if limiter == nil {
		return pollBatch
	}

	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()

	n := min(pollBatch, max(1, int(limiter.Tokens())))
	if limiter.WaitN(ctx, n) != nil {
		return 0
	}

	return n
}
