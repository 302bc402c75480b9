package workflows

import (
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
	"rihla/models"
)

// UpdateDecision waits until the gateway has decided the refund, or it was not allowed in the first place, or the gateway
// is not being asked for now.
const UpdateDecision = "decision"

// SignalPayout tells a refund by hand that finance staff have decided about it; what they decided is in the database.
const SignalPayout = "payout-decided"

// A gateway is asked about a refund that it keeps pending, should its webhook get lost: after firstAsk, then after twice
// the time each time, and from lastAsk on at that pace.
const (
	firstAsk = time.Minute
	lastAsk  = 10 * time.Minute
)

// nextAsk is how long a gateway that has not decided when it was asked so often is left alone.
func nextAsk(asked int) time.Duration {
	pause := firstAsk
	for range asked {
		if pause *= 2; pause >= lastAsk {
			return lastAsk
		}
	}

	return pause
}

// Refund gives money back: it promises the amount out of the payment, has the gateway pay it, asks until it knows the
// outcome, and settles (spec 3.5, contract §7). What no gateway can give back it leaves to finance staff, and waits for
// their word. A refund that is not allowed, or that is refused, is an outcome, not a failure.
func Refund(ctx workflow.Context, r models.RefundRequest) (models.SettledRefund, error) {
	f := refund{request: r}
	if err := f.setup(ctx); err != nil {
		return models.SettledRefund{}, err
	}

	return f.run(ctx)
}

type refund struct {
	request  models.RefundRequest
	reserved models.ReservedRefund
	refused  error // why it was not allowed
	result   models.RefundResult
	settled  models.SettledRefund
	delayed  bool // the gateway is not being asked for now: nobody should wait for its decision
	events   workflow.ReceiveChannel
	payouts  workflow.ReceiveChannel
	waiting  bool // for finance staff, which may take days: whoever asked for the refund is not kept
	asked    int  // how often the gateway has answered that it has not decided
}

func (f *refund) setup(ctx workflow.Context) error {
	f.events = workflow.GetSignalChannel(ctx, SignalEvent)
	f.payouts = workflow.GetSignalChannel(ctx, SignalPayout)

	return workflow.SetUpdateHandler(ctx, UpdateDecision, func(ctx workflow.Context) (models.SettledRefund, error) {
		err := workflow.Await(ctx, func() bool { return f.decided() || f.delayed || f.refused != nil || f.waiting })
		if err == nil {
			err = f.refused
		}

		return f.settled, err
	})
}

func (f *refund) decided() bool {
	return f.settled.Status == models.RefundSucceeded || f.settled.Status == models.RefundFailed
}

// run is the process: reserve, refund at the gateway or by hand until the outcome is known, settle.
func (f *refund) run(ctx workflow.Context) (models.SettledRefund, error) {
	if err := f.reserve(ctx); err != nil {
		f.refused = err
		tell(ctx, "Not allowed: "+reason(err))

		if err := workflow.UpsertTypedSearchAttributes(ctx, attrPaymentStatus.ValueSet(refundNotAllowed)); err != nil {
			return f.settled, err
		}

		return f.finish(ctx)
	}

	for !f.decided() {
		if err := f.advance(ctx); err != nil {
			return f.settled, err
		}
	}

	tell(ctx, f.outcome())

	err := workflow.UpsertTypedSearchAttributes(ctx, attrPaymentStatus.ValueSet(refundStatus(f.settled.Status)),
		attrGateway.ValueSet(string(f.reserved.Gateway)), attrNeedsReview.ValueSet(f.needsReview()))
	if err != nil {
		return f.settled, err
	}

	return f.finish(ctx)
}

// advance goes one round: the gateway's answer or the word of finance staff, and what it changes.
func (f *refund) advance(ctx workflow.Context) error {
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

		tell(ctx, "Waits for finance to pay out "+f.amount()+" by hand: what was paid through "+string(f.reserved.Gateway)+
			" as a bill cannot go back the same way. Somebody else than who asked for it confirms or rejects the payout.")

		err := workflow.UpsertTypedSearchAttributes(ctx, attrPaymentStatus.ValueSet(refundNeedsPayout),
			attrGateway.ValueSet(string(f.reserved.Gateway)), attrNeedsReview.ValueSet(true))
		if err != nil {
			return err
		}
	}

	if err := workflow.Await(ctx, func() bool { return f.payouts.Len() > 0 }); err != nil {
		return err
	}

	drain(f.payouts)

	return nil
}

func (f *refund) reserve(ctx workflow.Context) error {
	dctx := withDatabase(ctx, "Promise the amount out of the payment")
	if err := workflow.ExecuteLocalActivity(dctx, payments.ReserveRefund, f.request).Get(ctx, &f.reserved); err != nil {
		return err
	}
	// A run that was started once more finds the decision of an earlier one: the gateway must not be asked to pay a
	// refund that has been given up.
	if f.reserved.Status != models.RefundPending {
		f.settled.Status = f.reserved.Status
	}

	return nil
}

