package payments

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"rihla/internal/store/incidents"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// askNow has the gateway asked about an attempt at the next poll of its channel: whether it was paid, or, of one that was, what has been
// taken and given back since. ask is false for an attempt of which nothing more is expected.
func askNow(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, now time.Time) (ask bool, err error) {
	if t == nil {
		return false, nil
	}

	res, err := tx.NewUpdate().Model((*models.PaymentTransaction)(nil)).Set("check_at = ?", now).
		Where("id = ?", t.ID).Where("reference IS NOT NULL").Where("captured_at IS NULL").
		Where("status IN (?, ?)", models.TransactionPending, models.TransactionFailed).Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("note a hint: %w", err)
	}

	n, err := res.RowsAffected()
	if err != nil {
		return false, err
	}

	again, err := recheck(ctx, tx, t.ID, now)

	return n == 1 || again, err
}

// refundedPayment is the payment of an event that reports a refund which is none of ours, if the event names its checkout: a person has
// given something back in the company's own dashboard. The event is kept with the payment; what went back is found by asking the gateway.
func refundedPayment(ctx context.Context, tx bun.Tx, e *models.WebhookEvent) (found *models.PaymentTransaction, err error) {
	if e.CheckoutID == "" {
		return found, nil
	}

	var t models.PaymentTransaction

	err = tx.NewSelect().Model(&t).Where("kind IN (?)", bun.List(models.Paying())).Where("channel = ?", e.Channel).
		Where("(reference = ?0 OR gateway_payment_id = ?0)", e.CheckoutID).Order("kind").Limit(1).Scan(ctx)
	if err != nil {
		return found, ignoreNoRows(err)
	}

	e.TransactionID = &t.ID

	return &t, nil
}

// isPaymentOf reports that an event names the attempt by the gateway's id of its payment, where others have the checkout.
func isPaymentOf(t *models.PaymentTransaction, e *models.WebhookEvent) bool {
	return t.GatewayPaymentID != nil && *t.GatewayPaymentID == e.CheckoutID
}

// keepPaymentID writes the gateway's id of the payment down when it is first heard.
func keepPaymentID(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, e *models.WebhookEvent) error {
	ofAnother := t.Reference != nil && *t.Reference != e.CheckoutID
	// What comes after the money may be about another payment of the checkout.
	settled := t.TakenAt() != nil && e.Type == models.EventPaymentSucceeded
	if e.GatewayPaymentID == "" || t.GatewayPaymentID != nil || ofAnother || settled {
		return nil
	}

	_, err := tx.NewUpdate().Model((*models.PaymentTransaction)(nil)).Set("gateway_payment_id = ?", e.GatewayPaymentID).
		Where("id = ?", t.ID).Where("gateway_payment_id IS NULL").Exec(ctx)
	if err != nil {
		return fmt.Errorf("keep the gateway's id of a payment: %w", err)
	}

	return nil
}

// takesBack reports an event by which a company takes back that it had made the refund: the money is in the account there again.
func takesBack(r *models.Refund, e *models.WebhookEvent) bool {
	same := e.Amount != nil && e.Amount.Equal(r.Amount) && e.Currency == r.Currency

	return e.Revises && e.Type == models.EventRefundFailed && r.Status == models.RefundSucceeded && r.Channel == models.RefundByGateway && same
}

// revisedRefund is what becomes of a word about a refund that differs from the one before. A company that takes back that a refund was
// made has the money again: it is booked so, once, is owed, and a person pays it out. Anything else is for a person to understand. The
// payment is locked, as for everything that is booked; MarkRefundEvents alone calls it.
func revisedRefund(
	ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, r *models.Refund, e *models.WebhookEvent,
) error {
	if !takesBack(r, e) {
		return contradictedRefund(ctx, tx, t, r, e)
	}

	res, err := tx.NewUpdate().Model((*models.Refund)(nil)).Set("returned_at = now()").Set("updated_at = now()").
		Where("id = ?", r.ID).Where("status = ?", models.RefundSucceeded).Where("returned_at IS NULL").Exec(ctx)
	if err != nil {
		return fmt.Errorf("note that a refund came back: %w", err)
	}

	n, err := res.RowsAffected()
	if err != nil {
		return err
	}

	if n == 1 {
		if err := ledger.PostTransfers(ctx, tx, []models.LedgerTransfer{models.ReturnedRefundTransfer(t, r)}); err != nil {
			return err
		}
	}

	return incidents.Open(ctx, tx, models.Incident{
		ID:                   models.IncidentID(models.IncidentRefundFailed, r.ID.String()+"/returned"),
		Kind:                 models.IncidentRefundFailed,
		PaymentTransactionID: &t.ID,
		BookingID:            t.BookingID,
		AdCampaignID:         t.AdCampaignID,
		RefundID:             &r.ID,
		IncidentText:         models.IncidentSays("incident.refund_returned"),
		WorkflowID:           models.RefundWorkflowID(r.ID),
	}, eventDetails(e))
}

// unapprovedRefund asks a person to look when the gateway reports on a refund that waits for an approval: the service has not sent it.
func unapprovedRefund(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, e *models.WebhookEvent) error {
	return incidents.Open(ctx, tx, models.Incident{
		ID:                   models.IncidentID(models.IncidentRefundUnordered, e.RefundID.String()+"/unapproved"),
		Kind:                 models.IncidentRefundUnordered,
		PaymentTransactionID: &t.ID,
		BookingID:            t.BookingID,
		AdCampaignID:         t.AdCampaignID,
		RefundID:             e.RefundID,
		IncidentText:         models.IncidentSays("incident.refund_unapproved_event"),
		WorkflowID:           models.RefundWorkflowID(*e.RefundID),
	}, eventDetails(e))
}
