package refunds

import (
	"context"

	"github.com/google/uuid"

	"rihla/models"
)

// PaymentOf is the payment whose money the refund would give back that is asked for. Errors: NOT_FOUND, BOOKING_NOT_REFUNDABLE.
func (s *Store) PaymentOf(ctx context.Context, r models.RefundRequest) (models.PaymentTransaction, error) {
	if r.TransactionID != uuid.Nil {
		return s.payments.TransactionByID(ctx, r.TransactionID)
	}

	t, err := refundable(ctx, s.db.NewSelect(), r.BookingID)
	if err != nil {
		return models.PaymentTransaction{}, err
	}

	return *t, nil
}
