package workflows

import (
	"go.temporal.io/sdk/workflow"

	"rihla/models"
)

// close ends the attempt on request. It stays open when its gateway does not answer; expiry is the timer of it then.
func (p *payment) close(ctx workflow.Context, expiry workflow.Future) (workflow.Future, error) {
	err := p.end(ctx, models.FailureCancelled, cancelAtMost)
	p.cancel = p.settled.Final()

	if err == nil && p.unclosed && p.settled.Failure == models.FailureCancelled && closesLater(ctx) {
		return expiry, p.closeLater(ctx)
	}

	if err != nil || p.settled.Final() || p.openErr != nil || !p.givenUp || !opensAgain(ctx) {
		return expiry, err
	}

	if err = p.openAgain(ctx); err != nil {
		return nil, err
	}

	return p.startTimer(ctx), nil
}

// openAgain goes on opening an attempt that could not be closed: it was to be paid otherwise, or later, and its gateway answered
// neither. The time to pay is what it was.
func (p *payment) openAgain(ctx workflow.Context) error {
	p.opened, p.delayed, p.checkout.Delayed = false, true, true
	setDetails(ctx, string(p.gateway())+" does not answer: the attempt stays open; its checkout is created when the gateway recovers.")

	err := p.openBy(ctx, payments.AwaitCheckout)
	if err != nil && isRefusal(err) {
		p.openErr, p.settled = err, models.Settled{}

		return nil
	}

	if err == nil {
		p.wasOpened()
	}

	return err
}

// closeLater leaves the checkout of a cancelled booking, whose gateway does not answer, to a workflow of its own: it is closed when
// the gateway is back. What the gateway takes before that goes back.
func (p *payment) closeLater(ctx workflow.Context) error {
	setDetails(ctx, string(p.gateway())+" does not answer: the checkout of the cancelled booking is closed when the gateway recovers.")

	about := subject{booking: p.attempt.BookingID, provider: p.attempt.ProviderID, gateway: p.gateway()}

	return startDetached(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: models.ReconcileWorkflowID(p.id), StaticSummary: "Close the checkout of cancelled payment " + p.id.String(),
		TypedSearchAttributes: about.attributes(),
	}, Reconcile, Closing{TransactionID: p.id, Gateway: p.gateway(), Why: models.FailureCancelled})
}
