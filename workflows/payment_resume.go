package workflows

import (
	"go.temporal.io/sdk/workflow"

	"rihla/models"
)

// hasGrown reports that the run has become so long that another one goes on. What has been sent to it is dealt with first: nothing that
// waits for an answer, and no signal, is left behind.
func (p *payment) hasGrown(ctx workflow.Context, rounds int) bool {
	if p.givenUp || p.cancel || p.events.Len() > 0 || !workflow.AllHandlersFinished(ctx) {
		return false
	}

	return rounds >= paymentRounds || rounds > 0 && workflow.GetInfo(ctx).GetContinueAsNewSuggested()
}

// goOn leaves the attempt to a new run, with what this one knows of it.
func (p *payment) goOn(ctx workflow.Context) error {
	next := p.attempt
	next.Resumed = &models.ResumedAttempt{
		ExpiresAt: p.checkout.ExpiresAt, AskFor: p.checkout.AskFor, Outage: p.outage, Asked: p.asked,
	}

	return workflow.NewContinueAsNewError(ctx, Payment, next)
}

// resume takes over what an earlier run has opened.
func (p *payment) resume() {
	r := p.attempt.Resumed
	p.checkout = models.Checkout{Status: models.TransactionPending, ExpiresAt: r.ExpiresAt, AskFor: r.AskFor}
	p.outage, p.asked = r.Outage, r.Asked
	p.wasOpened()
}

// firstTimer is the time to pay or, of a run that goes on with an expired attempt, the pause before the next poll.
func (p *payment) firstTimer(ctx workflow.Context) workflow.Future {
	if p.attempt.Resumed == nil || !p.outage {
		return p.startTimer(ctx)
	}

	return workflow.NewTimerWithOptions(ctx, nextPoll(p.askFor(), p.asked), workflow.TimerOptions{Summary: "Poll the gateway again"})
}
