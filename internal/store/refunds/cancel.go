package refunds

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// Cancelled is what became of a request to cancel passengers.
type Cancelled struct {
	Cancellation models.Cancellation
	Refund       *models.Refund // nil: nothing goes back
}

// Cancel cancels passengers of a paid booking, and orders what goes back to the customer, in one SQL transaction (rules:
// cancellations.effect): the passengers are CANCELLED and their seats free. When the refund needs an approval the cancellation is
// PENDING, and takes effect with it. r names the booking, and o what is cancelled. The same id again returns what was done. Errors:
// NOT_FOUND; FORBIDDEN (of one's own booking); VALIDATION_ERROR on passenger_ids and amount; INVALID_STATE when the booking is not
// CONFIRMED, a passenger is cancelled, or another cancellation waits for an approval; and those of OrderRefund.
func (s *Store) Cancel(ctx context.Context, r models.RefundRequest, o models.CancelOrder, now time.Time) (Cancelled, error) {
	var out Cancelled

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		out, err = s.CancelIn(ctx, tx, r, o, now)

		return err
	})

	return out, err
}

// CancelIn is Cancel within the caller's transaction.
func (s *Store) CancelIn(ctx context.Context, tx bun.Tx, r models.RefundRequest, o models.CancelOrder, now time.Time) (Cancelled, error) {
	if err := db.BindKey(ctx, tx, r.Claim, o.ID); err != nil {
		return Cancelled{}, err
	}

	if err := lockRefundID(ctx, tx, o.ID); err != nil {
		return Cancelled{}, err
	}

	known, err := cancellationByID(ctx, tx, o.ID)
	if err == nil || models.CodeOf(err) != models.CodeNotFound {
		return s.cancelledBefore(ctx, tx, &known, &r, err)
	}

	t, err := lockCancellable(ctx, tx, &r)
	if err != nil {
		return Cancelled{}, err
	}

	if err := ledger.NotDisputed(ctx, tx, t.ID); err != nil {
		return Cancelled{}, err
	}

	plan, err := s.planCancellation(ctx, tx, t, &r, o, now)
	if err != nil {
		return Cancelled{}, err
	}

	if err := noRefundWaits(ctx, tx, t, r.RequestedBy == nil && o.Cause == models.RefundTripCancelled); err != nil {
		return Cancelled{}, err
	}

	if plan.cancellation.RefundAmount.IsPositive() {
		if err := s.planOrder(ctx, tx, &r, t, plan, now); err != nil {
			return Cancelled{}, err
		}

		if err := s.writeOrder(ctx, tx, r, plan, t); err != nil {
			return Cancelled{}, err
		}
	} else if r.Expected != nil && !r.Expected.IsZero() {
		return Cancelled{}, models.RefundAmountChanged(models.Money{})
	}

	if err := plan.keep(ctx, tx, &r, now); err != nil {
		return Cancelled{}, err
	}

	return plan.done(), nil
}

// cancelledBefore is what an earlier call with the same id has done. Error: IDEMPOTENCY_KEY_REUSED for another request.
func (s *Store) cancelledBefore(
	ctx context.Context, tx bun.Tx, known *models.Cancellation, r *models.RefundRequest, err error,
) (Cancelled, error) {
	if err != nil {
		return Cancelled{}, err
	}

	if known.BookingID != r.BookingID || known.BodyHash != nil && r.BodyHash != nil && !bytes.Equal(known.BodyHash, r.BodyHash) {
		return Cancelled{}, models.NewError(models.CodeIdempotencyKeyReused, "idempotency.other_refund")
	}

	if err := readKept(ctx, tx, known); err != nil {
		return Cancelled{}, err
	}

	out := Cancelled{Cancellation: *known}

	if known.RefundID != nil {
		var refund models.Refund
		if err := tx.NewSelect().Model(&refund).Where("id = ?", *known.RefundID).Scan(ctx); err != nil {
			return Cancelled{}, fmt.Errorf("read refund: %w", err)
		}

		out.Refund = &refund
	}

	return out, nil
}

