package workflows

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"rihla/models"
)

// SignalPause stops the cancellation of a trip before its next booking, and SignalResume has it go on. Both are for operators.
const (
	SignalPause  = "pause"
	SignalResume = "resume"
)

// QueryProgress answers how far the cancellation of a trip is: TripCancellationShown.
const QueryProgress = "progress"

const (
	tripParallel = 8   // refunds of a trip at once
	tripBatch    = 20  // bookings per read
	tripRun      = 200 // bookings per run: each is about ten events
	// refundWatch is how long the next booking waits for a refund to be decided; its own workflow goes on after that.
	refundWatch = 30 * time.Second
	// firstPass is the pause before the bookings that could not be cancelled are tried again, then twice the time, up to lastPass.
	firstPass = time.Minute
	lastPass  = 10 * time.Minute
	// firstCount is the pause before the refunds are counted again, then twice the time, up to lastPass.
	firstCount  = 5 * time.Second
	countRounds = 100
)

// TripCancellationShown is what operators see of the cancellation of a trip.
type TripCancellationShown struct {
	models.TripCancellationCounts

	Blocked int  `json:"blocked,omitzero"`
	Paused  bool `json:"paused,omitzero"`
}

// TripCancellation calls a trip off (rules: trips.cancel): it waits for an approval where it needs one, cancels booking after booking, each
// with its refund in full by a workflow of its own, ends the campaigns, and goes on until no gateway has a refund to decide. A refund that
// fails stops no other. Bookings that cannot be cancelled now are tried again.
func TripCancellation(ctx workflow.Context, o models.TripCancellationOrder) (models.TripCancellationCounts, error) {
	c := tripCancellation{order: o}
	if err := c.setup(ctx); err != nil {
		return c.counts, err
	}

	if !c.order.Ended {
		called, err := c.awaitApproval(ctx)
		if err != nil || !called {
			return c.counts, err
		}
	}

	for !c.order.Ended {
		if err := c.cancelBookings(ctx); err != nil {
			return c.counts, err
		}

		if err := c.endCampaigns(ctx); err != nil {
			return c.counts, err
		}

		if err := c.finish(ctx); err != nil {
			return c.counts, err
		}
	}

	return c.counts, c.awaitRefunds(ctx)
}

type tripCancellation struct {
	order    models.TripCancellationOrder
	looks    workflow.ReceiveChannel
	counts   models.TripCancellationCounts
	starting int                            // bookings and campaigns that are being cancelled, until their refunds have begun
	busy     int                            // these, and the refunds that are watched
	done     int                            // bookings of this run
	watched  []workflow.ChildWorkflowFuture // refunds that are under way
	failed   error                          // of one of them: of the workflow's own code, as the database is tried again and again
}

func (c *tripCancellation) setup(ctx workflow.Context) error {
	c.looks = workflow.GetSignalChannel(ctx, SignalLook)
	pause, resume := workflow.GetSignalChannel(ctx, SignalPause), workflow.GetSignalChannel(ctx, SignalResume)

	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			workflow.NewSelector(ctx).
				AddReceive(pause, func(ch workflow.ReceiveChannel, _ bool) { ch.Receive(ctx, nil); c.order.Paused = true }).
				AddReceive(resume, func(ch workflow.ReceiveChannel, _ bool) { ch.Receive(ctx, nil); c.order.Paused = false }).
				Select(ctx)
		}
	})

	return workflow.SetQueryHandler(ctx, QueryProgress, func() (TripCancellationShown, error) {
		return TripCancellationShown{c.counts, c.order.Blocked, c.order.Paused}, nil
	})
}

