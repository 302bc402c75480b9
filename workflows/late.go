package workflows

import (
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
	"rihla/models"
)

// LatePayment handles a gateway's status of an attempt whose own workflow has ended: money that came too late
// confirms the booking if it still can, else it goes back, with an incident (rules: late.accept, late.return).
func LatePayment(ctx workflow.Context, d models.Delivery) (models.Settled, error) {
	var settled models.Settled

	setDetails(ctx, "Applying a late event of payment "+d.TransactionID.String()+".")

	if d.RefundID != uuid.Nil {
		err := closeRefundEvents(ctx, d.RefundID)
		setDetails(ctx, "The event is about refund "+d.RefundID.String()+", which is already decided. It is marked processed. If it "+
			"contradicts the decision, an incident is open; a refund that the gateway took back is booked as owed.")

		return settled, err
	}

	dctx := withDatabase(ctx, "Apply the late event")
	if err := workflow.ExecuteLocalActivity(dctx, payments.SettlePayment, d.TransactionID).Get(ctx, &settled); err != nil {
		return settled, err
	}

	return settled, conclude(ctx, subject{transaction: d.TransactionID, booking: d.BookingID, gateway: d.Channel.Gateway()}, settled)
}

// closeRefundEvents marks the events of a refund that had been decided before they came, and books one that was taken back; an
// undecided result changes nothing else.
func closeRefundEvents(ctx workflow.Context, refund uuid.UUID) error {
	dctx := withDatabase(ctx, "Close the events of a refund that was decided")

	return workflow.ExecuteLocalActivity(dctx, payments.SettleRefund, activities.RefundDecision{RefundID: refund}).Get(ctx, nil)
}

// Closing asks for the end of an attempt that no payment workflow will end.
type Closing struct {
	TransactionID uuid.UUID          `json:"transaction_id"`
	Gateway       models.Gateway     `json:"gateway"`
	Why           models.FailureCode `json:"why"`
}

// atMost is how long the gateway is asked. Of an attempt that has expired the sweep starts this again; one that can be paid
// although another was, or although its booking was cancelled, nothing else closes before its time is over.
func (c Closing) atMost() time.Duration {
	if c.Why == models.FailureCancelled {
		return closeAtMost
	}

	return askAtMost
}

// Reconcile ends an attempt that is still PENDING although no workflow runs for it, as its own workflow would have:
// it asks the gateway, settles what it hears, and ends the attempt otherwise.
func Reconcile(ctx workflow.Context, c Closing) (models.Settled, error) {
	var settled models.Settled

	setDetails(ctx, "Polling "+string(c.Gateway)+" for payment "+c.TransactionID.String()+", whose own workflow has ended.")

	if err := closeCheckout(ctx, c.TransactionID, c.Gateway, c.atMost()); err != nil {
		setDetails(ctx, string(c.Gateway)+" does not report whether the attempt was paid. The sweep retries.")

		return settled, err
	}

	dctx := withDatabase(ctx, "Apply what the gateway said")
	if err := workflow.ExecuteLocalActivity(dctx, payments.SettlePayment, c.TransactionID).Get(ctx, &settled); err != nil {
		return settled, err
	}

	if !settled.Final() {
		if err := endPayment(ctx, c.TransactionID, c.Why, &settled); err != nil {
			return settled, err
		}
	}

	return settled, conclude(ctx, subject{transaction: c.TransactionID, gateway: c.Gateway}, settled)
}

func conclude(ctx workflow.Context, about subject, settled models.Settled) error {
	setDetails(ctx, outcomeText(settled))

	err := workflow.UpsertTypedSearchAttributes(ctx,
		attrPaymentStatus.ValueSet(string(settled.Status)), attrNeedsReview.ValueSet(settled.NeedsReview))
	if err != nil {
		return err
	}

	return followUp(ctx, about, settled)
}
