package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
	"rihla/models"
)

// UpdateDecision waits until the gateway has decided the refund, or it was not allowed in the first place, or the gateway
// is not being asked for now.
const UpdateDecision = "decision"

// SignalPayout tells a manual payout that finance staff have decided about it; what they decided is in the database.
const SignalPayout = "payout-decided"

// SignalApproval tells a refund that a second person has decided about it; what they decided is in the database.
const SignalApproval = "approval-decided"

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

// refundRounds is after how many answers that decide nothing a refund goes on in a new run: each is about a dozen events.
const refundRounds = 100

// Refund gives money back that was ordered to go back: it has the gateway pay it, asks until it knows the outcome, and
// settles (rules: refunds.order, refunds.send). What no gateway can give back it leaves to finance staff, and waits for their decision. Its
// input is the order's id and nothing else. Without an order it ends without effect, with an incident. A refund that is refused is
// an outcome, not a failure.
func Refund(ctx workflow.Context, o models.RefundOrder) (models.SettledRefund, error) {
	f := refund{order: o}
	if err := f.setup(ctx); err != nil {
		return models.SettledRefund{}, err
	}

	return f.run(ctx)
}

type refund struct {
	order       models.RefundOrder
	reserved    models.ReservedRefund
	orders      bool  // false for a run that began when refunds were reserved here
	orderErr    error // why it was not allowed
	result      models.RefundResult
	settled     models.SettledRefund
	delayed     bool // the gateway's circuit is open: callers should not wait for its decision
	events      workflow.ReceiveChannel
	payouts     workflow.ReceiveChannel
	approvals   workflow.ReceiveChannel
	turned      bool // its gateway did not make it: a manual payout by now
	unapproved  bool // it waits for the word of a second person
	waiting     bool // for people, which may take days: the requester is answered before
	review      bool // operators have been told to look
	tried       bool // the first try is over
	asked       int  // how often the gateway has answered that it has not decided
	woken       bool // by an event, to ask the gateway again
	unconfirmed int  // how often the gateway's answer did not confirm such an event
}

func (f *refund) setup(ctx workflow.Context) error {
	f.events = workflow.GetSignalChannel(ctx, SignalEvent)
	f.payouts = workflow.GetSignalChannel(ctx, SignalPayout)
	f.approvals = workflow.GetSignalChannel(ctx, SignalApproval)

	return workflow.SetUpdateHandler(ctx, UpdateDecision, func(ctx workflow.Context) (models.SettledRefund, error) {
		err := workflow.Await(ctx, func() bool { return f.decided() || f.delayed || f.orderErr != nil || f.waiting })
		if err == nil {
			err = f.orderErr
		}

		return f.settled, err
	})
}

func (f *refund) decided() bool {
	return f.settled.Status == models.RefundSucceeded || f.settled.Status == models.RefundFailed
}

// run is the process: read the order, wait for an approval where it needs one, refund at the gateway or by a manual payout until the
// outcome is known, settle.
func (f *refund) run(ctx workflow.Context) (models.SettledRefund, error) {
	f.orders = executesOrders(ctx)

	if err := f.read(ctx); err != nil {
		return f.notAllowed(ctx, err)
	}

	f.unapproved = f.reserved.ApprovalUntil != nil && !f.decided() && awaitsApproval(ctx)

	for rounds := 1; !f.decided(); rounds++ {
		if err := f.advance(ctx); err != nil {
			return f.settled, err
		}

		if f.orders && !f.decided() && (rounds >= refundRounds || workflow.GetInfo(ctx).GetContinueAsNewSuggested()) {
			return f.settled, f.goOn(ctx)
		}
	}

	setDetails(ctx, f.outcome())

	err := workflow.UpsertTypedSearchAttributes(ctx, attrPaymentStatus.ValueSet(refundStatus(f.settled.Status)),
		attrGateway.ValueSet(string(f.reserved.Gateway)), attrNeedsReview.ValueSet(f.needsReview()))
	if err != nil {
		return f.settled, err
	}

	return f.finish(ctx)
}

// read reads the order. A run that was started once more finds the decision of an earlier one: the gateway must not be asked
// to pay a refund that counts as not made.
func (f *refund) read(ctx workflow.Context) error {
	dctx := withDatabase(ctx, "Read the order")
	step := payments.ReadRefundOrder

	if !f.orders {
		dctx, step = withDatabase(ctx, "Reserve the amount of the refund"), payments.ReserveRefund
	}

	if err := workflow.ExecuteLocalActivity(dctx, step, f.order).Get(ctx, &f.reserved); err != nil {
		return err
	}

	if f.reserved.Status != models.RefundPending {
		f.settled.Status = f.reserved.Status
	}

	return nil
}

