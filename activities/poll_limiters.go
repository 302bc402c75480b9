package activities

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// PollLimiters bound how many of a gateway's calls questions about attempts may be, so that most are left to payments. The zero value
// has no bounds.
type PollLimiters struct {
	Waited *rate.Limiter // about open attempts whose customers wait
	Late   *rate.Limiter // about attempts that have ended without money
}

// NewPollLimiters gives each kind of questions a quarter of the calls per second that one worker process makes at a gateway; 0: no
// bounds.
func NewPollLimiters(perSecond float64) PollLimiters {
	if perSecond <= 0 {
		return PollLimiters{}
	}

	const share = 0.25

	newLimiter := func() *rate.Limiter { return rate.NewLimiter(rate.Limit(share*perSecond), pollBatch) }

	return PollLimiters{Waited: newLimiter(), Late: newLimiter()}
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
