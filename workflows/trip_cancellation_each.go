package workflows

import (
	"slices"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"rihla/models"
)

// TripTogether is how many bookings of a trip are cancelled by one task.
const TripTogether = 2

// cancelEach cancels bookings and starts their refunds, a few at a time. How the refunds end is in the database: one that fails has its
// incident.
func (c *tripCancellation) cancelEach(ctx workflow.Context, ids []uuid.UUID) error {
	if !cancelsTogether(ctx) {
		return c.cancelEachBefore(ctx, ids)
	}

	for together := range slices.Chunk(ids, TripTogether) {
		if err := c.next(ctx); err != nil {
			return err
		}

		if err := c.cancelTogether(ctx, together); err != nil {
			return err
		}

		c.order.After = together[len(together)-1]
	}

	return nil
}

// cancelTogether cancels these bookings, each in a transaction of its own, and starts their refunds all at once. A task that was
// interrupted says how far it came.
func (c *tripCancellation) cancelTogether(ctx workflow.Context, ids []uuid.UUID) error {
	var refunds []workflow.ChildWorkflowFuture

	for len(ids) > 0 {
		var done []models.CancelledForTrip

		pctx := withPace(ctx, "Cancel bookings, each with the order of its refund in one transaction")
		if err := workflow.ExecuteActivity(pctx, payments.CancelTripBookings, c.order.ID, ids).Get(ctx, &done); err != nil {
			return err
		}

		for _, one := range done {
			refund, err := c.start(ctx, one)
			if err != nil {
				return err
			}

			if refund != nil {
				refunds = append(refunds, refund)
			}
		}

		ids = ids[len(done):]
	}

	for _, refund := range refunds {
		fresh, err := started(ctx, refund)
		if err != nil {
			return err
		}

		if fresh {
			c.watched = append(c.watched, refund)
		}
	}

	return nil
}

// awaitRoom waits until a few refunds more may be under way. Those that are not decided for long are left to their own workflows.
func (c *tripCancellation) awaitRoom(ctx workflow.Context) error {
	room := func() bool {
		c.watched = slices.DeleteFunc(c.watched, workflow.ChildWorkflowFuture.IsReady)

		return len(c.watched)+TripTogether <= tripParallel
	}

	if room() {
		return nil
	}

	ok, err := workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
		Timeout: refundWatch, TimerOptions: workflow.TimerOptions{Summary: "Until the refunds are left to their own workflows"},
	}, room)
	if !ok {
		c.watched = nil
	}

	return err
}

// cancelEachBefore is cancelEach of runs that began before it.
func (c *tripCancellation) cancelEachBefore(ctx workflow.Context, ids []uuid.UUID) error {
	for _, id := range ids {
		if err := c.next(ctx); err != nil {
			return err
		}

		c.order.After = id
		c.inParallel(ctx, func(ctx workflow.Context) (workflow.ChildWorkflowFuture, error) { return c.cancelBooking(ctx, id) })
	}

	return nil
}

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

// cancelBooking cancels one booking, in runs that began before several were cancelled together.
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
	child, err := c.start(ctx, out)
	if err != nil || child == nil {
		return nil, err
	}

	if fresh, err := started(ctx, child); err != nil || !fresh {
		return nil, err
	}

	return child, nil
}

// start is follow without waiting until the refund's workflow has begun.
func (c *tripCancellation) start(ctx workflow.Context, out models.CancelledForTrip) (workflow.ChildWorkflowFuture, error) {
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
		return nil, nil //nolint:nilnil // see follow
	}

	return workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: models.RefundWorkflowID(out.Refund.ID), StaticSummary: "Refund for cancelled trip " + c.order.TripID.String(),
		TypedSearchAttributes: refundAttributes(out.Booking, out.Gateway), WorkflowTaskTimeout: TaskTimeout,
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
	}), Refund, *out.Refund), nil
}

// started waits until the refund's workflow has begun; fresh is false when it had begun before.
func started(ctx workflow.Context, refund workflow.ChildWorkflowFuture) (fresh bool, err error) {
	err = refund.GetChildWorkflowExecution().Get(ctx, nil)
	if isAlreadyStarted(err) {
		return false, nil
	}

	return err == nil, err
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
