package operations

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/models"
	"rihla/workflows"
)

// closeSoon is how long a cancellation waits for the gateway to close its checkout before it answers 202.
const closeSoon = time.Second

// CancelBooking gives up an unpaid booking (rules: bookings.cancel). The database decides, in one transaction; the gateway's
// checkout is closed after it. 202 says that the gateway has not answered within closeSoon: the attempt's workflow goes on closing.
func (o *Operations) CancelBooking(ctx context.Context, r gen.CancelBookingRequestObject) (gen.CancelBookingResponseObject, error) {
	b, pending, err := o.Store.Payments.CancelBooking(ctx, actor(ctx), r.ID, o.Now())
	if err != nil {
		return nil, err
	}

	o.announceDecided(ctx, b.ID)

	closed := pending == nil || o.closeCheckout(ctx, pending.ID)

	ctx, cancel := detached(ctx)
	defer cancel()

	body, err := o.bookingOf(ctx, b.ID)
	if err != nil {
		return nil, err
	}

	if !closed {
		return gen.CancelBooking202JSONResponse{Data: body}, nil
	}

	return gen.CancelBooking200JSONResponse{Data: body}, nil
}

// closeCheckout has the attempt's workflow close the checkout at the gateway, and reports whether that is done. The booking is
// cancelled either way: the workflow goes on closing, and one that could not be told is followed by the late checks. Money that
// arrives before is given back.
func (o *Operations) closeCheckout(ctx context.Context, attempt uuid.UUID) (closed bool) {
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(closeSoon, o.CheckoutWait))
	defer cancel()

	_, err := o.Workflows.CancelPayment(wait, attempt)
	if err != nil && !errors.Is(err, workflows.ErrStillRunning) && models.CodeOf(err) != models.CodeNotFound {
		o.Log.WarnContext(ctx, "checkout of a cancelled booking not closed; it expires, or a late check closes it",
			"transaction_id", attempt, "request_id", middleware.RequestID(ctx), "error", err)
	}

	return err == nil
}
