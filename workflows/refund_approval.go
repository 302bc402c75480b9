package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"rihla/activities"
	"rihla/models"
)

// awaitApproval leaves the refund to a second person, and comes back when one has decided, or when the time for that is over. Which of
// the two it was the database says, under the refund's lock (rules: approvals.wait). Until it says anything, the refund waits on.
func (f *refund) awaitApproval(ctx workflow.Context) error {
	if !f.reserved.ApprovalDecided {
		if err := f.showApproval(ctx); err != nil {
			return err
		}

		_, err := workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
			Timeout:      max(f.reserved.ApprovalUntil.Sub(workflow.Now(ctx)), time.Second),
			TimerOptions: workflow.TimerOptions{Summary: "Not approved in time: the refund fails"},
		}, func() bool { return f.approvals.Len() > 0 })
		if err != nil {
			return err
		}
	}

	drain(f.approvals)
	f.reserved.ApprovalDecided = false // what is to be read now is read once

	err := f.settleBy(ctx, "Take up what was decided about the approval, or end the wait", activities.RefundDecision{
		RefundID: f.order.ID, Result: models.RefundResult{Status: models.RefundPending}, At: workflow.Now(ctx),
	})
	if err != nil {
		return err
	}

	if f.settled.Approval != models.ApprovalApproved {
		return nil // decided, or waiting on
	}

	f.unapproved, f.waiting = false, false

	return workflow.UpsertTypedSearchAttributes(ctx, attrPaymentStatus.ValueSet(refundStatus(models.RefundPending)),
		attrNeedsReview.ValueSet(false))
}

// showApproval tells operators, once, that the refund waits for a person.
func (f *refund) showApproval(ctx workflow.Context) error {
	if f.waiting {
		return nil
	}

	f.waiting = true
	f.settled.Status = models.RefundPending

	setDetails(ctx, "Waiting for a second person to approve "+f.amount()+" until "+f.reserved.ApprovalUntil.UTC().Format(time.RFC3339)+
		". Its requester may reject the refund but not approve it. The amount is reserved.")

	return workflow.UpsertTypedSearchAttributes(ctx, attrPaymentStatus.ValueSet(refundNeedsApproval),
		attrGateway.ValueSet(string(f.reserved.Gateway)), attrNeedsReview.ValueSet(true))
}
