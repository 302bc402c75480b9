package refunds

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/models"
)

// DecideApproval keeps what a person decided about a refund that needs an approval, once and for all, with its audit entry;
// SettleRefund takes it up. The requester of the refund may reject it, which withdraws it, but not approve it; nor may the
// payee, or a person who is no second one beside the requester (db.SecondPerson). The same decision by the same person again changes
// nothing. Errors: NOT_FOUND; FORBIDDEN to these; INVALID_STATE when the refund needs no approval, was decided otherwise, or has waited
// too long (models.Refund.MayDecide); STEP_UP_REQUIRED (d.AtMost). When the requester's account is locked or removed by then, an approval
// is kept as a rejection: INVALID_STATE, with the refund.
func (s *Store) DecideApproval(ctx context.Context, by db.Actor, d models.RefundApproval, now time.Time) (models.Refund, error) {
	var (
		r       models.Refund
		refused error // of an approval that is kept as a rejection
	)

	now = now.Truncate(time.Microsecond) // as the database keeps it: the guards compare it with approval_until
	d.DecidedBy, d.DecidedAt = &by.UserID, now

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		d := d
		refused = nil

		var t models.PaymentTransaction
		if r, t, err = lockRefund(ctx, tx, d.RefundID); err != nil {
			return err
		}

		own, err := isOwn(ctx, tx, &t, by.UserID)
		if err != nil {
			return err
		}

		known, err := r.MayDecide(&d, own, now)
		if err != nil || known {
			return err
		}

		if d.Decision == models.ApprovalApproved {
			if refused, err = s.mayApprove(ctx, tx, by, &r, &d, now); err != nil {
				return err
			}
		}

		r.Approval = &d

		return keepApproval(ctx, tx, by, &r)
	})
	if err != nil {
		return models.Refund{}, err
	}

	return r, refused
}

// mayApprove says whether by may be the second person of an order. One whose requester's account is gone ends with it: the decision
// becomes a rejection, and refused says so. Errors: FORBIDDEN, STEP_UP_REQUIRED.
func (s *Store) mayApprove(
	ctx context.Context, tx bun.Tx, by db.Actor, r *models.Refund, d *models.RefundApproval, now time.Time,
) (refused, err error) {
	if err := db.SecondPerson(ctx, tx, r.RequestedBy, by.UserID, r.BookingID); err != nil {
		return nil, err
	}

	if err := s.mayDecideSum(ctx, tx, approvals, by.UserID, r, d.AtMost, now); err != nil {
		return nil, err
	}

	gone, err := db.IsGone(ctx, tx, r.RequestedBy)
	if err != nil || !gone {
		return nil, err
	}

	d.Decision, d.NoteText = models.ApprovalRejected, requesterGone()
	d.Note = d.NoteText.String()

	return errRequesterGone(), nil
}

// requesterGone is the note of a decision about an order whose requester can act no more.
func requesterGone() models.Text { return models.TextOf("refund.rejected_requester_gone") }

func errRequesterGone() error {
	return models.NewError(models.CodeInvalidState, "refund.requester_gone")
}

// keepApproval writes the decision that r has.
func keepApproval(ctx context.Context, tx bun.Tx, by db.Actor, r *models.Refund) error {
	if _, err := tx.NewInsert().Model(r.Approval).Exec(ctx); err != nil {
		return fmt.Errorf("insert approval: %w", err)
	}

	action := map[models.ApprovalDecision]models.AuditAction{
		models.ApprovalApproved: models.AuditRefundApproved, models.ApprovalRejected: models.AuditRefundApprovalRejected,
		models.ApprovalExpired: models.AuditRefundApprovalExpired,
	}[r.Approval.Decision]

	after := map[string]any{"decision": r.Approval.Decision, "status": r.Status, "note": r.Approval.Note}
	if !r.Approval.NoteText.IsZero() {
		r.Approval.NoteText.KeepIn(after, "note")
	}

	return db.Audit(ctx, tx, by, action, models.EntityRefund, &r.ID, map[string]any{
		"booking_id": r.BookingID, "ad_campaign_id": r.AdCampaignID, "payment_transaction_id": r.PaymentTransactionID,
		"amount": r.Amount, "currency": r.Currency, "requested_by": r.RequestedBy, "approval_above": r.ApprovalAbove,
		"before": map[string]any{"decision": nil, "status": r.Status}, "after": after,
	})
}

