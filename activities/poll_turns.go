package activities

import (
	"context"
	"time"

	"golang.org/x/time/rate"
)

// PollTurns bound how many of a gateway's calls questions about attempts may be, so that most are left to payments. The zero value
// has no bounds.
type PollTurns struct {
	Waited *rate.Limiter // about open attempts whose customers wait
	Late   *rate.Limiter // about attempts that have ended without money
}

// NewPollTurns gives each kind of questions a quarter of the calls per second that one worker process makes at a gateway; 0: no
// bounds.
func NewPollTurns(perSecond float64) PollTurns {
	if perSecond <= 0 {
		return PollTurns{}
	}

	const share = 0.25

	turns := func() *rate.Limiter { return rate.NewLimiter(rate.Limit(share*perSecond), pollSome) }

	return PollTurns{Waited: turns(), Late: turns()}
}

// takeTurns takes the turns that are there, at most those of questions asked side by side, or waits for one until then; 0: there is
// none in time.
func takeTurns(ctx context.Context, turns *rate.Limiter, until time.Time) int {
	if turns == nil {
		return pollSome
	}

	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()

	n := min(pollSome, max(1, int(turns.Tokens())))
	if turns.WaitN(ctx, n) != nil {
		return 0
	}

	return n
}
