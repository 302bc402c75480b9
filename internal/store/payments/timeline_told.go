package payments

import (
	"context"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"rihla/internal/store/outbox"
	"rihla/models"
)

// webhooks lists what the gateway said. A message that says the same as one before, and changed nothing besides, is no entry of its own:
// it is counted and kept with the first (details.repeats).
func (t *timeline) webhooks(ctx context.Context, db bun.IDB) error {
	var events []models.WebhookEvent

	err := db.NewSelect().Model(&events).
		Where("we.transaction_id = ? OR we.refund_id IN (?)", t.id, bun.List(t.refundIDs)).
		Order("we.received_at", "we.id").Scan(ctx)
	if err != nil {
		return err
	}

	first := map[string]int{} // of what is said: its entry

	for i := range events {
		e := &events[i]
		said := saidBy(e)

		if at, known := first[said]; known && repeats(models.EventOutcome(t.entries[at].Facts.Outcome), e.Outcome) {
			told := &t.entries[at]
			told.Facts.Deliveries++
			earlier, _ := told.Details["repeats"].([]map[string]any)
			told.Details["repeats"] = append(earlier, eventFacts(e))

			continue
		} else if !known {
			first[said] = len(t.entries)
		}

		t.webhook(e)
	}

	return nil
}

func (t *timeline) webhook(e *models.WebhookEvent) {
	became := "not processed yet"
	if e.ProcessedAt != nil {
		became = eventOutcomeWords[e.Outcome]
	}

	if e.Type.IsAboutRefund() && e.RefundID == nil && e.Outcome == models.OutcomeIgnored {
		became = "a refund that was not ordered here; the gateway is asked what has gone back"
	}

	event := EventWebhookReceived
	if strings.HasPrefix(e.WebhookID, models.PolledPrefix) {
		event = EventGatewayAnswered
	}

	t.addf(e.ReceivedAt, event, TimelineFacts{
		TransactionID: e.TransactionID, RefundID: e.RefundID, GatewayRefundID: e.GatewayRefundID, Channel: string(e.Channel),
		EventType: string(e.Type), Outcome: string(e.Outcome), Amount: e.Amount, Currency: e.Currency, Deliveries: 1,
	}, eventFacts(e), "The gateway reported %s: %s", e.Type, became)
}

// saidBy is what a message says: the same for its repetitions, and for our own question about it.
func saidBy(e *models.WebhookEvent) string {
	amount := ""
	if e.Amount != nil {
		amount = e.Amount.String()
	}

	return fmt.Sprint(e.Type, "|", e.MerchantReference, "|", e.CheckoutID, "|", amount, "|", e.Currency, "|",
		e.ResultCode, "|", e.FailureReason)
}

// repeats reports that a message with an outcome adds nothing to the one before it.
func repeats(before, outcome models.EventOutcome) bool {
	return outcome == models.OutcomeDuplicate || before == outcome && outcome == models.OutcomeApplied
}

func eventFacts(e *models.WebhookEvent) map[string]any {
	details := map[string]any{
		"channel": e.Channel, "webhook_id": e.WebhookID, "type": e.Type, "outcome": e.Outcome, "received_at": e.ReceivedAt,
		"result_code": e.ResultCode, "currency": e.Currency, "occurred_at": e.OccurredAt, "processed_at": e.ProcessedAt,
	}
	if e.Amount != nil {
		details["amount"] = *e.Amount
	}

	if e.PaymentMethod != "" {
		details["payment_method"] = e.PaymentMethod
	}

	if e.Body != nil {
		details["body"], details["signature"] = *e.Body, *e.Signature
	}

	return details
}

var eventOutcomeWords = map[models.EventOutcome]string{
	models.OutcomeApplied:   "applied",
	models.OutcomeDuplicate: "known already, nothing changed",
	models.OutcomeIgnored:   "ignored, nothing changed",
	models.OutcomeIncident:  "left to a person as an incident",
}

// states lists what the transaction has come to. The transaction of a refund says in the payment's timeline what the refund's own entry
// says: it is left out there.
func (t *timeline) states(ctx context.Context, db bun.IDB) error {
	var changes []models.StateChange

	err := db.NewSelect().Model(&changes).Where("sc.transaction_id = ?", t.id).Order("sc.id").Scan(ctx)
	if err != nil {
		return err
	}

	for i := range changes {
		c := &changes[i]
		details := map[string]any{"transaction_id": c.TransactionID, "from_status": c.FromStatus, "to_status": c.ToStatus}
		facts := TimelineFacts{TransactionID: &c.TransactionID, ToStatus: string(c.ToStatus)}

		var why string

		if t.paidBy != nil && (c.ToStatus == models.TransactionPaid || c.FailureCode != nil && c.FailureCode.IsMismatch()) {
			facts.PaidBy = string(*t.paidBy.PaidBy)
			details["paid_by"], details["payment_method"] = *t.paidBy.PaidBy, t.paidBy.PaymentMethod
			why = fmt.Sprintf(", paid by %s and not by %s as chosen", t.paidBy.PaidBy.Label().EN, t.paidBy.PaymentMethod.Label().EN)
		}

		if c.FailureCode != nil {
			details["failure_code"], facts.FailureCode = *c.FailureCode, string(*c.FailureCode)
			why = fmt.Sprintf(" (%s)", *c.FailureCode) + why
		}

		if c.FromStatus == nil {
			t.addf(c.ChangedAt, EventTransactionOpened, facts, details, "The transaction was opened as %s%s", c.ToStatus, why)
		} else {
			facts.FromStatus = string(*c.FromStatus)
			t.addf(c.ChangedAt, EventStatusChanged, facts, details, "The transaction went from %s to %s%s", *c.FromStatus, c.ToStatus, why)
		}
	}

	return nil
}

