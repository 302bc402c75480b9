package operations

import (
	"context"
	"errors"
	"net/http"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/store/payments"
)

// SendCheckoutLink sends a booking's contact the address at which the booking is paid (rules: notifications.checkout-link).
func (o *Operations) SendCheckoutLink(
	ctx context.Context, r gen.SendCheckoutLinkRequestObject,
) (gen.SendCheckoutLinkResponseObject, error) {
	sending, err := o.Store.Payments.SendCheckout(ctx, actor(ctx), payments.SendCheckout{
		BookingID: r.ID,
		Once:      keepAnswer(ctx, http.StatusAccepted, func(s payments.CheckoutSending) any { return checkoutSent(&s) }),
	}, o.Now())

	if many, ok := errors.AsType[*payments.TooManySendingsError](err); ok {
		return nil, middleware.RetryAfter(many.Domain, many.After)
	}

	if err != nil {
		return nil, err
	}

	o.mailQueued(ctx)

	return checkoutSent(&sending), nil
}

// checkoutSent names addresses by their masks: the answer is kept with the request's key.
func checkoutSent(s *payments.CheckoutSending) gen.SendCheckoutLink202JSONResponse {
	return gen.SendCheckoutLink202JSONResponse{Data: gen.CheckoutSending{
		BookingID: s.Booking.ID, BookingNumber: s.Booking.Number, TransactionID: s.Attempt.ID, ExpiresAt: utc(s.Attempt.ExpiresAt),
		QueuedAt: utc(s.At), SendingsLeft: s.Left(), NextAt: utcOrNil(s.NextAt()),
		Messages: mapEach(s.Messages, maskedMessage),
	}}
}
