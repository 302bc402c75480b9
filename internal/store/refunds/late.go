package refunds

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/incidents"
	"rihla/models"
)

// LateRefundID is the id of the refund that the service orders by itself for money that came too late.
func LateRefundID(transaction uuid.UUID) uuid.UUID { return models.RefundID(transaction, "late") }

// OrderLateRefund orders the refund of all that is left of money that came too late, in the service's own name; once per
// payment. Errors: NOT_FOUND, INVALID_STATE when the payment is none that came too late, REFUND_EXCEEDS_REMAINING or
// BOOKING_NOT_REFUNDABLE when nothing of it is left to refund.
func (s *Store) OrderLateRefund(ctx context.Context, transaction uuid.UUID, now time.Time) (models.Refund, error) {
	t, err := s.payments.TransactionByID(ctx, transaction)
	if err != nil {
		return models.Refund{}, err
	}

	if !t.CameTooLate() { // which never changes again
		return models.Refund{}, models.NewError(models.CodeInvalidState, "refund.not_late")
	}

	return s.OrderRefund(ctx, models.RefundRequest{
		ID: LateRefundID(t.ID), TransactionID: t.ID, Type: models.RefundFull,
	}, now)
}

// owedLate finds money that came too late, and second payments, each by an index of its own.
const owedLate = `pt.id IN (
	SELECT id FROM payment_transactions WHERE kind = 'PAYMENT' AND status = 'FAILED' AND captured_at <= ?0
	UNION ALL SELECT id FROM payment_transactions WHERE kind = 'SECOND_DEBIT' AND captured_at <= ?0)`

// OwedLateMoney are payments that came too late more than grace ago and of which something is left to order back: the run that was
// about to has ended, or staff have refunded a part meanwhile. A refund that is under way or has failed leaves the rest to people, as
// does one of the service's own; so does money of another amount or currency. They come in no order, so that some which cannot be
// refunded never keep the others back for good.
func (s *Store) OwedLateMoney(ctx context.Context, grace time.Duration, limit int, now time.Time) ([]uuid.UUID, error) {
	var ids []uuid.UUID

	err := s.db.NewSelect().Model((*models.PaymentTransaction)(nil)).Column("pt.id").
		Where(owedLate, now.Add(-grace)).
		Where("pt.refunded_amount + pt.refund_reserved_amount + pt.outside_refunded_amount < pt.amount").
		Where("pt.failure_code NOT IN (?)", bun.List([]models.FailureCode{models.FailureAmountMismatch, models.FailureCurrencyMismatch})).
		Where(`NOT EXISTS (SELECT FROM refunds AS rf WHERE rf.payment_transaction_id = pt.id
			AND (rf.requested_by IS NULL OR rf.status <> ?))`, models.RefundSucceeded).
		OrderExpr("random()").Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("read owed late money: %w", err)
	}

	return ids, nil
}

// ReportUnorderedRefund opens an incident about a refund workflow that was started without an order.
func (s *Store) ReportUnorderedRefund(ctx context.Context, id uuid.UUID) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		return openIncidentOnce(ctx, tx, models.Incident{
			ID:           models.IncidentID(models.IncidentRefundUnordered, id.String()),
			Kind:         models.IncidentRefundUnordered,
			IncidentText: models.IncidentSays("incident.refund_without_order"),
			WorkflowID:   models.RefundWorkflowID(id),
		}, map[string]any{"refund_id": id})
	})
}

// ReportRefundMismatch opens an incident about a refund that the gateway has made in another way than it was ordered.
func (s *Store) ReportRefundMismatch(ctx context.Context, r *models.Refund, said map[string]any) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		return openIncidentOnce(ctx, tx, models.Incident{
			ID:                   models.IncidentID(models.IncidentRefundMismatch, r.ID.String()),
			Kind:                 models.IncidentRefundMismatch,
			PaymentTransactionID: &r.PaymentTransactionID,
			BookingID:            r.BookingID,
			AdCampaignID:         r.AdCampaignID,
			RefundID:             &r.ID,
			IncidentText:         models.IncidentSays("incident.refund_mismatch"),
			WorkflowID:           models.RefundWorkflowID(r.ID),
		}, map[string]any{"ordered_amount": r.Amount, "ordered_currency": r.Currency, "reported": said})
	})
}

// openIncidentOnce opens an incident unless there is one of that id already, resolved or not.
func openIncidentOnce(ctx context.Context, tx bun.Tx, i models.Incident, event map[string]any) error {
	known, err := tx.NewSelect().Model((*models.Incident)(nil)).Where("id = ?", i.ID).Exists(ctx)
	if err != nil || known {
		return err
	}

	return incidents.Open(ctx, tx, i, event)
}
