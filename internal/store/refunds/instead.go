package refunds

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// InsteadID is the id of the manual payout that pays out one that its gateway did not make.
func InsteadID(failed uuid.UUID) uuid.UUID { return models.RefundID(failed, "payout") }

// mayPayInstead: two people, as for every payout. Errors: FORBIDDEN.
func mayPayInstead(
	ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, failed *models.Refund, d *models.RefundPayout,
) error {
	asked, err := askedBy(ctx, tx, failed)
	if err != nil {
		return err
	}

	if asked != nil && *asked == d.DecidedBy {
		return models.NewError(models.CodeForbidden, "payout.own")
	}

	return notOwnPayout(ctx, tx, t, d)
}

// orderInstead orders the manual payout that pays out failed, under the lock of its payment t, or returns the one that was ordered
// before. Errors: REFUND_EXCEEDS_REMAINING when the money has gone back otherwise since.
func (s *Store) orderInstead(
	ctx context.Context, tx bun.Tx, by db.Actor, t *models.PaymentTransaction, failed *models.Refund,
) (models.Refund, models.PaymentTransaction, error) {
	id := InsteadID(failed.ID)

	known, _, err := lockRefund(ctx, tx, id)
	if err == nil || !errors.Is(err, sql.ErrNoRows) && models.CodeOf(err) != models.CodeNotFound {
		return known, *t, err
	}

	kind, of := models.RefundPartial, failed.ID // which the caller may overwrite
	if failed.RefundType == models.RefundFull {
		kind = models.RefundFull
	}

	r := models.Refund{
		ID: id, PaymentTransactionID: t.ID, BookingID: t.BookingID, AdCampaignID: t.AdCampaignID, RefundType: kind,
		Channel: models.RefundByHand, Amount: failed.Amount, Currency: failed.Currency, Status: models.RefundPending,
		Reason: failed.Reason, RequestedBy: failed.RequestedBy, RequestID: by.RequestID, ProofDue: true, InsteadOf: &of,
		Bearer: failed.Bearer, Cause: failed.Cause,
	}

	if err := reserveAmount(ctx, tx, t.ID, r.Amount); err != nil {
		return r, *t, err
	}

	if _, err := tx.NewInsert().Model(&r).Returning("created_at, updated_at").Exec(ctx); err != nil {
		return r, *t, fmt.Errorf("insert the refund that is paid out instead: %w", err)
	}

	if err := nameInIncident(ctx, tx, t, r.ID); err != nil {
		return r, *t, err
	}

	if r.RequestedBy != nil {
		err := db.Audit(ctx, tx, by, models.AuditRefundRequested, models.EntityRefund, &r.ID, map[string]any{
			"booking_id": r.BookingID, "payment_transaction_id": r.PaymentTransactionID, "instead_of": failed.ID,
			"refund_type": r.RefundType, "channel": r.Channel, "amount": r.Amount, "currency": r.Currency,
			"requested_by": r.RequestedBy, "reason_sha256": reasonDigest(r.Reason), "needs_approval": false,
			"before": heldAmounts(t, t.RefundReservedAmount), "after": heldAmounts(t, t.RefundReservedAmount.Add(r.Amount)),
		})
		if err != nil {
			return r, *t, err
		}
	}

	t.RefundReservedAmount = t.RefundReservedAmount.Add(r.Amount)

	return r, *t, nil
}