func cancellationByID(ctx context.Context, in bun.IDB, id uuid.UUID) (models.Cancellation, error) {
	var c models.Cancellation

	err := in.NewSelect().Model(&c).Where("cn.id = ?", id).Scan(ctx)

	return c, db.NotFound(err)
}

// lockCancellable locks the payment by which the booking was bought. Errors: NOT_FOUND; FORBIDDEN for who has booked or paid;
// INVALID_STATE when nothing was paid.
func lockCancellable(ctx context.Context, tx bun.Tx, r *models.RefundRequest) (*models.PaymentTransaction, error) {
	b, err := bookedBy(ctx, tx, r.BookingID)
	if err != nil {
		return nil, err
	}

	t, err := boughtBy(ctx, tx.NewSelect().For("NO KEY UPDATE"), &b)

	switch {
	case err != nil:
		return nil, err
	case r.RequestedBy != nil && (t.UserID == *r.RequestedBy || b.UserID == *r.RequestedBy):
		return nil, models.NewError(models.CodeForbidden, "refund.own")
	}

	return t, nil
}

func bookedBy(ctx context.Context, tx bun.Tx, booking uuid.UUID) (models.Booking, error) {
	var b models.Booking

	err := tx.NewSelect().Model(&b).Column("id", "user_id", "status").Where("id = ?", booking).Scan(ctx)

	return b, db.NotFound(err)
}

// orderPlan is a refund, or a cancellation, or both, before they are written.
type orderPlan struct {
	refund       models.Refund
	cancellation *models.Cancellation // nil: nothing is cancelled by the order
	booking      *models.Booking      // of the cancellation; locked
	request      uuid.UUID            // the customer's request that is carried out; uuid.Nil: none
}

func (p *orderPlan) done() Cancelled {
	out := Cancelled{Cancellation: *p.cancellation}
	if p.cancellation.RefundID != nil {
		out.Refund = &p.refund
	}

	return out
}

// planCancellation works out what is cancelled and what goes back for it. t is locked; the booking is locked by it.
func (s *Store) planCancellation(
	ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, r *models.RefundRequest, o models.CancelOrder, now time.Time,
) (*orderPlan, error) {
	b, err := bookings.LockBooking(ctx, tx, *t.BookingID)
	if err != nil {
		return nil, err
	}

	if err := b.Cancellable(); err != nil {
		return nil, err
	}

	positions, err := b.PositionsOf(o.Passengers)
	if err != nil {
		return nil, err
	}

	all, err := cancellationsOf(ctx, tx, b.ID)
	if err != nil {
		return nil, err
	}

	c := &models.Cancellation{
		ID: o.ID, BookingID: b.ID, PaymentTransactionID: t.ID, N: len(all) + 1, Status: models.CancellationDone, Positions: positions,
		RefundBy: o.RefundBy, Cause: o.Cause, Reason: r.Reason, CancelledBy: r.RequestedBy, BodyHash: r.BodyHash,
	}
	plan := &orderPlan{cancellation: c, booking: &b, request: o.RequestID}

	earlier, err := earlierParts(all)
	if err != nil {
		return nil, err
	}

	return plan, s.price(ctx, tx, t, earlier, o, plan, now)
}

// noRefundWaits refuses while a refund of the payment waits for an approval: it reserves money that is free again if it is rejected, and
// the passengers would have been cancelled for less than their share. Of a trip that is called off no refund may be undecided, but those of
// cancellations, which are owed whatever their gateway says. Error: INVALID_STATE.
func noRefundWaits(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, tripOff bool) error {
	q := tx.NewSelect().Model((*models.Refund)(nil)).Where("rf.payment_transaction_id = ?", t.ID).Where("rf.status = ?", models.RefundPending)
	if tripOff {
		q = q.Where("(rf.approval_pending OR NOT EXISTS (SELECT FROM cancellations AS made WHERE made.refund_id = rf.id))")
	} else {
		q = q.Where("rf.approval_pending")
	}

	waits, err := q.Exists(ctx)

	switch {
	case err != nil:
		return fmt.Errorf("look for refunds that wait: %w", err)
	case waits:
		return models.NewError(models.CodeInvalidState, "cancellation.refund_waits")
	default:
		return nil
	}
}