// notAllowed ends a run that has no order to execute.
func (f *refund) notAllowed(ctx workflow.Context, err error) (models.SettledRefund, error) {
	attrs := []temporal.SearchAttributeUpdate{attrPaymentStatus.ValueSet(refundNotAllowed)}

	if f.orders && isMissing(err) {
		setDetails(ctx, "Refund without an order: no money moved. An incident is open.")

		dctx := withDatabase(ctx, "Open an incident: a refund without an order")
		if err := workflow.ExecuteLocalActivity(dctx, payments.ReportUnorderedRefund, f.order.ID).Get(ctx, nil); err != nil {
			return f.settled, err
		}

		attrs = append(attrs, attrNeedsReview.ValueSet(true))
	} else {
		setDetails(ctx, "Not allowed: "+errorText(err))
	}

	f.orderErr = err

	if err := workflow.UpsertTypedSearchAttributes(ctx, attrs...); err != nil {
		return f.settled, err
	}

	return f.finish(ctx)
}

// goOn leaves the refund to a new run, which asks the gateway first and so needs no event of this one. Waiting requests are
// answered that nothing is decided.
func (f *refund) goOn(ctx workflow.Context) error {
	f.delayed = true

	if _, err := f.finish(ctx); err != nil {
		return err
	}

	return workflow.NewContinueAsNewError(ctx, Refund, f.order)
}

// advance goes one round: the word of a second person, the gateway's answer or the word of finance staff, and what it changes.
func (f *refund) advance(ctx workflow.Context) error {
	if f.unapproved {
		return f.awaitApproval(ctx)
	}

	if f.reserved.ByHand() {
		if err := f.awaitPayout(ctx); err != nil {
			return err
		}

		return f.apply(ctx, "Settle by what finance staff decided: refund, ledger, booking and notifications in one transaction")
	}

	if err := f.askGateway(ctx); err != nil {
		return err
	}

	return f.settle(ctx)
}

// awaitPayout leaves the refund to finance staff, and comes back when they have decided.
func (f *refund) awaitPayout(ctx workflow.Context) error {
	if !f.waiting {
		f.waiting = true
		f.settled.Status = models.RefundPending

		cause := "what was paid through " + string(f.reserved.Gateway) + " as a bill cannot be refunded by the gateway"

		switch {
		case f.turned:
			cause = string(f.reserved.Gateway) + " did not make the refund of a cancelled booking, and an incident is open"
		case f.currency() != models.Currency:
			cause = "gateways refund no other currency than " + models.Currency
		}

		setDetails(ctx, "Waiting for finance to pay out "+f.amount()+" manually: "+cause+
			". Its requester may reject the payout but not confirm it.")

		err := workflow.UpsertTypedSearchAttributes(ctx, attrPaymentStatus.ValueSet(refundNeedsPayout),
			attrGateway.ValueSet(string(f.reserved.Gateway)), attrNeedsReview.ValueSet(true))
		if err != nil {
			return err
		}
	}

	// A run that predates approvals comes here with a refund that needs one, and ends by that.
	if err := workflow.Await(ctx, func() bool { return f.payouts.Len() > 0 || f.approvals.Len() > 0 }); err != nil {
		return err
	}

	drain(f.payouts)
	drain(f.approvals)

	return nil
}

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

func (f *refund) settle(ctx workflow.Context) error {
	if f.result.Status == models.RefundPending {
		return nil
	}

	return f.apply(ctx, "Settle: refund, ledger, booking and notifications in one transaction")
}

func (f *refund) apply(ctx workflow.Context, summary string) error {
	return f.settleBy(ctx, summary, activities.RefundDecision{RefundID: f.order.ID, Result: f.result})
}

// settleBy has the database apply a decision. Of an earlier answer nothing may stay, and waiting requests see none that is half there.
func (f *refund) settleBy(ctx workflow.Context, summary string, d activities.RefundDecision) error {
	var settled models.SettledRefund

	err := workflow.ExecuteLocalActivity(withDatabase(ctx, summary), payments.SettleRefund, d).Get(ctx, &settled)
	if err == nil {
		f.settled = settled
	}

	if settled.TurnedManual { // the gateway did not make it, and it is owed
		f.reserved.Channel, f.turned = models.RefundByHand, true
	}

	return err
}

func (f *refund) finish(ctx workflow.Context) (models.SettledRefund, error) {
	drain(f.events)
	drain(f.payouts)
	drain(f.approvals)

	err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })

	return f.settled, err
}
