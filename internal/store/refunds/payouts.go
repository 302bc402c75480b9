package refunds

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/internal/store/payments"
	"rihla/models"
)

// PayoutRejected is the failure code of a manual payout that finance staff rejected.
const PayoutRejected = "PAYOUT_REJECTED"

// DecidePayout keeps what was decided about a manual payout, once and for all; SettleRefund applies it. One that came back from the
// customer's bank is paid with the decision. Of one that its gateway did not make, a manual payout is ordered, confirmed and returned
// instead (InsteadOf), as far as the amount is still left. The requester of
// the refund may reject it, which takes it back, but not confirm it; nor may the payee, or a person who is no second one beside the
// requester (db.SecondPerson). Of a trip that is called off the requester is the person who called it off. PaidOutOn is today
// unless given. The same decision again changes nothing. Errors: NOT_FOUND; FORBIDDEN to these; INVALID_STATE when the refund
// is no manual payout, or was decided otherwise; PAYOUT_REFERENCE_USED; VALIDATION_ERROR on paid_out_on; STEP_UP_REQUIRED (d.AtMost) and
// APPROVAL_REQUIRED by the sums of who confirms. When the account of the requester is locked or removed by then, a confirmation is kept as
// a rejection unless a second person had approved the order or the money is owed: INVALID_STATE, with the refund.
func (s *Store) DecidePayout(ctx context.Context, by db.Actor, d models.RefundPayout, now time.Time) (models.Refund, error) {
	var (
		r       models.Refund
		refused error // of a confirmation that is kept as a rejection
	)

	d.DecidedBy, d.DecidedAt = by.UserID, now

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		d := d
		refused = nil

		var t models.PaymentTransaction
		if r, t, err = s.lockPayout(ctx, tx, by, &d); err != nil {
			return err
		}

		asked, err := askedBy(ctx, tx, &r)
		if err != nil {
			return err
		}

		if err := mayDecide(&r, asked, &d); err != nil {
			return err
		}

		if err := notOwnPayout(ctx, tx, &t, &d); err != nil {
			return err
		}

		if r.Payout != nil {
			return decidedAlready(r.Payout, &d)
		}

		if refused, err = s.newPayout(ctx, tx, by, &t, &r, &d, now); err != nil {
			return err
		}

		r.Payout = &d

		return keepPayout(ctx, tx, by, &t, &r)
	})
	if err != nil {
		return models.Refund{}, err
	}

	return r, refused
}

// lockPayout reads the refund about which d decides, under the lock of its payment. Of one that its gateway did not make, a payout orders a
// manual payout instead: that is the one to decide about, and d names it.
func (s *Store) lockPayout(
	ctx context.Context, tx bun.Tx, by db.Actor, d *models.RefundPayout,
) (models.Refund, models.PaymentTransaction, error) {
	r, t, err := lockRefund(ctx, tx, d.RefundID)
	if err != nil || !r.FailedAtGateway() || d.Decision != models.PayoutPaid {
		return r, t, err
	}

	if err := mayPayInstead(ctx, tx, &t, &r, d); err != nil {
		return r, t, err
	}

	if r, t, err = s.orderInstead(ctx, tx, by, &t, &r); err != nil {
		return r, t, err
	}

	d.RefundID = r.ID

	return r, t, nil
}

// decidedAlready refuses another decision than the one that is kept.
func decidedAlready(kept, d *models.RefundPayout) error {
	if !sameDecision(kept, d) {
		return models.NewError(models.CodeInvalidState, "payout.decided", "decision", kept.Decision)
	}

	return nil
}

// newPayout says whether the first decision about a payout may be made, and gives it its day. refused is that of mayPayOut.
func (s *Store) newPayout(
	ctx context.Context, tx bun.Tx, by db.Actor, t *models.PaymentTransaction, r *models.Refund, d *models.RefundPayout, now time.Time,
) (refused, err error) {
	if d.Decision == models.PayoutPaid {
		if err := ledger.NotDisputed(ctx, tx, t.ID); err != nil {
			return nil, err
		}
	}

	if d.NewReference && d.Reference != nil {
		if err := ledger.RequireNewReference(ctx, tx, *d.Reference, ledger.PayoutSubject{Refund: d.RefundID}); err != nil {
			return nil, err
		}
	}

	if err := datePayout(d, r, t, now); err != nil {
		return nil, err
	}

	if d.Decision != models.PayoutPaid {
		return nil, nil
	}

	return s.mayPayOut(ctx, tx, by, r, d, now)
}

