package workflows

import (
	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"rihla/models"
)

// inParallel cancels a booking or a campaign beside others. What it has refunded is watched, but not for long; how that ends is in the
// database: a refund that fails has its incident.
func (c *tripCancellation) inParallel(ctx workflow.Context, do func(workflow.Context) (workflow.ChildWorkflowFuture, error)) {
	c.starting++
	c.busy++

	workflow.Go(ctx, func(ctx workflow.Context) {
		refund, err := do(ctx)
		c.starting--

		if err == nil && refund != nil {
			_, err = workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
				Timeout: refundWatch, TimerOptions: workflow.TimerOptions{Summary: "Until the refund is left to its own workflow"},
			}, refund.IsReady)
		}

		if err != nil {
			c.failed = err
		}

		c.busy--
	})
}

func (c *tripCancellation) cancelBooking(ctx workflow.Context, booking uuid.UUID) (workflow.ChildWorkflowFuture, error) {
	var out models.CancelledForTrip

	const what = "Cancel a booking and order its refund in one transaction"

	var step workflow.Future
	if pacesCancellations(ctx) {
		step = workflow.ExecuteActivity(withPace(ctx, what), payments.CancelTripBooking, c.order.ID, booking)
	} else {
		step = workflow.ExecuteLocalActivity(withDatabase(ctx, what), payments.CancelTripBooking, c.order.ID, booking)
	}

	if err := step.Get(ctx, &out); err != nil {
		return nil, err
	}

	return c.follow(ctx, out)
}

// follow closes a checkout that is open, and starts a refund; nil when nothing goes back, or that is under way already.
func (c *tripCancellation) follow(ctx workflow.Context, out models.CancelledForTrip) (workflow.ChildWorkflowFuture, error) {
	if out.Blocked != "" {
		return nil, c.blocked(ctx, out)
	}

	about := subject{booking: out.Booking, provider: c.order.ProviderID, gateway: out.Gateway}

	if out.Attempt != uuid.Nil {
		err := startDetached(ctx, workflow.ChildWorkflowOptions{
			WorkflowID: models.ReconcileWorkflowID(out.Attempt), StaticSummary: "Close the checkout of payment " + out.Attempt.String(),
			TypedSearchAttributes: about.attributes(),
		}, Reconcile, Closing{TransactionID: out.Attempt, Gateway: out.Gateway, Why: models.FailureCancelled})
		if err != nil {
			return nil, err
		}
	}

	if out.Refund == nil {
		return nil, nil //nolint:nilnil // see above
	}

	child := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: models.RefundWorkflowID(out.Refund.ID), StaticSummary: "Refund for cancelled trip " + c.order.TripID.String(),
		TypedSearchAttributes: refundAttributes(out.Booking, out.Gateway), WorkflowTaskTimeout: TaskTimeout,
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
	}), Refund, *out.Refund)

	err := child.GetChildWorkflowExecution().Get(ctx, nil)
	if isAlreadyStarted(err) {
		return nil, nil //nolint:nilnil // see above
	}

	return child, err
}

func (c *tripCancellation) endCampaign(ctx workflow.Context, campaign uuid.UUID) (workflow.ChildWorkflowFuture, error) {
	var out models.CancelledForTrip

	dctx := withDatabase(ctx, "End a campaign and order the refund of the days that it has not run")
	if err := workflow.ExecuteLocalActivity(dctx, payments.EndTripCampaign, c.order.ID, campaign).Get(ctx, &out); err != nil {
		return nil, err
	}

	return c.follow(ctx, out)
}

// blocked notes what cannot be cancelled now; it is tried again, from the second time on with an incident.
func (c *tripCancellation) blocked(ctx workflow.Context, out models.CancelledForTrip) error {
	c.order.Blocked++

	if c.order.Passes == 0 {
		return nil // perhaps its payment is being settled at this moment
	}

	dctx := withDatabase(ctx, "Open an incident: a booking or a campaign cannot be cancelled")

	return workflow.ExecuteLocalActivity(dctx, payments.ReportTripBlocked, c.order.ID, out).Get(ctx, nil)
}