// isOwn reports whether the user has paid or booked what the money is of.
func isOwn(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, user uuid.UUID) (bool, error) {
	if t.UserID == user || t.BookingID == nil {
		return t.UserID == user, nil
	}

	own, err := tx.NewSelect().Model((*models.Booking)(nil)).Where("id = ?", *t.BookingID).Where("user_id = ?", user).Exists(ctx)
	if err != nil {
		return false, fmt.Errorf("read who booked: %w", err)
	}

	return own, nil
}

// orderedAlone is what of a payment persons have ordered back without an approval and what has not FAILED. With the lock of the payment
// nothing is added meanwhile.
func orderedAlone(ctx context.Context, in bun.IDB, t *models.PaymentTransaction) (alone models.Money, err error) {
	err = in.NewSelect().Model((*models.Refund)(nil)).ColumnExpr("coalesce(sum(amount), 0)").
		Where("payment_transaction_id = ?", t.ID).Where("requested_by IS NOT NULL").Where("approval_until IS NULL").
		Where("status <> ?", models.RefundFailed).Scan(ctx, &alone)
	if err != nil {
		return alone, fmt.Errorf("sum refunds without approval: %w", err)
	}

	return alone, nil
}

// takeUpApproval ends the wait of a refund that was decided, and of one that has waited too long: whichever came first under the lock
// stands. It reports what was decided.
func (st *refundSettlement) takeUpApproval(ctx context.Context) (models.ApprovalDecision, error) {
	if st.r.Status == models.RefundPending && st.r.ApprovalTimeIsOver(st.now) {
		st.r.Approval = &models.RefundApproval{
			RefundID: st.r.ID, Decision: models.ApprovalExpired, DecidedAt: st.now.Truncate(time.Microsecond),
		}

		if err := keepApproval(ctx, st.tx, db.Actor{RequestID: st.r.RequestID}, st.r); err != nil {
			return "", err
		}
	}

	if st.r.Approval == nil {
		return "", nil
	}

	if st.r.ApprovalPending && st.r.IsApproved() {
		st.r.ApprovalPending = false

		_, err := st.tx.NewUpdate().Model(st.r).Column("approval_pending").Set("updated_at = ?", st.now).WherePK().
			Where(db.Still, bun.Ident("approval_pending"), true).Exec(ctx)
		if err != nil {
			return "", fmt.Errorf("take up approval: %w", err)
		}
	}

	return st.r.Approval.Decision, nil
}

// heldBack is the result of a refund that is not approved: FAILED by what was decided, and PENDING without a decision, whatever a gateway
// or finance staff say of it.
func heldBack(r *models.Refund) models.RefundResult {
	if r.Approval == nil {
		return models.RefundResult{Status: models.RefundPending}
	}

	return models.RefundResult{Status: models.RefundFailed, FailureReason: r.Approval.Note}
}

// approvalGrace is how long after its time an undecided refund is left to its workflow's timer.
const approvalGrace = 2 * time.Minute

// DecidedApprovals are refunds about which a second person decided longer than minAge ago, or whose time is over, and whose workflow has
// not taken that up. They come in no order, so that some which cannot be never keep the others back for good.
func (s *Store) DecidedApprovals(ctx context.Context, minAge time.Duration, limit int, now time.Time) ([]models.Refund, error) {
	var rows []models.Refund

	err := s.db.NewSelect().Model(&rows).Join("LEFT JOIN refund_approvals AS ra ON ra.refund_id = rf.id").
		Where("rf.approval_pending").
		Where("(ra.decided_at <= ? OR ra.refund_id IS NULL AND rf.approval_until <= ?)", now.Add(-minAge), now.Add(-approvalGrace)).
		OrderExpr("random()").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read decided approvals: %w", err)
	}

	return rows, nil
}

// describe reads what was decided about refunds into them, and the names of who asked for them and decided.
func describe(ctx context.Context, in bun.IDB, rows []models.Refund) error {
	if err := payments.WithPayouts(ctx, in, rows); err != nil {
		return err
	}

	if err := payments.WithApprovals(ctx, in, rows); err != nil {
		return err
	}

	if err := nameSubjects(ctx, in, rows); err != nil {
		return err
	}

	if err := noteOwed(ctx, in, rows); err != nil {
		return err
	}

	if err := noteCancelling(ctx, in, rows); err != nil {
		return err
	}

	people := db.People{}

	for i := range rows {
		r := &rows[i]
		people.Name(r.RequestedBy, &r.RequesterName)

		if r.Approval != nil {
			people.Name(r.Approval.DecidedBy, &r.Approval.DeciderName)
		}

		if r.Payout != nil {
			people.Name(&r.Payout.DecidedBy, &r.Payout.DeciderName)
		}
	}

	return people.Read(ctx, in)
}