// mayPayOut says whether by may be the second person of a payout. An order that no second person has approved, of money that is not owed,
// ends with its requester's account: the decision becomes a rejection, and refused says so. Errors: FORBIDDEN, STEP_UP_REQUIRED,
// APPROVAL_REQUIRED.
func (s *Store) mayPayOut(
	ctx context.Context, tx bun.Tx, by db.Actor, r *models.Refund, d *models.RefundPayout, now time.Time,
) (refused, err error) {
	asked, err := askedBy(ctx, tx, r)
	if err != nil {
		return nil, err
	}

	if err := db.SecondPerson(ctx, tx, asked, by.UserID, r.BookingID); err != nil {
		return nil, err
	}

	if err := s.mayDecideSum(ctx, tx, payouts, by.UserID, r, d.AtMost, now); err != nil {
		return nil, err
	}

	if r.ApprovalUntil != nil || r.ReturnedAt != nil || r.AdCampaignID != nil {
		return nil, nil
	}

	if owed, err := (&refundSettlement{tx: tx, r: r}).cancelled(ctx); err != nil || owed {
		return nil, err
	}

	gone, err := db.IsGone(ctx, tx, r.RequestedBy)
	if err != nil || !gone {
		return nil, err
	}

	d.Decision, d.NoteText, d.Reference, d.PaidOutOn = models.PayoutRejected, requesterGone(), nil, nil
	d.Note = d.NoteText.String()

	return errRequesterGone(), nil
}

// keepPayout writes a decision, and books the money of a refund that came back: that one has been settled before.
func keepPayout(ctx context.Context, tx bun.Tx, by db.Actor, t *models.PaymentTransaction, r *models.Refund) error {
	if _, err := tx.NewInsert().Model(r.Payout).Exec(ctx); err != nil {
		return fmt.Errorf("insert payout: %w", err)
	}

	if r.ReturnedAt != nil {
		if err := ledger.PostTransfers(ctx, tx, []models.LedgerTransfer{models.RepaidRefundTransfer(t, r)}); err != nil {
			return err
		}
	}

	return auditPayout(ctx, tx, by, r)
}

// lockRefund reads a refund with what was decided about it under the lock of its payment, which deciding and settling take.
func lockRefund(ctx context.Context, tx bun.Tx, id uuid.UUID) (models.Refund, models.PaymentTransaction, error) {
	var r models.Refund
	if err := tx.NewSelect().Model(&r).Where("id = ?", id).Scan(ctx); err != nil {
		return r, models.PaymentTransaction{}, db.NotFound(err)
	}

	t, err := ledger.LockTransaction(ctx, tx, r.PaymentTransactionID)
	if err != nil {
		return r, t, err
	}

	// Only now is the refund's state certain.
	if err := tx.NewSelect().Model(&r).WherePK().Scan(ctx); err != nil {
		return r, t, db.NotFound(err)
	}

	if r.Payout, err = payoutOf(ctx, tx, id); err != nil {
		return r, t, err
	}

	rows := []models.Refund{r}
	err = payments.WithApprovals(ctx, tx, rows)

	return rows[0], t, err
}

func payoutOf(ctx context.Context, db bun.IDB, refund uuid.UUID) (*models.RefundPayout, error) {
	var d models.RefundPayout

	err := db.NewSelect().Model(&d).Where("refund_id = ?", refund).Scan(ctx)

	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil //nolint:nilnil // no decision yet is an answer
	case err != nil:
		return nil, fmt.Errorf("read payout: %w", err)
	}

	return &d, nil
}

// askedBy is who asked for a refund: its requester or, of the service's own for a trip that is called off, the person who called it off.
// nil: the service by itself.
func askedBy(ctx context.Context, tx bun.Tx, r *models.Refund) (*uuid.UUID, error) {
	if r.RequestedBy != nil || r.Cause != models.RefundTripCancelled {
		return r.RequestedBy, nil
	}

	var by *uuid.UUID
	if err := tx.NewRaw("SELECT refund_asked_for_by(rf) FROM refunds AS rf WHERE rf.id = ?", r.ID).Scan(ctx, &by); err != nil {
		return nil, fmt.Errorf("read who called the trip off: %w", err)
	}

	return by, nil
}

// mayDecide says whether the decision is one that may be made about the refund, for which asked has asked, by who makes it.
func mayDecide(r *models.Refund, asked *uuid.UUID, d *models.RefundPayout) error {
	switch {
	case !r.GoesByHand():
		return models.NewError(models.CodeInvalidState, "payout.by_gateway")
	case !r.IsApproved():
		return models.NewError(models.CodeInvalidState, "payout.before_approval")
	case r.ReturnedAt != nil && d.Decision == models.PayoutRejected:
		return models.NewError(models.CodeInvalidState, "payout.returned")
	case d.Decision == models.PayoutPaid && asked != nil && *asked == d.DecidedBy:
		return models.NewError(models.CodeForbidden, "payout.own")
	case d.Decision == models.PayoutRejected && r.AdCampaignID != nil:
		// It is owed, and there is no booking whose owner could have been paid otherwise.
		return models.NewError(models.CodeInvalidState, "payout.late_campaign")
	default:
		return nil
	}
}

