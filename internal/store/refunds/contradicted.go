package refunds

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"rihla/internal/store/incidents"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// markEvents closes the events of the refund r of t, which has been decided; t is locked, and r was read under its lock. An event
// that says the opposite of the decision, whether it came before or after it, is booked where the company takes back what it had said, and
// is for a person to look at.
func markEvents(
	ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, r *models.Refund, outcome models.EventOutcome, now time.Time,
) error {
	var contrary []models.WebhookEvent

	_, err := closeRefundEvents(tx, r, models.OutcomeIncident, now).Where("type <> ?", r.Status.ReportedBy()).
		Returning("?Columns").Exec(ctx, &contrary)
	if err != nil {
		return fmt.Errorf("mark events against refund: %w", err)
	}

	for i := range contrary {
		if err := revised(ctx, tx, t, r, &contrary[i]); err != nil {
			return err
		}
	}

	// Those that say the same, and no others: one that says the opposite may have come between the two statements.
	if _, err := closeRefundEvents(tx, r, outcome, now).Where("type = ?", r.Status.ReportedBy()).Exec(ctx); err != nil {
		return fmt.Errorf("mark refund events: %w", err)
	}

	return nil
}

func closeRefundEvents(tx bun.Tx, r *models.Refund, outcome models.EventOutcome, now time.Time) *bun.UpdateQuery {
	return tx.NewUpdate().Model((*models.WebhookEvent)(nil)).
		Set("processed_at = ?", now).Set("outcome = ?", outcome).
		Where("refund_id = ?", r.ID).Where("outcome = ''")
}

// revised is what becomes of a word about a refund that differs from the one before. A company that takes back that a refund was
// made has the money again: it is booked so, once, is owed, and a person pays it out. Anything else is for a person to understand. The
// payment is locked, as for everything that is booked; markEvents alone calls it.
func revised(
	ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, r *models.Refund, e *models.WebhookEvent,
) error {
	if !r.IsTakenBackBy(e) {
		return Contradicted(ctx, tx, t, r, e)
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
	}, e.Facts())
}

// Contradicted asks a person to look when the gateway says the opposite of what it had said about a refund. It is
// an incident of its own: that of the refusal may have been resolved, and would not be looked at again.
func Contradicted(
	ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, r *models.Refund, e *models.WebhookEvent,
) error {
	text := models.IncidentSays("incident.refund_contradicted")
	if r.Channel == models.RefundByHand {
		text = models.IncidentSays("incident.refund_by_hand_contradicted")
	}

	return incidents.Open(ctx, tx, models.Incident{
		ID:                   models.IncidentID(models.IncidentRefundFailed, e.RefundID.String()+"/contradicted"),
		Kind:                 models.IncidentRefundFailed,
		PaymentTransactionID: &t.ID,
		BookingID:            t.BookingID,
		AdCampaignID:         t.AdCampaignID,
		RefundID:             e.RefundID,
		IncidentText:         text,
		WorkflowID:           models.RefundWorkflowID(*e.RefundID),
	}, e.Facts())
}

// Unapproved asks a person to look when the gateway reports on a refund that waits for an approval: the service has not sent it.
func Unapproved(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, e *models.WebhookEvent) error {
	return incidents.Open(ctx, tx, models.Incident{
		ID:                   models.IncidentID(models.IncidentRefundUnordered, e.RefundID.String()+"/unapproved"),
		Kind:                 models.IncidentRefundUnordered,
		PaymentTransactionID: &t.ID,
		BookingID:            t.BookingID,
		AdCampaignID:         t.AdCampaignID,
		RefundID:             e.RefundID,
		IncidentText:         models.IncidentSays("incident.refund_unapproved_event"),
		WorkflowID:           models.RefundWorkflowID(*e.RefundID),
	}, e.Facts())
}
