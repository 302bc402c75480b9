package payments

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// TimelineEntry is one thing that happened to a payment, in words for an operator. Details hold no personal data of ours; those of
// a webhook hold its body as the gateway signed it.
type TimelineEntry struct {
	At      time.Time
	Kind    string
	Summary string
	Details map[string]any
}

// The kinds of timeline entry, in the order in which entries of the same moment are listed.
const (
	TimelineWebhook      = "WEBHOOK"
	TimelineState        = "STATE_CHANGE"
	TimelineRefund       = "REFUND"
	TimelineLedger       = "LEDGER"
	TimelineNotification = "NOTIFICATION"
	TimelineIncident     = "INCIDENT"
)

var timelineRank = map[string]int{
	TimelineWebhook: 0, TimelineState: 1, TimelineRefund: 2, TimelineLedger: 3, TimelineNotification: 4, TimelineIncident: 5,
}

// Timeline tells what happened to a payment attempt and to its refunds, or to the transaction of one refund, in
// time order (rules: audit.timeline). Error: NOT_FOUND.
func (s *Store) Timeline(ctx context.Context, transaction uuid.UUID) ([]TimelineEntry, error) {
	var t timeline

	// One snapshot, so that no effect is listed without its cause.
	o := &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}

	err := s.db.RunInTx(ctx, o, func(ctx context.Context, tx bun.Tx) error {
		if err := t.find(ctx, tx, transaction); err != nil {
			return err
		}

		for _, read := range []func(context.Context, bun.IDB) error{
			t.webhooks, t.states, t.ledger, t.refunded, t.notifications, t.incidents,
		} {
			if err := read(ctx, tx); err != nil {
				return fmt.Errorf("read timeline: %w", err)
			}
		}

		return nil
	})
	if err != nil {
		return nil, err
	}

	slices.SortStableFunc(t.entries, func(a, b TimelineEntry) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(timelineRank[a.Kind], timelineRank[b.Kind]))
	})

	return t.entries, nil
}

// timeline gathers the entries about a transaction and what belongs to it.
type timeline struct {
	id           uuid.UUID
	payment      uuid.UUID   // the payment attempt: itself, or what its refund gave back
	transactions []uuid.UUID // itself and those of its refunds
	refunds      []models.Refund
	refundIDs    []uuid.UUID
	entries      []TimelineEntry
}

func (t *timeline) addf(at time.Time, kind string, details map[string]any, format string, args ...any) {
	t.entries = append(t.entries, TimelineEntry{At: at, Kind: kind, Summary: fmt.Sprintf(format, args...), Details: details})
}

// find reads what the timeline is about. Error: NOT_FOUND.
func (t *timeline) find(ctx context.Context, db bun.IDB, id uuid.UUID) error {
	t.id = id

	var all []models.PaymentTransaction

	err := db.NewSelect().Model(&all).Where("pt.id = ? OR pt.parent_id = ?", id, id).Scan(ctx)
	if err != nil {
		return fmt.Errorf("read transactions: %w", err)
	}

	for i := range all {
		t.transactions = append(t.transactions, all[i].ID)

		switch {
		case all[i].ID != id:
		case all[i].ParentID != nil:
			t.payment = *all[i].ParentID
		default:
			t.payment = id
		}
	}

	if t.payment == uuid.Nil {
		return models.NotFound()
	}

	err = db.NewSelect().Model(&t.refunds).
		Where("rf.payment_transaction_id = ? OR rf.refund_transaction_id = ?", id, id).Scan(ctx)
	if err != nil {
		return fmt.Errorf("read refunds: %w", err)
	}

	if err := WithPayouts(ctx, db, t.refunds); err != nil {
		return err
	}

	if err := WithApprovals(ctx, db, t.refunds); err != nil {
		return err
	}

	for i := range t.refunds {
		t.refundIDs = append(t.refundIDs, t.refunds[i].ID)
	}

	return nil
}

func (t *timeline) webhooks(ctx context.Context, db bun.IDB) error {
	var events []models.WebhookEvent

	err := db.NewSelect().Model(&events).
		Where("we.transaction_id = ? OR we.refund_id IN (?)", t.id, bun.List(t.refundIDs)).
		Order("we.received_at", "we.id").Scan(ctx)
	if err != nil {
		return err
	}

	for i := range events {
		e := &events[i]

		became := "not processed yet"
		if e.ProcessedAt != nil {
			became = eventOutcomeWords[e.Outcome]
		}

		details := map[string]any{
			"channel": e.Channel, "webhook_id": e.WebhookID, "type": e.Type, "outcome": e.Outcome,
			"result_code": e.ResultCode, "currency": e.Currency, "occurred_at": e.OccurredAt, "processed_at": e.ProcessedAt,
		}
		if e.Amount != nil {
			details["amount"] = *e.Amount
		}

		if e.Body != nil {
			details["body"], details["signature"] = *e.Body, *e.Signature
		}

		t.addf(e.ReceivedAt, TimelineWebhook, details, "The gateway reported %s: %s", e.Type, became)
	}

	return nil
}

var eventOutcomeWords = map[models.EventOutcome]string{
	models.OutcomeApplied:   "applied",
	models.OutcomeDuplicate: "known already, nothing changed",
	models.OutcomeIgnored:   "ignored, nothing changed",
	models.OutcomeIncident:  "left to a person as an incident",
}

