package refunds

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// lockRefundable finds and locks the attempt whose money is asked back: the one that is named, or the booking's refundable.
// Error: FORBIDDEN when who asks has booked or paid it.
func lockRefundable(ctx context.Context, tx bun.Tx, r models.RefundRequest) (*models.PaymentTransaction, error) {
	var booker uuid.UUID

	// A request that names no payment names a booking, be it one that cannot be.
	if r.BookingID != uuid.Nil || r.TransactionID == uuid.Nil {
		err := tx.NewSelect().Model((*models.Booking)(nil)).Column("user_id").Where("id = ?", r.BookingID).Scan(ctx, &booker)
		if err != nil {
			return nil, db.NotFound(err)
		}
	}

	t, err := lockPayment(ctx, tx, r)
	if err == nil && r.RequestedBy != nil && (t.UserID == *r.RequestedBy || booker == *r.RequestedBy) {
		return nil, models.NewError(models.CodeForbidden, "refund.own")
	}

	return t, err
}

func lockPayment(ctx context.Context, tx bun.Tx, r models.RefundRequest) (*models.PaymentTransaction, error) {
	if r.TransactionID != uuid.Nil && r.BookingID == uuid.Nil {
		t, err := ledger.LockTransaction(ctx, tx, r.TransactionID)

		return &t, err
	}

	// A refund that is ordered stays with its attempt, whatever else has been refunded since.
	var known models.Refund

	err := tx.NewSelect().Model(&known).Where("id = ?", r.ID).Scan(ctx)

	switch {
	case err == nil:
		t, err := ledger.LockTransaction(ctx, tx, known.PaymentTransactionID)

		return &t, err
	case !errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("read refund: %w", err)
	case r.TransactionID != uuid.Nil:
		return lockNamed(ctx, tx, r)
	default:
		return refundable(ctx, tx.NewSelect().For("NO KEY UPDATE"), r.BookingID)
	}
}

// lockNamed locks the attempt that was named, when it is one of the booking. Errors: VALIDATION_ERROR,
// BOOKING_NOT_REFUNDABLE.
func lockNamed(ctx context.Context, tx bun.Tx, r models.RefundRequest) (*models.PaymentTransaction, error) {
	t, err := ledger.LockTransaction(ctx, tx, r.TransactionID)

	switch {
	case models.CodeOf(err) == models.CodeNotFound,
		err == nil && (t.Kind == models.KindRefund || t.BookingID == nil || *t.BookingID != r.BookingID):
		return nil, models.Invalid("payment_transaction_id", "refund.foreign_payment")
	case err == nil && t.SuspenseAt != nil && r.Type != models.RefundFull:
		return nil, models.NewError(models.CodeBookingNotRefundable, "refund.suspense_whole")
	case err == nil && t.TakenAt() == nil:
		return nil, models.NewError(models.CodeBookingNotRefundable, "refund.payment_not_paid")
	default:
		return &t, err
	}
}

// refundable is the attempt of a booking whose money a refund gives back: the paid one, or money that came too late and
// has not gone back; of several the one with something left. All of them are read, so that q may lock them all: which one
// has something left is only known then. Error: BOOKING_NOT_REFUNDABLE.
func refundable(ctx context.Context, q *bun.SelectQuery, booking uuid.UUID) (*models.PaymentTransaction, error) {
	var taken []models.PaymentTransaction

	err := q.Model(&taken).Where("booking_id = ?", booking).
		Where("kind IN (?)", bun.List(models.Paying())).Where("captured_at IS NOT NULL").Order("id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read payments: %w", err)
	}

	if len(taken) == 0 {
		return nil, models.NewError(models.CodeBookingNotRefundable, "booking.not_paid")
	}

	best := slices.MinFunc(taken, func(a, b models.PaymentTransaction) int {
		return cmp.Or(
			db.CompareBool(a.Remaining().IsPositive(), b.Remaining().IsPositive()),
			db.CompareBool(a.Status == models.TransactionPaid, b.Status == models.TransactionPaid),
			cmp.Compare(b.Attempt, a.Attempt),
		)
	})

	return &best, nil
}

// reserveAmount is the guarded UPDATE that two refunds can not both win; the table's CHECK says the same.
func reserveAmount(ctx context.Context, tx bun.Tx, id uuid.UUID, amount models.Money) error {
	res, err := tx.NewUpdate().Model((*models.PaymentTransaction)(nil)).
		Set("refund_reserved_amount = refund_reserved_amount + ?", amount).Set("updated_at = now()").
		Where("id = ?", id).
		Where("refunded_amount + refund_reserved_amount + outside_refunded_amount + ? <= COALESCE(captured_amount, amount)", amount).Exec(ctx)
	if err != nil {
		return fmt.Errorf("reserve refund: %w", err)
	}

	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, models.NewError(models.CodeRefundExceedsRemaining, "refund.exceeds"))
	}

	return nil
}