// awaitApproval comes back when bookings may be cancelled, or reports false: it was rejected, or has not been approved in time.
func (c *tripCancellation) awaitApproval(ctx workflow.Context) (bool, error) {
	for {
		var state models.OpenTripCancellation

		drain(c.looks)

		dctx := withDatabase(ctx, "Read how the cancellation of the trip stands; without an approval in time it ends")
		step := workflow.ExecuteLocalActivity(dctx, payments.LookAtTripCancellation, c.order.ID, workflow.Now(ctx))

		if err := step.Get(ctx, &state); err != nil {
			return false, err
		}

		if !state.ApprovalPending {
			called := state.Status == models.TripCancellationRunning || state.Status == models.TripCancellationDone
			if !called {
				drain(c.looks)
			}

			return called, c.show(ctx, string(state.Status), "The cancellation of the trip is "+string(state.Status)+".")
		}

		text := fmt.Sprintf("The trip is not listed any more. %d bookings are cancelled and %s %s go back when a second person approves it, "+
			"by %s.", state.Sums.Bookings, state.Sums.RefundTotal, models.Currency, state.Until.UTC().Format(time.RFC3339))
		if err := c.show(ctx, "NEEDS_APPROVAL", text); err != nil {
			return false, err
		}

		if err := c.await(ctx, state.Until.Sub(workflow.Now(ctx)), "Until the time for an approval is over"); err != nil {
			return false, err
		}
	}
}

// await waits, but not beyond a signal to look.
func (c *tripCancellation) await(ctx workflow.Context, pause time.Duration, why string) error {
	_, err := workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
		Timeout: max(pause, time.Second), TimerOptions: workflow.TimerOptions{Summary: why},
	}, func() bool { return c.looks.Len() > 0 })
	drain(c.looks)

	return err
}

// cancelBookings goes once over all bookings that are left, some at a time, and on in a new run where they are many.
func (c *tripCancellation) cancelBookings(ctx workflow.Context) error {
	for {
		if err := c.count(ctx); err != nil {
			return err
		}

		var ids []uuid.UUID

		dctx := withDatabase(ctx, "Read the next bookings of the trip")
		step := workflow.ExecuteLocalActivity(dctx, payments.NextTripBookings, c.order.TripID, c.order.After, tripBatch)

		if err := step.Get(ctx, &ids); err != nil {
			return err
		}

		if len(ids) == 0 {
			return c.idle(ctx)
		}

		if err := c.cancelEach(ctx, ids); err != nil {
			return err
		}

		if c.done += len(ids); c.done >= tripRun || workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return c.goOn(ctx)
		}
	}
}

// next waits until one more booking may be cancelled: not while an operator has paused it, nor too many at once.
func (c *tripCancellation) next(ctx workflow.Context) error {
	for c.order.Paused && c.failed == nil {
		if err := c.count(ctx); err != nil { // which shows that it is paused
			return err
		}

		err := workflow.Await(ctx, func() bool { return !c.order.Paused || c.looks.Len() > 0 })
		if err != nil {
			return err
		}

		drain(c.looks)

		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return c.goOn(ctx)
		}
	}

	if err := c.awaitRoom(ctx); err != nil {
		return err
	}

	if err := workflow.Await(ctx, func() bool { return c.busy < tripParallel || c.failed != nil }); err != nil {
		return err
	}

	return c.failed
}

// idle waits until nothing is being cancelled. Refunds go on by themselves.
func (c *tripCancellation) idle(ctx workflow.Context) error {
	if err := workflow.Await(ctx, func() bool { return c.starting == 0 || c.failed != nil }); err != nil {
		return err
	}

	return c.failed
}

// endCampaigns ends the campaigns of the trip; the days that they have not run go back.
func (c *tripCancellation) endCampaigns(ctx workflow.Context) error {
	var ids []uuid.UUID

	dctx := withDatabase(ctx, "Read the campaigns of the trip")
	if err := workflow.ExecuteLocalActivity(dctx, payments.TripCampaigns, c.order.TripID).Get(ctx, &ids); err != nil {
		return err
	}

	for _, id := range ids {
		if err := c.next(ctx); err != nil {
			return err
		}

		c.inParallel(ctx, func(ctx workflow.Context) (workflow.ChildWorkflowFuture, error) { return c.endCampaign(ctx, id) })
	}

	return c.idle(ctx)
}