func (t *timeline) states(ctx context.Context, db bun.IDB) error {
	var changes []models.StateChange

	err := db.NewSelect().Model(&changes).Where("sc.transaction_id IN (?)", bun.List(t.transactions)).
		Order("sc.id").Scan(ctx)
	if err != nil {
		return err
	}

	for i := range changes {
		c := &changes[i]
		details := map[string]any{"transaction_id": c.TransactionID, "from_status": c.FromStatus, "to_status": c.ToStatus}

		var why string

		if c.FailureCode != nil {
			details["failure_code"] = *c.FailureCode
			why = fmt.Sprintf(" (%s)", *c.FailureCode)
		}

		if c.FromStatus == nil {
			t.addf(c.ChangedAt, TimelineState, details, "The transaction was opened as %s%s", c.ToStatus, why)
		} else {
			t.addf(c.ChangedAt, TimelineState, details, "The transaction went from %s to %s%s", *c.FromStatus, c.ToStatus, why)
		}
	}

	return nil
}

func (t *timeline) refunded(context.Context, bun.IDB) error {
	for i := range t.refunds {
		r := &t.refunds[i]
		became := refundWords[r.Status]

		if d := r.Payout; d != nil && d.Decision == models.PayoutRejected {
			became = "was not paid out"
		}

		if d := r.Approval; d != nil && d.Decision != models.ApprovalApproved {
			became = "was not approved"
		}

		details := map[string]any{
			"refund_id": r.ID, "refund_type": r.RefundType, "amount": r.Amount, "currency": r.Currency, "status": r.Status,
		}

		if r.FailureCode != nil {
			details["failure_code"] = *r.FailureCode
		}

		t.addf(r.CreatedAt, TimelineRefund, details, "A %s refund of %s %s was requested", r.RefundType, r.Amount, r.Currency)

		if d := r.Approval; d != nil {
			t.addf(d.DecidedAt, TimelineRefund, map[string]any{"refund_id": r.ID, "decision": d.Decision, "decided_by": d.DecidedBy},
				"The refund of %s %s, which needs an approval: %s", r.Amount, r.Currency, d.Decision)
		}

		if d := r.Payout; d != nil {
			t.addf(d.DecidedAt, TimelineRefund, map[string]any{"refund_id": r.ID, "decision": d.Decision, "decided_by": d.DecidedBy},
				"Finance staff decided about the payout of %s %s by hand: %s", r.Amount, r.Currency, d.Decision)
		}

		if r.CompletedAt != nil {
			t.addf(*r.CompletedAt, TimelineRefund, details, "The refund of %s %s %s", r.Amount, r.Currency, became)
		}

		if r.ReturnedAt != nil {
			t.addf(*r.ReturnedAt, TimelineRefund, details, "The refund of %s %s came back: it is owed", r.Amount, r.Currency)
		}
	}

	return nil
}

var refundWords = map[models.RefundStatus]string{
	models.RefundPending:   "is running",
	models.RefundSucceeded: "succeeded",
	models.RefundFailed:    "was rejected by the gateway",
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

		t.addf(n.CreatedAt, TimelineNotification, details, "Notification %s by %s was queued", n.Kind, n.Channel)

		if n.SentAt != nil {
			t.addf(*n.SentAt, TimelineNotification, details, "Notification %s by %s was sent", n.Kind, n.Channel)
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

		t.addf(c.CreatedAt, TimelineIncident, details, "Incident %s was opened: %s", c.Kind, c.Message)

		if c.ResolvedAt != nil {
			t.addf(*c.ResolvedAt, TimelineIncident, details, "Incident %s was resolved", c.Kind)
		}
	}

	return nil
}

// WithPayouts reads the decisions about refunds into them.
func WithPayouts(ctx context.Context, db bun.IDB, refunds []models.Refund) error {
	at := map[uuid.UUID]int{}

	for i := range refunds {
		if refunds[i].GoesByHand() {
			at[refunds[i].ID] = i
		}
	}

	if len(at) == 0 {
		return nil
	}

	ids := make([]uuid.UUID, 0, len(at))
	for id := range at {
		ids = append(ids, id)
	}

	var all []models.RefundPayout
	if err := db.NewSelect().Model(&all).Where("refund_id IN (?)", bun.List(ids)).Scan(ctx); err != nil {
		return fmt.Errorf("read payouts: %w", err)
	}

	for i := range all {
		refunds[at[all[i].RefundID]].Payout = &all[i]
	}

	return nil
}

// WithApprovals reads what was decided about refunds that need an approval into them.
func WithApprovals(ctx context.Context, db bun.IDB, refunds []models.Refund) error {
	at, ids := map[uuid.UUID]int{}, []uuid.UUID(nil)

	for i := range refunds {
		if refunds[i].ApprovalUntil != nil {
			at[refunds[i].ID] = i
			ids = append(ids, refunds[i].ID)
		}
	}

	if len(ids) == 0 {
		return nil
	}

	var all []models.RefundApproval
	if err := db.NewSelect().Model(&all).Where("refund_id IN (?)", bun.List(ids)).Scan(ctx); err != nil {
		return fmt.Errorf("read approvals: %w", err)
	}

	for i := range all {
		refunds[at[all[i].RefundID]].Approval = &all[i]
	}

	return nil
}