// notOwnPayout refuses to have the payout confirmed by the account that paid, or that booked.
func notOwnPayout(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, d *models.RefundPayout) error {
	if d.Decision != models.PayoutPaid {
		return nil
	}

	own, err := isOwn(ctx, tx, t, d.DecidedBy)
	if err != nil {
		return err
	}

	if own {
		return models.NewError(models.CodeForbidden, "payout.own_booking")
	}

	return nil
}

// sameDecision reports whether a decision only repeats the one that is kept; a day that it leaves out is not another one.
func sameDecision(kept, d *models.RefundPayout) bool {
	sameDay := d.PaidOutOn == nil || kept.PaidOutOn != nil && kept.PaidOutOn.String() == d.PaidOutOn.String()
	sameReference := d.Reference == nil && kept.Reference == nil ||
		d.Reference != nil && kept.Reference != nil && *d.Reference == *kept.Reference

	return kept.Decision == d.Decision && sameReference && sameDay && kept.Note == d.Note
}

// datePayout gives a payout its day: not before the money came, or came back, and not in the future.
func datePayout(d *models.RefundPayout, r *models.Refund, t *models.PaymentTransaction, now time.Time) error {
	if d.Decision != models.PayoutPaid {
		return nil
	}

	today := models.DateIn(now)

	switch {
	case d.PaidOutOn == nil:
		d.PaidOutOn = &today
	case d.PaidOutOn.After(today):
		return models.Invalid("paid_out_on", "field.future")
	case t.TakenAt() != nil && d.PaidOutOn.Before(models.DateIn(*t.TakenAt())):
		return models.Invalid("paid_out_on", "payout.before_payment", "date", models.DateIn(*t.TakenAt()))
	case r.ReturnedAt != nil && d.PaidOutOn.Before(models.DateIn(*r.ReturnedAt)):
		return models.Invalid("paid_out_on", "payout.before_return", "date", models.DateIn(*r.ReturnedAt))
	}

	return nil
}

func auditPayout(ctx context.Context, tx bun.Tx, by db.Actor, r *models.Refund) error {
	action := models.AuditRefundPayoutConfirmed
	if r.Payout.Decision == models.PayoutRejected {
		action = models.AuditRefundPayoutRejected
	}

	d := r.Payout
	after := map[string]any{
		"decision": d.Decision, "status": r.Status, "payout_reference": d.Reference, "paid_out_on": d.PaidOutOn, "note": d.Note,
	}

	if !d.NoteText.IsZero() {
		d.NoteText.KeepIn(after, "note")
	}

	return db.Audit(ctx, tx, by, action, models.EntityRefund, &r.ID, map[string]any{
		"booking_id": r.BookingID, "ad_campaign_id": r.AdCampaignID, "payment_transaction_id": r.PaymentTransactionID,
		"amount": r.Amount, "currency": r.Currency, "requested_by": r.RequestedBy,
		"before": map[string]any{"decision": nil, "status": r.Status}, "after": after,
	})
}

// decided is the result of a manual payout: what finance staff decided, and PENDING without a decision. No gateway has a
// word in it.
func decided(r *models.Refund) models.RefundResult {
	switch {
	case r.Payout == nil:
		return models.RefundResult{Status: models.RefundPending}
	case r.Payout.Decision == models.PayoutPaid:
		return models.RefundResult{Status: models.RefundSucceeded}
	default:
		return models.RefundResult{Status: models.RefundFailed, FailureReason: r.Payout.Note}
	}
}

// DecidedPayouts are manual payouts that were decided longer than minAge ago and are not settled: their workflow has not
// heard of it. They come in no order, so that some which cannot be settled never keep the others back for good.
func (s *Store) DecidedPayouts(ctx context.Context, minAge time.Duration, limit int, now time.Time) ([]models.Refund, error) {
	var rows []models.Refund

	err := s.db.NewSelect().Model(&rows).Join("JOIN refund_payouts AS rp ON rp.refund_id = rf.id").
		Where("rf.status = ?", models.RefundPending).Where("rf.channel = ?", models.RefundByHand).
		Where("rp.decided_at <= ?", now.Add(-minAge)).OrderExpr("random()").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read decided payouts: %w", err)
	}

	return rows, nil
}

// nameInIncident puts the refund of money that came too late, or is in suspense, into the incident about it.
func nameInIncident(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, refund uuid.UUID) error {
	if t.Status == models.TransactionPaid {
		return nil
	}

	_, err := tx.NewUpdate().Model((*models.Incident)(nil)).Set("refund_id = ?", refund).
		Where("payment_transaction_id = ?", t.ID).Where("kind IN (?)", bun.List([]models.IncidentKind{
		models.IncidentLatePayment, models.IncidentAmountMismatch, models.IncidentCurrencyMismatch,
	})).Exec(ctx)
	if err != nil {
		return fmt.Errorf("name refund in incident: %w", err)
	}

	return nil
}
