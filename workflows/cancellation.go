package workflows

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"rihla/models"
)

// SignalCancellationDecided tells a cancellation request that it was decided, or that its trip was moved; what is true is in the database.
const SignalCancellationDecided = "cancellation-decided"

// lookAgainAfter is how long until the database is looked at again.
const lookAgainAfter = 24 * time.Hour

// cancellationRounds is after how many looks a request goes on in a new run: each is half a dozen events.
const cancellationRounds = 100

// Cancellation waits for the decision about a customer's request to cancel passengers of a paid booking (rules: cancellations.request). Who
// decides has it done in the database, and signals; this reminds finance staff of it once, and ends the request when its trip departs. It
// looks once a day, and at each signal.
func Cancellation(ctx workflow.Context, id uuid.UUID) (models.CancellationRequestStatus, error) {
	looks := workflow.GetSignalChannel(ctx, SignalCancellationDecided)
	reminded := false

	for rounds := 1; ; rounds++ {
		var state models.OpenCancellation

		drain(looks)

		dctx := withDatabase(ctx, "Read how the request stands; once its trip has departed, it expires")
		if err := workflow.ExecuteLocalActivity(dctx, payments.LookAtCancellation, id, workflow.Now(ctx)).Get(ctx, &state); err != nil {
			return state.Status, err
		}

		if err := showCancellation(ctx, &state, reminded); err != nil {
			return state.Status, err
		}

		if state.Status != models.CancellationRequested {
			drain(looks)

			return state.Status, nil
		}

		if rounds >= cancellationRounds || workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			drain(looks) // the new run looks at once

			return state.Status, workflow.NewContinueAsNewError(ctx, Cancellation, id)
		}

		if err := awaitLook(ctx, nextLook(ctx, &state, reminded), looks); err != nil {
			return state.Status, err
		}

		if !reminded && looks.Len() == 0 && !workflow.Now(ctx).Before(state.RemindAt) {
			reminded = true

			dctx := withDatabase(ctx, "Remind finance staff of a request that waits")
			if err := workflow.ExecuteLocalActivity(dctx, payments.RemindOfCancellation, id).Get(ctx, nil); err != nil {
				return state.Status, err
			}
		}
	}
}

// nextLook is a day from now, the reminder or the departure, whichever comes first.
func nextLook(ctx workflow.Context, s *models.OpenCancellation, reminded bool) time.Time {
	next := workflow.Now(ctx).Add(lookAgainAfter)
	if !reminded && s.RemindAt.Before(next) {
		next = s.RemindAt
	}

	if s.Until.Before(next) {
		next = s.Until
	}

	return next
}

// awaitLook waits until it is time to look at the request again, or until a signal says so.
func awaitLook(ctx workflow.Context, at time.Time, looks workflow.ReceiveChannel) error {
	_, err := workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
		Timeout:      max(at.Sub(workflow.Now(ctx)), time.Second),
		TimerOptions: workflow.TimerOptions{Summary: "Until the reminder, the next look or the departure"},
	}, func() bool { return looks.Len() > 0 })

	return err
}

// showCancellation says to operators how the request stands.
func showCancellation(ctx workflow.Context, s *models.OpenCancellation, reminded bool) error {
	text := fmt.Sprintf("The request to cancel %d seats is %s.", s.Seats, s.Status)

	if s.Status == models.CancellationRequested {
		text = fmt.Sprintf("A customer asks to cancel %d seats; %s %s go back if it is approved. Finance staff decide, or it expires at "+
			"departure, %s.", s.Seats, s.Amount, models.Currency, s.Until.UTC().Format(time.RFC3339))
		if reminded {
			text += " Finance staff were reminded."
		}
	}

	setDetails(ctx, text)

	return workflow.UpsertTypedSearchAttributes(ctx, attrPaymentStatus.ValueSet("CANCELLATION_"+string(s.Status)),
		attrBookingID.ValueSet(s.BookingID.String()),
		attrNeedsReview.ValueSet(reminded && s.Status == models.CancellationRequested))
}
