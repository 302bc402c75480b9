package operations

import (
	"context"
	"time"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/store"
	"rihla/models"
)

// How often a waiting request looks: often while most payments are settled, then seldom.
const (
	lookSoon  = 100 * time.Millisecond
	lookLater = 500 * time.Millisecond
	soon      = 3 * time.Second
)

// GetPaymentStatus is what the success page polls. With wait it answers as soon as the payment is decided
// (contract §4).
func (o *Operations) GetPaymentStatus(
	ctx context.Context, r gen.GetPaymentStatusRequestObject,
) (gen.GetPaymentStatusResponseObject, error) {
	began := time.Now()
	wait := time.Duration(valueOf(r.Params.Wait)) * time.Second

	if wait > 0 {
		leave, err := o.ownPolls.take(actor(ctx))
		if err != nil {
			return nil, err
		}
		defer leave()
	}

	for {
		s, err := o.Store.PaymentStatus(ctx, r.ID)
		if err != nil {
			return nil, err
		}

		if !readsBooking(ctx, s.UserID) {
			return nil, models.NotFound()
		}

		left := wait - time.Since(began)
		if s.PaymentStatus != models.TransactionPending || left <= 0 {
			return gen.GetPaymentStatus200JSONResponse{Data: statusOf(ctx, &s)}, nil
		}

		pause := lookSoon
		if time.Since(began) > soon {
			pause = lookLater
		}

		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(min(pause, left)):
		}
	}
}

func statusOf(ctx context.Context, s *store.PaymentStatus) gen.PaymentStatus {
	label := s.PaymentStatus.UILabel()
	out := gen.PaymentStatus{
		BookingID: s.BookingID, BookingStatus: s.BookingStatus, PaymentStatus: s.PaymentStatus,
		TransactionID: models.BookingAttemptID(s.BookingID, 1), PaymentMethod: s.Method,
		Amount: s.Amount, Currency: s.Currency, ExpiresAt: utcOrNil(s.ExpiresAt), FailureCode: s.FailureCode,
		UILabel: label.In(middleware.Locale(ctx)), UILabelAr: label.AR, UILabelEn: label.EN, UpdatedAt: utc(s.UpdatedAt),
	}

	if s.TransactionID != nil {
		out.TransactionID = *s.TransactionID
	}

	if s.PaymentStatus == models.TransactionPending {
		out.CheckoutURL = s.CheckoutURL
	}

	return out
}
