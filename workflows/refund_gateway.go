package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"rihla/models"
)

// A gateway is asked about a refund that it keeps pending, should its webhook get lost: after firstAsk, then after twice
// the time each time, and from lastAsk on at that pace.
const (
	firstAsk = time.Minute
	lastAsk  = 10 * time.Minute
)

// nextAsk is the pause before the next poll of a gateway that has not decided the refund.
func nextAsk(asked int) time.Duration {
	pause := firstAsk
	for range asked {
		if pause *= 2; pause >= lastAsk {
			return lastAsk
		}
	}

	return pause
}

// A gateway whose event says that a refund is decided, and that goes on answering PENDING, is polled again
// after a pause: for pauseAtFirst, then for twice the time each time, up to askPause.
const pauseAtFirst = 5 * time.Second

// askGateway gets the money moving, and comes back when the gateway has decided, or when it is time to ask it again. The key
// stays the same.
func (f *refund) askGateway(ctx workflow.Context) error {
	drain(f.events)
	setDetails(ctx, "Refunding "+f.amount()+" at "+string(f.reserved.Gateway)+".")

	through, err := f.tryAtOnce(ctx)
	if !through {
		err = f.refundBy(ctx, payments.RefundAtGateway)
	}

	if err == nil && f.result.Delayed {
		f.delayed = true
		setDetails(ctx, string(f.reserved.Gateway)+": circuit open or rate-limited; the refund is sent when it recovers.")

		err = f.refundBy(ctx, payments.AwaitRefund)
	}

	if err != nil || f.result.Status != models.RefundPending {
		return err
	}

	if f.orders {
		return f.awaitDecision(ctx)
	}

	return f.awaitDecisionBefore(ctx)
}

// awaitDecision comes back when the gateway's webhook has come, or when it is time to ask without one. What a webhook has
// said and the gateway's answer did not confirm is not asked about all the time: it is delivered again and again.
func (f *refund) awaitDecision(ctx workflow.Context) error {
	pause := nextAsk(f.asked)

	if f.result.Mismatch {
		pause = lastAsk

		if err := f.needReview(ctx); err != nil {
			return err
		}
	}

	if f.woken {
		setDetails(ctx, string(f.reserved.Gateway)+" sent an event for the refund but answers PENDING. "+
			"It is polled again shortly.")

		err := workflow.NewTimerWithOptions(ctx, min(pauseAtFirst<<min(f.unconfirmed, 10), askPause),
			workflow.TimerOptions{Summary: "The gateway's answer does not confirm its event: wait before the next poll"}).Get(ctx, nil)
		if err != nil {
			return err
		}

		f.unconfirmed++
	}

	if !f.result.Mismatch {
		setDetails(ctx, string(f.reserved.Gateway)+" accepted the refund; its decision is pending.")
	}

	var err error

	f.asked++
	f.woken, err = workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
		Timeout: pause, TimerOptions: workflow.TimerOptions{Summary: "No event yet: poll the gateway"},
	}, func() bool { return f.events.Len() > 0 })

	return err
}

// needReview tells operators, once, that the gateway has made another refund than was ordered.
func (f *refund) needReview(ctx workflow.Context) error {
	if f.review {
		return nil
	}

	f.review, f.delayed = true, true
	setDetails(ctx, string(f.reserved.Gateway)+" made another refund than the "+f.amount()+" ordered. An incident is open; "+
		"the refund is settled when the gateway reports what was ordered.")

	return workflow.UpsertTypedSearchAttributes(ctx, attrNeedsReview.ValueSet(true))
}

// awaitDecisionBefore is awaitDecision of runs that began before it.
func (f *refund) awaitDecisionBefore(ctx workflow.Context) error {
	setDetails(ctx, string(f.reserved.Gateway)+" accepted the refund; its decision is pending.")

	woken, err := workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
		Timeout: nextAsk(f.asked), TimerOptions: workflow.TimerOptions{Summary: "Poll the gateway again"},
	}, func() bool { return f.events.Len() > 0 })

	if f.asked++; err == nil && woken && f.asked > 1 {
		err = workflow.Sleep(ctx, askPause)
	}

	return err
}

// tryAtOnce has the gateway make the refund within the task that starts it, which is all that most refunds need: through says that it has
// decided, or accepted it, or is not asked now. What does not come through at the first try is left to activities that show every try, on
// the gateway's own queue.
func (f *refund) tryAtOnce(ctx workflow.Context) (through bool, err error) {
	if f.tried || !refundsAtOnce(ctx) {
		return false, nil
	}

	f.tried = true
	f.result = models.RefundResult{}

	lctx := withFirstTry(ctx, "Refund at "+string(f.reserved.Gateway)+", first try")
	if err = workflow.ExecuteLocalActivity(lctx, payments.TryRefund, f.order.ID, f.reserved.Gateway).Get(ctx, &f.result); err == nil {
		return true, nil
	}

	if isRefusal(err) {
		return true, err
	}

	return false, nil
}

func (f *refund) refundBy(ctx workflow.Context, activity any) error {
	f.result = models.RefundResult{} // of an earlier answer nothing may stay
	gctx := withGateway(ctx, f.reserved.Gateway, "Refund at "+string(f.reserved.Gateway), 0)

	return workflow.ExecuteActivity(gctx, activity, f.order.ID).Get(ctx, &f.result)
}
