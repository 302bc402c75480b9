package refunds

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// OrderRefund writes the order of a refund: the PENDING refund, its amount reserved of the payment so that no other
// refund can reserve it again, its audit entry, and what the Idempotency-Key stands for, all or nothing. A refund by the policy
// comes to what the policy says at now; one that a person orders may need an approval (models.ApprovalRules), by the sums of its payment
// and of its requester over all payments. The same id again returns what was ordered. Errors: NOT_FOUND, FORBIDDEN (of one's own booking),
// VALIDATION_ERROR, REFUND_EXCEEDS_REMAINING, BOOKING_NOT_REFUNDABLE, PAYMENT_DISPUTED, REFUND_AMOUNT_CHANGED (another amount than
// expected), STEP_UP_REQUIRED, IDEMPOTENCY_KEY_REUSED (another request with the same id), IDEMPOTENCY_KEY_IN_PROGRESS.
func (s *Store) OrderRefund(ctx context.Context, r models.RefundRequest, now time.Time) (models.Refund, error) {
	var out models.Refund

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		out, err = s.OrderIn(ctx, tx, r, now)

		return err
	})

	return out, err
}

// OrderIn is OrderRefund within the caller's transaction.
func (s *Store) OrderIn(ctx context.Context, tx bun.Tx, r models.RefundRequest, now time.Time) (models.Refund, error) {
	var out models.Refund

	if err := db.BindKey(ctx, tx, r.Claim, r.ID); err != nil {
		return out, err
	}

	if err := lockRefundID(ctx, tx, r.ID); err != nil {
		return out, err
	}

	t, err := lockRefundable(ctx, tx, r)
	if err != nil {
		return out, err
	}

	err = tx.NewSelect().Model(&out).Where("id = ?", r.ID).Scan(ctx)
	if err == nil {
		return out, sameRefund(&out, &r)
	}

	if !errors.Is(err, sql.ErrNoRows) {
		return out, err
	}

	plan, err := s.planRefund(ctx, tx, &r, t, now)
	if err != nil {
		return out, err
	}

	if err := s.writeOrder(ctx, tx, r, plan, t); err != nil {
		return out, err
	}

	if plan.cancellation != nil {
		if err := plan.keep(ctx, tx, &r, now); err != nil {
			return out, err
		}
	}

	return plan.refund, nil
}

// planRefund is the refund of t that is asked for, with what it comes to and whether it needs an approval, and the cancellation that
// comes with it, before they are written. t is locked. Errors: those of findAmount, PAYMENT_DISPUTED, REFUND_AMOUNT_CHANGED,
// STEP_UP_REQUIRED.
func (s *Store) planRefund(
	ctx context.Context, tx bun.Tx, r *models.RefundRequest, t *models.PaymentTransaction, now time.Time,
) (*orderPlan, error) {
	if err := ledger.NotDisputed(ctx, tx, t.ID); err != nil {
		return nil, err
	}

	plan := &orderPlan{}

	if r.Cancels() && t.Status == models.TransactionPaid && t.BookingID != nil {
		var err error
		if plan, err = s.planWithCancellation(ctx, tx, r, t, now); err != nil {
			return nil, err
		}
	} else {
		plan.refund.RefundType = r.Type
		if err := s.findAmount(ctx, tx, t, r.Amount, &plan.refund, now); err != nil {
			return nil, err
		}
	}

	return plan, s.planOrder(ctx, tx, r, t, plan, now)
}

// planWithCancellation is the plan of a refund that cancels what is left of its booking. Error: BOOKING_NOT_REFUNDABLE, also when nothing
// is left to cancel, and by the policy while another refund waits for its approval.
func (s *Store) planWithCancellation(
	ctx context.Context, tx bun.Tx, r *models.RefundRequest, t *models.PaymentTransaction, now time.Time,
) (*orderPlan, error) {
	by := models.CancelByAmount
	if r.Type == models.RefundPolicy {
		by = models.CancelByPolicy
	}

	plan, err := s.planCancellation(ctx, tx, t, r, models.CancelOrder{
		ID: models.CancellationID(*t.BookingID, r.ID.String()), RefundBy: by, Amount: r.Amount, Cause: r.Cause,
	}, now)
	if err == nil && by == models.CancelByPolicy {
		err = noRefundWaits(ctx, tx, t, false)
	}

	var refused *models.Error

	switch {
	case errors.As(err, &refused) && refused.Code == models.CodeInvalidState:
		return nil, &models.Error{Code: models.CodeBookingNotRefundable, Text: refused.Text}
	case err != nil:
		return nil, err
	case !plan.refund.Amount.IsPositive():
		return nil, models.NewError(models.CodeBookingNotRefundable, "refund.policy_used_up", "percent", *plan.cancellation.Percent)
	}

	// What was asked for, by which another request with the same key is recognized: an amount stays PARTIAL.
	plan.refund.RefundType = r.Type

	return plan, nil
}

