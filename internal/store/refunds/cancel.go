package refunds

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/internal/store/outbox"
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

// keep writes the cancellation, and carries it out unless it waits for an approval.
func (p *orderPlan) keep(ctx context.Context, tx bun.Tx, r *models.RefundRequest, now time.Time) error {
	c := p.cancellation

	if c.RefundAmount.IsPositive() {
		c.RefundID = &p.refund.ID
	}

	if p.refund.ApprovalPending && c.RefundID != nil {
		c.Status = models.CancellationPending
	} else {
		at := now.Truncate(time.Microsecond)
		c.DoneAt = &at
	}

	if _, err := tx.NewInsert().Model(c).Returning("created_at").Exec(ctx); err != nil {
		return fmt.Errorf("insert cancellation: %w", err)
	}

	before := seatsOf(p.booking)

	if c.Status == models.CancellationDone {
		if err := bookings.CancelPassengers(ctx, tx, p.booking, c, now); err != nil {
			return err
		}

		if err := bookings.CloseRequest(ctx, tx, p.booking, p.request, now); err != nil {
			return err
		}

		if err := tellCancelled(ctx, tx, c); err != nil {
			return err
		}
	}

	actor := db.Actor{Role: r.Role, RequestID: r.RequestID, Address: r.Address, UserAgent: r.UserAgent}
	if r.RequestedBy != nil {
		actor.UserID = *r.RequestedBy
	}

	return auditCancellation(ctx, tx, actor, c, before, seatsOf(p.booking))
}

// tellCancelled tells the customer whose passengers were cancelled what goes back for them, and the company that they were.
func tellCancelled(ctx context.Context, tx bun.Tx, c *models.Cancellation) error {
	b, payment, trip, err := MessageSubject(ctx, tx, c.BookingID)
	if err != nil {
		return err
	}

	facts := outbox.BookingFacts(&b, &trip, c.RefundAmount)
	facts["seats"] = strconv.Itoa(c.Seats)

	if b.Status == models.BookingConfirmed {
		facts["booking_stays"] = "true"
	}

	if c.Cause == models.RefundTripCancelled {
		facts["trip_cancelled"] = "true"
	}

	_, err = outbox.InsertMessages(ctx, tx, outbox.NewMessages(models.NotifyBookingCancelled, payment, c.ID.String(), b.Locale,
		b.ContactEmail, b.ContactPhone, facts))
	if err != nil {
		return err
	}

	if c.Cause == models.RefundTripCancelled && c.CancelledBy == nil {
		return nil // the company has called the trip off itself: it needs no mail about each booking
	}

	_, err = outbox.TellCompany(ctx, tx, b.ProviderID, func() ([]outbox.CompanyNews, error) {
		return []outbox.CompanyNews{{
			Message: models.CompanyCancelled, Transaction: payment, Cause: c.ID.String(), Data: outbox.CompanyData(&b, &trip, c.Seats),
		}}, nil
	}, models.CompanyCancelled)

	return err
}

// seatsOf is what a cancellation changes of a booking, for the audit log.
func seatsOf(b *models.Booking) map[string]any {
	return map[string]any{"status": b.Status, "seats": b.Seats}
}

func auditCancellation(ctx context.Context, tx bun.Tx, by db.Actor, c *models.Cancellation, before, after map[string]any) error {
	return db.Audit(ctx, tx, by, models.AuditBookingCancelled, models.EntityBooking, &c.BookingID, map[string]any{
		"cancellation_id": c.ID, "status": c.Status, "positions": c.Positions, "refund_by": c.RefundBy, "percent": c.Percent,
		"paid_amount": c.PaidAmount, "refund_amount": c.RefundAmount, "refund_id": c.RefundID, "cause": c.Cause,
		"reason_sha256": reasonDigest(c.Reason), "before": before, "after": after,
	})
}

// takeUpCancellation carries out, or voids, the cancellation whose refund's approval was just decided.
func (st *refundSettlement) takeUpCancellation(ctx context.Context) error {
	var c models.Cancellation

	err := st.tx.NewSelect().Model(&c).Where("cn.refund_id = ?", st.r.ID).Where("cn.status = ?", models.CancellationPending).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}

	if err != nil {
		return fmt.Errorf("read cancellation: %w", err)
	}

	b, err := bookings.LockBooking(ctx, st.tx, c.BookingID)
	if err != nil {
		return err
	}

	before := seatsOf(&b)

	c.Status = models.CancellationVoid
	if st.r.IsApproved() {
		at := st.now.Truncate(time.Microsecond)
		c.Status, c.DoneAt = models.CancellationDone, &at
	}

	res, err := st.tx.NewUpdate().Model(&c).Column("status", "done_at").WherePK().
		Where(db.Still, bun.Ident("status"), models.CancellationPending).Exec(ctx)
	if err != nil {
		return fmt.Errorf("end cancellation: %w", err)
	}

	if err := db.AffectedOne(res, "cancellation"); err != nil {
		return err
	}

	if c.Status == models.CancellationDone {
		if err := bookings.CancelPassengers(ctx, st.tx, &b, &c, st.now); err != nil {
			return err
		}

		if err := bookings.CloseRequest(ctx, st.tx, &b, uuid.Nil, st.now); err != nil {
			return err
		}

		if err := tellCancelled(ctx, st.tx, &c); err != nil {
			return err
		}
	}

	return auditCancellation(ctx, st.tx, db.Actor{RequestID: st.r.RequestID}, &c, before, seatsOf(&b))
}

// cancelled reports whether passengers were cancelled by the refund's order: then it is owed, whatever becomes of it at the gateway.
func (st *refundSettlement) cancelled(ctx context.Context) (bool, error) {
	done, err := st.tx.NewSelect().Model((*models.Cancellation)(nil)).Where("cn.refund_id = ?", st.r.ID).
		Where("cn.status = ?", models.CancellationDone).Exists(ctx)
	if err != nil {
		return false, fmt.Errorf("read cancellation: %w", err)
	}

	return done, nil
}

// turnManual leaves a refund that is owed and that its gateway did not make to finance staff: it stays PENDING and reserved, as a manual
// payout, and an incident says so.
func (st *refundSettlement) turnManual(ctx context.Context, words string) error {
	st.r.Channel, st.r.TurnedManualAt, st.r.FailureReason = models.RefundByHand, &st.now, words

	res, err := st.tx.NewUpdate().Model(st.r).Column("channel", "turned_manual_at", "failure_reason").Set("updated_at = ?", st.now).WherePK().
		Where(db.Still, bun.Ident("status"), models.RefundPending).Exec(ctx)
	if err != nil {
		return fmt.Errorf("leave refund to a manual payout: %w", err)
	}

	if err := db.AffectedOne(res, "refund"); err != nil {
		return err
	}

	if err := st.openIncident(ctx, words); err != nil {
		return err
	}

	return markEvents(ctx, st.tx, st.t, st.r, models.OutcomeApplied, st.now)
}