func (t *timeline) notifications(ctx context.Context, db bun.IDB) error {
	var all []models.Notification

	err := db.NewSelect().Model(&all).Where("n.transaction_id IN (?)", bun.List(t.transactions)).
		Order("n.created_at", "n.kind", "n.channel").Scan(ctx)
	if err != nil {
		return err
	}

	for i := range all {
		n := &all[i]
		details := map[string]any{
			"notification_id": n.ID, "notification_kind": n.Kind, "channel": n.Channel, "status": n.Status, "attempts": n.Attempts,
		}
		facts := TimelineFacts{
			TransactionID: &n.TransactionID, NotificationID: &n.ID, NotificationKind: string(n.Kind), Channel: string(n.Channel),
			Attempts: &n.Attempts,
		}

		t.message(n, facts, details)

		if n.SentAt != nil {
			t.addf(*n.SentAt, EventMessageSent, facts, details, "Notification %s by %s was sent", n.Kind, n.Channel)
		}
	}

	return nil
}

// message tells that a message was queued, and, of one that is not sent, why.
func (t *timeline) message(n *models.Notification, facts TimelineFacts, details map[string]any) {
	reason := outbox.HeldBack(n)

	switch {
	case n.SentAt != nil || reason == "":
		t.addf(n.CreatedAt, EventMessageQueued, facts, details, "Notification %s by %s was queued", n.Kind, n.Channel)
	case n.Status == models.NotificationFailed:
		facts.Reason, details["reason"], details["last_error"] = string(reason), reason, n.LastError
		t.addf(n.CreatedAt, EventMessageGivenUp, facts, details, "Notification %s by %s was given up: %s", n.Kind, n.Channel, n.LastError)
	default:
		facts.Reason, facts.Until = string(reason), &n.NextAttemptAt
		details["reason"], details["last_error"], details["next_attempt_at"] = reason, n.LastError, n.NextAttemptAt
		t.addf(n.CreatedAt, EventMessageWaiting, facts, details, "Notification %s by %s was queued and waits: %s", n.Kind, n.Channel, n.LastError)
	}
}

// disputes tells what a gateway has said about disputes, and how they ended.
func (t *timeline) disputes(ctx context.Context, db bun.IDB) error {
	var all []models.Dispute

	err := db.NewSelect().Model(&all).Where("dp.payment_transaction_id = ?", t.id).Order("dp.opened_at", "dp.id").Scan(ctx)
	if err != nil {
		return err
	}

	for i := range all {
		d := &all[i]
		facts := TimelineFacts{
			TransactionID: &d.PaymentTransactionID, IncidentID: &d.IncidentID, IncidentKind: string(models.IncidentPaymentDisputed),
			DisputeKind: string(d.Kind), ToStatus: string(models.DisputeOpen), Amount: d.Amount, Currency: d.Currency,
			Reason: d.Reason, Until: d.DueAt,
		}
		details := map[string]any{
			"gateway_dispute_id": d.GatewayDisputeID, "dispute_kind": d.Kind, "dispute_state": d.State, "reason": d.Reason,
			"incident_id": d.IncidentID,
		}

		t.addf(d.OpenedAt, EventDisputeOpened, facts, details, "The customer's bank opened a dispute (%s)", d.Kind)

		if d.ClosedAt != nil {
			facts.ToStatus, facts.Until = string(d.State), nil
			t.addf(*d.ClosedAt, EventDisputeClosed, facts, details, "The dispute (%s) ended: %s", d.Kind, d.State)
		}
	}

	return nil
}

func (t *timeline) incidents(ctx context.Context, db bun.IDB) error {
	var all []models.Incident

	err := db.NewSelect().Model(&all).
		Where("ic.payment_transaction_id IN (?) OR ic.refund_id IN (?)", bun.List(t.transactions), bun.List(t.refundIDs)).
		Order("ic.created_at", "ic.id").Scan(ctx)
	if err != nil {
		return err
	}

	for i := range all {
		c := &all[i]
		details := map[string]any{"incident_id": c.ID, "incident_kind": c.Kind, "status": c.Status}
		facts := TimelineFacts{IncidentID: &c.ID, IncidentKind: string(c.Kind), RefundID: c.RefundID, TransactionID: c.PaymentTransactionID}

		t.addf(c.CreatedAt, EventIncidentOpened, facts, details, "Incident %s was opened: %s", c.Kind, c.Message)

		if c.ResolvedAt != nil {
			t.addf(*c.ResolvedAt, EventIncidentResolved, facts, details, "Incident %s was resolved", c.Kind)
		}
	}

	return nil
}