// finish makes the trip CANCELLED once no booking and no campaign of it is live, or waits for the next pass.
func (c *tripCancellation) finish(ctx workflow.Context) error {
	dctx := withDatabase(ctx, "Make the trip CANCELLED if no booking and no campaign of it is live")
	if err := workflow.ExecuteLocalActivity(dctx, payments.FinishTripCancellation, c.order.ID).Get(ctx, &c.order.Ended); err != nil {
		return err
	}

	if c.order.Ended {
		return nil
	}

	if err := c.count(ctx); err != nil {
		return err
	}

	pause := min(firstPass<<min(c.order.Passes, 10), lastPass)
	if err := c.await(ctx, pause, "Until what is left is tried again"); err != nil {
		return err
	}

	c.order.After, c.order.Blocked = uuid.Nil, 0
	c.order.Passes++

	if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
		return c.goOn(ctx)
	}

	return nil
}

// awaitRefunds counts the refunds until no gateway has one to decide. Those that are paid out manually may take weeks.
func (c *tripCancellation) awaitRefunds(ctx workflow.Context) error {
	for rounds := 0; ; rounds++ {
		if err := c.count(ctx); err != nil {
			return err
		}

		if c.counts.Undecided == 0 {
			drain(c.looks)

			return nil
		}

		if rounds >= countRounds {
			return c.goOn(ctx)
		}

		if err := c.await(ctx, min(firstCount<<min(rounds, 10), lastPass), "Until the refunds are counted again"); err != nil {
			return err
		}
	}
}

// goOn leaves the rest to a new run, with nothing half-way.
func (c *tripCancellation) goOn(ctx workflow.Context) error {
	if err := c.idle(ctx); err != nil {
		return err
	}

	return workflow.NewContinueAsNewError(ctx, TripCancellation, c.order)
}

// count reads how far it is, and shows it.
func (c *tripCancellation) count(ctx workflow.Context) error {
	var n models.TripCancellationCounts // a new one: zeros are left out of what is kept

	dctx := withDatabase(ctx, "Count the bookings and refunds")
	if err := workflow.ExecuteLocalActivity(dctx, payments.CountTripCancellation, c.order.ID).Get(ctx, &n); err != nil {
		return err
	}

	c.counts = n
	status := string(models.TripCancellationRunning)
	text := fmt.Sprintf("%d of %d paid bookings are cancelled. Refunds: %d succeeded (%s %s), %d pending, %d failed.",
		n.Cancelled, n.Bookings, n.RefundsSucceeded, n.RefundedTotal, models.Currency, n.RefundsPending, n.RefundsFailed)

	if n.RefundsByHand > 0 {
		text += fmt.Sprintf(" %d wait for finance to pay them out manually.", n.RefundsByHand)
	}

	if c.order.Blocked > 0 {
		text += fmt.Sprintf(" %d bookings or campaigns cannot be cancelled now and are tried again: another refund of theirs is not "+
			"decided, or a dispute is open.", c.order.Blocked)
	}

	switch {
	case c.order.Paused:
		status = "PAUSED"
		text += " It is paused: signal resume to go on."
	case c.order.Ended:
		status = string(models.TripCancellationDone)
		text += " The trip is CANCELLED."
	}

	return c.show(ctx, status, text)
}

// show says to operators how the cancellation stands: in the details, the memo, and what they search by.
func (c *tripCancellation) show(ctx workflow.Context, status, text string) error {
	setDetails(ctx, text)

	err := workflow.UpsertTypedSearchAttributes(ctx, attrPaymentStatus.ValueSet("TRIP_"+status),
		attrNeedsReview.ValueSet(c.counts.RefundsFailed > 0 || c.order.Blocked > 0 && c.order.Passes > 0))
	if err != nil {
		return err
	}

	return workflow.UpsertMemo(ctx, map[string]any{"progress": TripCancellationShown{c.counts, c.order.Blocked, c.order.Paused}})
}
