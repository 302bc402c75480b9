package refunds

import (
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
	"rihla/internal/store/outbox"
	"rihla/models"
)

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

		var err error
		if c.Withdrawn, err = bookings.CloseRequest(ctx, tx, p.booking, p.request, now); err != nil {
			return err
		}

		p.refund.Withdrawn = c.Withdrawn

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
	cancelledFacts(facts, &payment, c)

	if b.Status == models.BookingConfirmed {
		facts["booking_stays"] = "true"
	}

	if c.Cause == models.RefundTripCancelled {
		facts["trip_cancelled"] = "true"
	}

	_, err = outbox.InsertMessages(ctx, tx, outbox.NewMessages(models.NotifyBookingCancelled, payment.ID, c.ID.String(), b.Locale,
		b.ContactEmail, b.ContactPhone, facts))
	if err != nil {
		return err
	}

	if c.Cause == models.RefundTripCancelled && c.CancelledBy == nil {
		return nil // the company has called the trip off itself: it needs no mail about each booking
	}

	_, err = outbox.TellCompany(ctx, tx, b.ProviderID, func() ([]outbox.CompanyNews, error) {
		return []outbox.CompanyNews{{
			Message: models.CompanyCancelled, Transaction: payment.ID, Cause: c.ID.String(), Data: outbox.CompanyData(&b, &trip, c.Seats),
		}}, nil
	}, models.CompanyCancelled)

	return err
}

// cancelledFacts say what was paid for the passengers, what of it went back before and what is kept; and, of a refund, its way and the day
// by which the customer's bank shows it.
func cancelledFacts(facts map[string]string, payment *models.PaymentTransaction, c *models.Cancellation) {
	part := c.Part()
	facts["paid_amount"] = part.Paid.String()

	if before := part.Before(); before.IsPositive() {
		facts["refunded_before"] = before.String()
	}

	if fee := part.Fee(); fee.IsPositive() {
		facts["fee_amount"] = fee.String()
	}

	if c.RefundAmount.IsPositive() && c.DoneAt != nil {
		outbox.RefundWay(facts, payment.Method(), payment.RefundChannel())
		facts["expected_by"] = models.RefundExpectedBy(*c.DoneAt).String()
	}
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

		if st.withdrawn, err = bookings.CloseRequest(ctx, st.tx, &b, uuid.Nil, st.now); err != nil {
			return err
		}

		if err := readKept(ctx, st.tx, &c); err != nil {
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
