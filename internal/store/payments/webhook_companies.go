package payments

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"rihla/internal/store/incidents"
	"rihla/models"
)

// askNow has the gateway asked about an attempt at the next poll of its channel, if the event is a hint. ask is false for an attempt of
// which nothing more is expected.
func askNow(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, e *models.WebhookEvent, now time.Time) (ask bool, err error) {
	if !e.Hint || t == nil {
		return false, nil
	}

	res, err := tx.NewUpdate().Model((*models.PaymentTransaction)(nil)).Set("check_at = ?", now).
		Where("id = ?", t.ID).Where("reference IS NOT NULL").Where("captured_at IS NULL").
		Where("status IN (?, ?)", models.TransactionPending, models.TransactionFailed).Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("note a hint: %w", err)
	}

	n, err := res.RowsAffected()

	return n == 1, err
}

// disputed asks a person to answer a customer's bank. Nothing moves: what comes of it is money that the company takes back later.
func disputed(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, e *models.WebhookEvent) error {
	return incidents.Open(ctx, tx, models.Incident{
		ID:                   models.IncidentID(models.IncidentPaymentDisputed, t.ID.String()),
		Kind:                 models.IncidentPaymentDisputed,
		PaymentTransactionID: &t.ID,
		BookingID:            t.BookingID,
		AdCampaignID:         t.AdCampaignID,
		Message: "The customer's bank disputes the payment. No state changed. Answer it at the gateway before its deadline; " +
			"do not refund it meanwhile, or the money goes back twice.",
		WorkflowID: models.PaymentWorkflowID(t.ID),
	}, eventDetails(e))
}