// askGateway gets the money moving, and comes back when the gateway has decided. While the gateway keeps the refund
// pending, its webhook or the clock asks again; the key stays the same.
func (f *refund) askGateway(ctx workflow.Context) error {
	drain(f.events)
	tell(ctx, "Refunding "+f.amount()+" at "+string(f.reserved.Gateway)+".")

	err := f.refundBy(ctx, payments.RefundAtGateway)
	if err == nil && f.result.Delayed {
		f.delayed = true
		tell(ctx, string(f.reserved.Gateway)+" is being left alone: it did not answer, or wants that. The refund is sent when it is back.")

		err = f.refundBy(ctx, payments.AwaitRefund)
	}

	if err != nil {
		return err
	}

	if f.result.Status != models.RefundPending {
		return nil
	}

	tell(ctx, string(f.reserved.Gateway)+" has accepted the refund and will decide it.")

	woken, err := workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
		Timeout: nextAsk(f.asked), TimerOptions: workflow.TimerOptions{Summary: "Ask the gateway again"},
	}, func() bool { return f.events.Len() > 0 })

	// An event that the gateway's own answer contradicts is delivered again and again: it must not be asked each time.
	if f.asked++; err == nil && woken && f.asked > 1 {
		err = workflow.Sleep(ctx, askPause)
	}

	return err
}

func (f *refund) refundBy(ctx workflow.Context, activity any) error {
	f.result = models.RefundResult{} // of an earlier answer nothing may stay
	gctx := withGateway(ctx, f.reserved.Gateway, "Refund at "+string(f.reserved.Gateway), 0)

	return workflow.ExecuteActivity(gctx, activity, f.request.ID).Get(ctx, &f.result)
}

func (f *refund) settle(ctx workflow.Context) error {
	if f.result.Status == models.RefundPending {
		return nil
	}

	return f.apply(ctx, "Settle: refund, ledger, booking and notifications in one transaction")
}

func (f *refund) apply(ctx workflow.Context, summary string) error {
	dctx := withDatabase(ctx, summary)
	decision := activities.RefundDecision{RefundID: f.request.ID, Result: f.result}

	return workflow.ExecuteLocalActivity(dctx, payments.SettleRefund, decision).Get(ctx, &f.settled)
}

// outcome is the end of the refund in plain words.
func (f *refund) outcome() string {
	failed := f.settled.Status == models.RefundFailed

	switch {
	case f.reserved.ByHand() && failed:
		return "Finance rejected to pay out " + f.amount() + "; nothing went back. The reason is with the refund."
	case f.reserved.ByHand():
		return f.amount() + " was paid out by hand."
	case failed:
		return string(f.reserved.Gateway) + " refused to refund " + f.amount() + ": " + f.result.FailureReason + ". There is an incident."
	default:
		return f.amount() + " went back through " + string(f.reserved.Gateway) + "."
	}
}

func (f *refund) amount() string { return f.reserved.Amount.String() + " " + models.Currency }

// needsReview reports that a person has to look at the end of the refund: not when a person has ended it, unless the money
// is owed all the same.
func (f *refund) needsReview() bool {
	return f.settled.Status == models.RefundFailed && (!f.reserved.ByHand() || f.settled.NeedsReview)
}

// refundNeedsPayout is the PaymentStatus of a refund that waits for finance staff.
const refundNeedsPayout = "REFUND_NEEDS_PAYOUT"

// refundNotAllowed is the PaymentStatus of a refund that was refused before it was promised.
const refundNotAllowed = "REFUND_NOT_ALLOWED"

// refundStatus is a refund's state as operators search for it.
func refundStatus(s models.RefundStatus) string { return "REFUND_" + string(s) }

// refundAttributes are the search attributes of a refund that starts; what is not known is left out.
func refundAttributes(booking uuid.UUID, gateway models.PaymentProvider) temporal.SearchAttributes {
	attrs := []temporal.SearchAttributeUpdate{attrPaymentStatus.ValueSet(refundStatus(models.RefundPending))}
	if booking != uuid.Nil {
		attrs = append(attrs, attrBookingID.ValueSet(booking.String()))
	}

	if gateway != "" {
		attrs = append(attrs, attrGateway.ValueSet(string(gateway)))
	}

	return temporal.NewSearchAttributes(attrs...)
}

func (f *refund) finish(ctx workflow.Context) (models.SettledRefund, error) {
	drain(f.events)
	drain(f.payouts)

	err := workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })

	return f.settled, err
}
