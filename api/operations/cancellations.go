package operations

import (
	"context"
	"errors"
	"log/slog"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/models"
	"rihla/workflows"
)

// CancelBooking gives up an unpaid booking (contract §4). The database decides, in one transaction; the gateway's
// checkout is closed after it.
func (o *Operations) CancelBooking(ctx context.Context, r gen.CancelBookingRequestObject) (gen.CancelBookingResponseObject, error) {
	b, pending, err := o.Store.CancelBooking(ctx, r.ID, actor(ctx), o.Now())
	if err != nil {
		return nil, err
	}

	if pending != nil {
		o.closeCheckout(ctx, pending.ID)
	}

	ctx, cancel := aftermath(ctx)
	defer cancel()

	body, err := o.bookingOf(ctx, &b)

	return gen.CancelBooking200JSONResponse{Data: body}, err
}

// closeCheckout has the attempt's workflow close the checkout at the gateway. That the booking is cancelled is true
// whatever comes of it: a workflow that cannot be asked now closes the checkout when it expires, and money that
// arrives before is given back.
func (o *Operations) closeCheckout(ctx context.Context, attempt uuid.UUID) {
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.CheckoutWait)
	defer cancel()

	_, err := o.Workflows.CancelPayment(wait, attempt)
	if err == nil || models.CodeOf(err) == models.CodeNotFound || errors.Is(err, workflows.ErrStillRunning) {
		return
	}

	slog.WarnContext(ctx, "checkout of a cancelled booking stays open until it expires",
		"transaction_id", attempt, "request_id", middleware.RequestID(ctx), "error", err)
}
