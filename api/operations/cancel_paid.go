package operations

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/models"
)

// CancelPaidBooking cancels passengers of a paid booking and orders what goes back for them (rules: cancellations.effect). From the order
// on it is certain, whatever becomes of the wait for the gateway.
func (o *Operations) CancelPaidBooking(
	ctx context.Context, r gen.CancelPaidBookingRequestObject,
) (gen.CancelPaidBookingResponseObject, error) {
	if (r.Body.Refund == models.CancelByAmount) != (r.Body.Amount != nil) {
		return nil, models.Invalid("amount", "refund.amount_with_amount")
	}

	order, cancel := o.cancelOrder(ctx, &r)

	var err error
	if order.AtMost, err = o.atMost(ctx); err != nil {
		return nil, err
	}

	o.compare(ctx, order)

	done, err := o.Store.Refunds.Cancel(ctx, order, cancel, o.Now())
	if err != nil {
		return nil, err
	}

	o.lookAtRequest(ctx, done.Cancellation.Withdrawn)

	if done.Refund != nil && done.Refund.Status == models.RefundPending {
		if done.Refund.JustOrdered {
			o.Metrics.RefundOrdered(order.Role, done.Refund.Amount)
		}

		o.executeRefund(ctx, *done.Refund)
	}

	ctx, release := detached(ctx)
	defer release()

	body, err := o.bookingOf(ctx, r.ID)
	if err != nil {
		return nil, err
	}

	part := done.Cancellation.Part()

	return gen.CancelPaidBooking200JSONResponse{Data: labelled(gen.CancelledBooking{
		Booking: body, CancellationID: done.Cancellation.ID, CancellationStatus: done.Cancellation.Status,
		RefundID: done.Cancellation.RefundID, RefundAmount: part.Refund, FeeAmount: part.Fee(),
		Currency: models.Currency,
	})}, nil
}

// cancelOrder gives a cancellation and its refund their identity: the caller's key, or one of their own.
func (o *Operations) cancelOrder(ctx context.Context, r *gen.CancelPaidBookingRequestObject) (models.RefundRequest, models.CancelOrder) {
	order := ownRequest(ctx, r.ID, nil)
	identity := uuid.NewString()

	if r.Params.IdempotencyKey != nil {
		claim := middleware.Claim(ctx)
		identity = order.RequestedBy.String() + ":" + r.Params.IdempotencyKey.String()
		order.Claim, order.BodyHash = claim.ID, middleware.KeyScope(ctx).BodyHash
	}

	order.ID, order.BookingID, order.Reason = models.RefundID(r.ID, "cancel:"+identity), r.ID, valueOf(r.Body.Reason)
	order.Bearer, order.Expected = valueOf(r.Body.Bearer), r.Body.ExpectedAmount

	return order, models.CancelOrder{
		ID:         cmp.Or(middleware.Claim(ctx).ResourceID, models.CancellationID(r.ID, identity)),
		Passengers: r.Body.PassengerIds, RefundBy: r.Body.Refund, Amount: r.Body.Amount, Cause: valueOf(r.Body.Cause),
	}
}

// addRefunds adds to a booking what was ordered back for it, what was kept, and its cancellation requests. While its first attempt is
// open no money has arrived, and there is nothing to read.
func (o *Operations) addRefunds(ctx context.Context, b *gen.Booking, attempt *models.PaymentTransaction) error {
	if attempt != nil && attempt.ID == models.BookingAttemptID(b.ID, 1) && attempt.Status == models.TransactionPending {
		b.RefundedAmount, b.CancellationFee = new(models.Money), new(models.Money)

		return nil
	}

	rows, err := o.Store.Refunds.OfBooking(ctx, b.ID)
	if err != nil {
		return err
	}

	var back models.Money

	for i := range rows {
		if rows[i].Status == models.RefundSucceeded && rows[i].Currency == models.Currency {
			back = back.Add(rows[i].Amount)
		}
	}

	fee, err := o.Store.Refunds.FeeOf(ctx, b.ID)
	if err != nil {
		return err
	}

	b.RefundedAmount, b.CancellationFee, b.Refunds = &back, &fee, mapEach(rows, bookingRefundOf)
	b.CancellationRequests, err = o.cancellationRequestsOf(ctx, b.ID)

	return err
}

func bookingRefundOf(r *models.Refund) gen.BookingRefund {
	label := r.Status.Label()
	out := gen.BookingRefund{
		ID: r.ID, Amount: r.Amount, Currency: r.Currency, Status: r.Status, StatusLabelAr: label.AR, StatusLabelEn: label.EN,
		RequestedAt: utc(r.CreatedAt),
		CompletedAt: utcOrNil(r.CompletedAt),
	}

	out.ExpectedBy = toDateOrNil(r.ExpectedBy())

	return out
}
