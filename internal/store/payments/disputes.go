package payments

import (
	"cmp"
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"rihla/internal/store/incidents"
	"rihla/internal/store/ledger"
	"rihla/internal/store/outbox"
	"rihla/models"
)

// NoteDispute notes what the gateway says about a dispute of t, and has a person deal with it. No money moves: what comes of it the company
// settles. The payment and its ledger entries are locked, so that a refund or a payout is either before the dispute or refused for it; the
// messages are too rare to hold others up by that.
func NoteDispute(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, e *models.WebhookEvent) error {
	if _, err := ledger.LockTransaction(ctx, tx, t.ID); err != nil {
		return err
	}

	_, err := tx.NewSelect().Model((*models.FinancialRecord)(nil)).ColumnExpr("1").Where("fr.payment_transaction_id = ?", t.ID).
		Order("fr.id").For("NO KEY UPDATE OF fr").Exec(ctx)
	if err != nil {
		return fmt.Errorf("lock the records of a disputed payment: %w", err)
	}

	d := disputeOf(t, e)
	event := e.Facts()
	event["dispute_kind"], event["dispute_state"], event["reason"] = d.Kind, d.State, d.Reason

	if d.DueAt != nil {
		event["due_at"] = *d.DueAt
	}

	err = incidents.Open(ctx, tx, models.Incident{
		ID:                   d.IncidentID,
		Kind:                 models.IncidentPaymentDisputed,
		PaymentTransactionID: &t.ID,
		BookingID:            t.BookingID,
		AdCampaignID:         t.AdCampaignID,
		IncidentText:         disputeText(&d),
		WorkflowID:           models.PaymentWorkflowID(t.ID),
	}, event)
	if err != nil {
		return err
	}

	if err := keepDispute(ctx, tx, &d); err != nil {
		return err
	}

	return tellDisputed(ctx, tx, t, &d)
}

// tellDisputed tells the company of a dispute that is open, once.
func tellDisputed(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, d *models.Dispute) error {
	if d.State != models.DisputeOpen || t.BookingID == nil {
		return nil
	}

	_, err := outbox.TellCompany(ctx, tx, t.ProviderID, func() ([]outbox.CompanyNews, error) {
		var b models.Booking
		if err := tx.NewSelect().Model(&b).Where("bk.id = ?", *t.BookingID).Scan(ctx); err != nil {
			return nil, fmt.Errorf("read booking: %w", err)
		}

		trip, err := tripByID(ctx, tx, b.TripID)
		if err != nil {
			return nil, err
		}

		data := outbox.CompanyData(&b, &trip, b.Seats)
		if d.Currency != "" {
			data["amount"], data["currency"] = d.Amount.String(), d.Currency
		}

		return []outbox.CompanyNews{{Message: models.CompanyDispute, Transaction: t.ID, Cause: d.ID.String(), Data: data}}, nil
	}, models.CompanyDispute)

	return err
}

// disputeOf is the dispute that a message tells of. A company that has no id for it has one dispute of a payment.
func disputeOf(t *models.PaymentTransaction, e *models.WebhookEvent) models.Dispute {
	said := models.DisputeNotice{Kind: models.DisputeChargeback, State: models.DisputeOpen}
	if e.Dispute != nil {
		said = *e.Dispute
	}

	id := cmp.Or(said.ID, "of:"+t.ID.String())
	d := models.Dispute{
		ID: models.DisputeID(t.ID, id), PaymentTransactionID: t.ID, IncidentID: models.IncidentID(models.IncidentPaymentDisputed, t.ID.String()),
		GatewayDisputeID: id, Kind: said.Kind, State: said.State, Currency: e.Currency, Reason: e.FailureReason, DueAt: said.DueAt,
		OpenedAt: e.OccurredAt,
	}

	if e.Currency != "" {
		d.Amount = e.Amount
	}

	if d.State != models.DisputeOpen {
		d.ClosedAt = &e.OccurredAt
	}

	return d
}

// keepDispute writes what is new about a dispute. Messages come in any order: an inquiry may have become a chargeback and never the other
// way round, and what is decided is not opened again by an older message.
func keepDispute(ctx context.Context, tx bun.Tx, d *models.Dispute) error {
	_, err := tx.NewInsert().Model(d).On("CONFLICT (payment_transaction_id, gateway_dispute_id) DO UPDATE").
		Set("kind = CASE WHEN EXCLUDED.kind = 'CHARGEBACK' THEN EXCLUDED.kind ELSE dp.kind END").
		Set("state = CASE WHEN EXCLUDED.state = 'OPEN' THEN dp.state ELSE EXCLUDED.state END").
		Set("closed_at = CASE WHEN EXCLUDED.state = 'OPEN' THEN dp.closed_at ELSE EXCLUDED.closed_at END").
		Set("opened_at = least(dp.opened_at, EXCLUDED.opened_at)").
		Set("due_at = coalesce(EXCLUDED.due_at, dp.due_at)").
		Set("reason = CASE WHEN EXCLUDED.reason = '' THEN dp.reason ELSE EXCLUDED.reason END").
		Set("updated_at = now()").Exec(ctx)
	if err != nil {
		return fmt.Errorf("keep a dispute: %w", err)
	}

	return nil
}

// disputeText says what the bank has done, and what is to be done.
func disputeText(d *models.Dispute) models.IncidentText {
	switch inquiry := d.Kind == models.DisputeInquiry; {
	case d.State == models.DisputeWon:
		return models.IncidentSays("incident.dispute_won")
	case d.State == models.DisputeLost:
		return models.IncidentSays("incident.dispute_lost")
	case d.State == models.DisputeClosed:
		return models.IncidentSays("incident.dispute_closed")
	case inquiry && d.DueAt != nil:
		return models.IncidentSays("incident.dispute_inquiry_until", "at", *d.DueAt)
	case inquiry:
		return models.IncidentSays("incident.dispute_inquiry")
	case d.DueAt != nil:
		return models.IncidentSays("incident.dispute_chargeback_until", "at", *d.DueAt)
	default:
		return models.IncidentSays("incident.dispute_chargeback")
	}
}