// planOrder completes the refund of a plan, whose amount is found. t is locked. Errors: VALIDATION_ERROR on bearer, REFUND_AMOUNT_CHANGED,
// STEP_UP_REQUIRED.
func (s *Store) planOrder(
	ctx context.Context, tx bun.Tx, r *models.RefundRequest, t *models.PaymentTransaction, plan *orderPlan, now time.Time,
) error {
	out := &plan.refund
	out.ID, out.PaymentTransactionID, out.BookingID, out.AdCampaignID = r.ID, t.ID, t.BookingID, t.AdCampaignID
	out.Channel, out.Currency, out.Status, out.ProofDue = t.RefundChannel(), t.TakenCurrency(), models.RefundPending, true
	out.Reason, out.RequestedBy, out.RequestID, out.BodyHash = r.Reason, r.RequestedBy, r.RequestID, r.BodyHash
	out.Bearer, out.Cause = cmp.Or(r.Bearer, models.BearProportionally), cmp.Or(r.Cause, models.CauseOf(t, out.PolicyReason))
	out.JustOrdered = true

	if plan.cancellation != nil {
		out.Cause = plan.cancellation.Cause
	}

	if out.Bearer != models.BearProportionally && (t.Status != models.TransactionPaid || t.BookingID == nil) {
		return models.Invalid("bearer", "refund.bearer_of_sale")
	}

	if r.Expected != nil && !out.Amount.Equal(*r.Expected) {
		return models.RefundAmountChanged(out.Amount)
	}

	sum, err := lockOrders(ctx, tx, out)
	if err != nil {
		return err
	}

	if err := withinBound(ctx, tx, r, out, sum); err != nil {
		return err
	}

	return s.applyApproval(ctx, tx, t, out, sum, now)
}

func (s *Store) writeOrder(
	ctx context.Context, tx bun.Tx, r models.RefundRequest, plan *orderPlan, t *models.PaymentTransaction,
) error {
	out := &plan.refund
	if err := reserveAmount(ctx, tx, t.ID, out.Amount); err != nil {
		return err
	}

	if _, err := tx.NewInsert().Model(out).Returning("created_at, updated_at").Exec(ctx); err != nil {
		return fmt.Errorf("insert refund: %w", err)
	}

	if err := nameInIncident(ctx, tx, t, out.ID); err != nil {
		return err
	}

	return s.auditRefund(ctx, tx, r, out, t)
}

// lockRefundID makes requests for one refund wait for each other: before it is ordered there is no row to lock.
func lockRefundID(ctx context.Context, tx bun.Tx, id uuid.UUID) error {
	return db.LockName(ctx, tx, "refund:"+id.String())
}

// OrderedRefund is the order as its workflow needs it. Error: NOT_FOUND.
func (s *Store) OrderedRefund(ctx context.Context, id uuid.UUID) (models.ReservedRefund, error) {
	var out models.ReservedRefund

	err := s.db.NewSelect().Model((*models.Refund)(nil)).Column("rf.status", "rf.amount", "rf.channel", "rf.currency").
		ColumnExpr("pt.gateway, CASE WHEN rf.approval_pending THEN rf.approval_until END").
		ColumnExpr("rf.approval_pending AND EXISTS (SELECT FROM refund_approvals AS ra WHERE ra.refund_id = rf.id)").
		Join("JOIN payment_transactions AS pt ON pt.id = rf.payment_transaction_id").Where("rf.id = ?", id).
		Scan(ctx, &out.Status, &out.Amount, &out.Channel, &out.Currency, &out.Gateway, &out.ApprovalUntil, &out.ApprovalDecided)
	if err != nil {
		return out, db.NotFound(err)
	}

	return out, nil
}

// sameRefund refuses a request that carries the key of another one, however long ago that was.
func sameRefund(was *models.Refund, asked *models.RefundRequest) error {
	otherAmount := asked.Type == models.RefundPartial && (asked.Amount == nil || !asked.Amount.Equal(was.Amount))
	otherPayment := asked.TransactionID != uuid.Nil && asked.TransactionID != was.PaymentTransactionID
	otherBody := was.BodyHash != nil && asked.BodyHash != nil && !bytes.Equal(was.BodyHash, asked.BodyHash)

	if was.RefundType != asked.Type || otherAmount || otherPayment || otherBody {
		return models.NewError(models.CodeIdempotencyKeyReused, "idempotency.other_refund")
	}

	return nil
}

