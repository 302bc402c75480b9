package workflows

import (
	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"rihla/models"
)

// subject is what a workflow is about, in the terms in which operators search.
type subject struct {
	transaction uuid.UUID
	booking     uuid.UUID // zero for a campaign, or when it is not known
	provider    uuid.UUID // zero when it is not known
	gateway     models.Gateway
}

// attributes are the subject's as operators search for it; what is not known is left out.
func (s subject) attributes() temporal.SearchAttributes {
	attrs := []temporal.SearchAttributeUpdate{attrGateway.ValueSet(string(s.gateway))}
	if s.booking != uuid.Nil {
		attrs = append(attrs, attrBookingID.ValueSet(s.booking.String()))
	}

	if s.provider != uuid.Nil {
		attrs = append(attrs, attrProviderID.ValueSet(s.provider.String()))
	}

	return temporal.NewSearchAttributes(attrs...)
}

// followUp starts the workflows that a settlement asks for: the campaign's dates, or the way back of late money.
// They live on their own.
func followUp(ctx workflow.Context, about subject, s models.Settled) error {
	if s.Campaign != uuid.Nil {
		err := startDetached(ctx, workflow.ChildWorkflowOptions{
			WorkflowID: models.CampaignWorkflowID(s.Campaign), StaticSummary: "Dates of campaign " + s.Campaign.String(),
			StaticDetails:         campaignDetails,
			TypedSearchAttributes: about.attributes(),
		}, Campaign, s.Campaign)
		if err != nil {
			return err
		}
	}

	if s.Sibling != uuid.Nil {
		// Another attempt is still open: it must not be paid, too.
		err := startDetached(ctx, workflow.ChildWorkflowOptions{
			WorkflowID: models.ReconcileWorkflowID(s.Sibling), StaticSummary: "Close the other attempt " + s.Sibling.String(),
			TypedSearchAttributes: subject{booking: about.booking, provider: about.provider, gateway: s.SiblingGateway}.attributes(),
		}, Reconcile, Closing{TransactionID: s.Sibling, Gateway: s.SiblingGateway, Why: models.FailureCancelled})
		if err != nil {
			return err
		}
	}

	if s.RefundOwed {
		return refundLate(ctx, about)
	}

	return nil
}

// refundLate orders the refund of money that came too late, and starts its workflow. The sweep orders what this does not come to.
func refundLate(ctx workflow.Context, about subject) error {
	ordered := true

	if ordersLateRefunds(ctx) {
		dctx := withDatabase(ctx, "Order the refund of the late payment")
		if err := workflow.ExecuteLocalActivity(dctx, payments.OrderLateRefund, about.transaction).Get(ctx, &ordered); err != nil {
			return err
		}
	}

	if ordered {
		refund := models.RefundOrder{ID: models.RefundID(about.transaction, "late")}

		return startDetached(ctx, workflow.ChildWorkflowOptions{
			WorkflowID:            models.RefundWorkflowID(refund.ID),
			StaticSummary:         "Refund of late payment " + about.transaction.String(),
			TypedSearchAttributes: refundAttributes(about.booking, about.gateway),
		}, Refund, refund)
	}

	return nil
}

// startDetached starts a child that outlives its parent; one that runs already is what was wanted.
func startDetached(ctx workflow.Context, o workflow.ChildWorkflowOptions, child, arg any) error {
	o.ParentClosePolicy = enumspb.PARENT_CLOSE_POLICY_ABANDON
	o.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	o.WorkflowTaskTimeout = TaskTimeout // it does not have its parent's
	cctx := workflow.WithChildOptions(ctx, o)

	err := workflow.ExecuteChildWorkflow(cctx, child, arg).GetChildWorkflowExecution().Get(ctx, nil)
	if isAlreadyStarted(err) {
		return nil
	}

	return err
}
