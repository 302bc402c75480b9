package workflows

import (
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
