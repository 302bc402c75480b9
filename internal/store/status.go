package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"rihla/models"
)

// PaymentStatus is what a waiting customer polls for (contract §4). What belongs to an attempt is zero while the
// booking has none.
type PaymentStatus struct {
	BookingID     uuid.UUID
	UserID        uuid.UUID // the owner of the booking
	BookingStatus models.BookingStatus
	PaymentStatus models.TransactionStatus
	TransactionID *uuid.UUID
	Method        models.PaymentMethod
	Amount        models.Money // SAR, VAT included
	Currency      string
	CheckoutURL   *string
	ExpiresAt     *time.Time
	FailureCode   *models.FailureCode
	UpdatedAt     time.Time
}

// The attempt that was paid tells more than one that came after it. A refund never changes the attempt's own
// status (spec 3.5), only how much of it has been given back.
const paymentStatusSQL = `
SELECT bk.id, bk.user_id, bk.status, bk.amount, bk.currency,
       CASE WHEN pt.status = 'PAID' AND pt.refunded_amount = pt.amount THEN 'REFUNDED'
            WHEN pt.status = 'PAID' AND pt.refunded_amount > 0 THEN 'PARTIAL_REFUND'
            ELSE COALESCE(pt.status, '') END,
       pt.id, COALESCE(pt.payment_method, ''), pt.checkout_url, pt.expires_at, pt.failure_code,
       GREATEST(bk.updated_at, pt.updated_at)
FROM bookings AS bk
LEFT JOIN LATERAL (
    SELECT * FROM payment_transactions WHERE booking_id = bk.id AND kind = 'PAYMENT'
    ORDER BY status = 'PAID' DESC, attempt DESC LIMIT 1
) AS pt ON true
WHERE bk.id = $1`

// PaymentStatus reads the state of a booking's payment: that of the paid attempt, else of the newest, else
// what the booking's own state says of it (BookingStatus.Unattempted); after a refund REFUNDED or PARTIAL_REFUND. It is
// the hottest read of the service, hence the prepared statement.
// Error: NOT_FOUND.
func (s *Store) PaymentStatus(ctx context.Context, booking uuid.UUID) (PaymentStatus, error) {
	var p PaymentStatus

	err := s.raw.QueryRowContext(ctx, paymentStatusSQL, pgx.QueryExecModeCacheStatement, booking).Scan(
		&p.BookingID, &p.UserID, &p.BookingStatus, &p.Amount, &p.Currency, &p.PaymentStatus,
		&p.TransactionID, &p.Method, &p.CheckoutURL, &p.ExpiresAt, &p.FailureCode, &p.UpdatedAt)
	if err != nil {
		return PaymentStatus{}, found(err)
	}

	if p.TransactionID == nil {
		p.PaymentStatus, p.FailureCode = p.BookingStatus.Unattempted()
	}

	return p, nil
}