// auditRefund notes who asked; t is the payment as it was before.
func (s *Store) auditRefund(
	ctx context.Context, tx bun.Tx, r models.RefundRequest, refund *models.Refund, t *models.PaymentTransaction,
) error {
	if r.RequestedBy == nil {
		return nil
	}

	actor := db.Actor{UserID: *r.RequestedBy, Role: r.Role, RequestID: r.RequestID, Address: r.Address, UserAgent: r.UserAgent}

	return db.Audit(ctx, tx, actor, models.AuditRefundRequested, models.EntityRefund, &refund.ID, map[string]any{
		"booking_id": refund.BookingID, "payment_transaction_id": refund.PaymentTransactionID,
		"refund_type": refund.RefundType, "channel": refund.Channel, "amount": refund.Amount, "currency": refund.Currency,
		"reason_sha256": reasonDigest(refund.Reason), "needs_approval": refund.ApprovalPending,
		"before": heldAmounts(t, t.RefundReservedAmount),
		"after":  heldAmounts(t, t.RefundReservedAmount.Add(refund.Amount)),
	})
}

// heldAmounts are reservedAmounts, with what the gateway gave back without an order where it did.
func heldAmounts(t *models.PaymentTransaction, reserved models.Money) map[string]any {
	d := reservedAmounts(t.RefundedAmount, reserved)
	if t.OutsideRefundedAmount.IsPositive() {
		d["outside_refunded_amount"] = t.OutsideRefundedAmount
	}

	return d
}

// reservedAmounts is what of a payment has gone back, and what has been reserved for refunds, for the audit log.
func reservedAmounts(refunded, reserved models.Money) map[string]any {
	return map[string]any{"refunded_amount": refunded, "reserved_amount": reserved}
}

// SaveGatewayRefund keeps the gateway's id of a refund that it has accepted but not decided.
func (s *Store) SaveGatewayRefund(ctx context.Context, id uuid.UUID, gatewayID string) error {
	_, err := s.db.NewUpdate().Model((*models.Refund)(nil)).
		Set("gateway_refund_id = ?", gatewayID).Set("updated_at = now()").Where("id = ?", id).Exec(ctx)
	if err != nil {
		return fmt.Errorf("save gateway refund: %w", err)
	}

	return nil
}

// SaveRefundWords keeps what the gateway said when it refused a refund, for SettleRefund.
func (s *Store) SaveRefundWords(ctx context.Context, id uuid.UUID, words string) error {
	_, err := s.db.NewUpdate().Model((*models.Refund)(nil)).
		Set("failure_reason = ?", words).Set("updated_at = now()").
		Where("id = ?", id).Where(db.Still, bun.Ident("status"), models.RefundPending).Exec(ctx)
	if err != nil {
		return fmt.Errorf("save the gateway's reason: %w", err)
	}

	return nil
}

// RefundFailedAtGateway is the failure code of a refund that the gateway refused.
const RefundFailedAtGateway = "GATEWAY_REJECTED"

// AccountMissing is the failure code of a refund whose payment was taken by an account that is not configured any more.
const AccountMissing = "ACCOUNT_GONE"

// RefundedOutside is the failure code of a refund that was not sent, because the gateway had given back too much without an order.
const RefundedOutside = "REFUNDED_OUTSIDE"

// SettleRefund applies the gateway's decision, or for a manual payout that of finance staff, in one SQL transaction: the
// reservation becomes a refund transaction, the ledger entry is split or closed, transferred money is clawed back, a fully
// refunded booking is cancelled and its seats are free, and the customer notified (rules: refunds.booking, refunds.split). A refusal only
// releases the reservation and opens an incident, unless a person refused what is not owed; a refund whose passengers were cancelled stays
// PENDING as a manual payout instead. A refund that needs an approval is held back until there is one, and so is its cancellation; it fails
// when it was rejected or its time is over at now. Running it again, or with an undecided result, changes nothing.
func (s *Store) SettleRefund(ctx context.Context, id uuid.UUID, result models.RefundResult, now time.Time) (models.SettledRefund, error) {
	var out models.SettledRefund

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		r, t, err := lockRefund(ctx, tx, id)
		if err != nil {
			return err
		}

		st := &refundSettlement{tx: tx, t: &t, r: &r, now: now}

		approval, err := st.takeUpApproval(ctx)
		if err != nil {
			return err
		}

		if approval != "" && r.Status == models.RefundPending {
			if err := st.takeUpCancellation(ctx); err != nil {
				return err
			}
		}

		switch {
		case !r.IsApproved():
			result = heldBack(&r)
		case r.Channel == models.RefundByHand:
			result = decided(&r)
		}

		switch {
		case r.Status != models.RefundPending:
			err = markEvents(ctx, tx, &t, &r, models.OutcomeDuplicate, now)
		case result.Status == models.RefundSucceeded:
			err = st.succeed(ctx, result)
		case result.Status == models.RefundFailed:
			err = st.fail(ctx, result)
		}

		out = models.SettledRefund{
			Status: r.Status, Queued: st.queued, NeedsReview: st.needsReview, Approval: approval,
			TurnedManual: r.TurnedManualAt != nil && r.Status == models.RefundPending, Withdrawn: st.withdrawn,
		}

		return err
	})
	if err != nil {
		return models.SettledRefund{}, fmt.Errorf("settle refund: %w", err)
	}

	return out, nil
}
