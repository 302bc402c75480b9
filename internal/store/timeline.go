package store

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

// The kinds of timeline entry, in the order in which things of the same moment are told.
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
// time order (contract §5). Error: NOT_FOUND.
func (s *Store) Timeline(ctx context.Context, transaction uuid.UUID) ([]TimelineEntry, error) {
	var t timeline

	// One snapshot, so that no effect is told without its cause.
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

	if err := withPayouts(ctx, db, t.refunds); err != nil {
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

func (t *timeline) ledger(ctx context.Context, db bun.IDB) error {
	var lines []models.FinancialRecord

	err := db.NewSelect().Model(&lines).Where("fr.payment_transaction_id = ?", t.payment).
		Order("fr.created_at", "fr.id").Scan(ctx)
	if err != nil {
		return err
	}

	reversals, err := reversalsOf(ctx, db, t.payment)
	if err != nil {
		return err
	}

	if t.payment == t.id {
		if err := t.suspense(ctx, db); err != nil {
			return err
		}
	}

	written := asWritten(lines)

	for i := range lines {
		l, details := &lines[i], recordDetails(&written[i])

		if t.tellsWriting(l) {
			t.addf(l.CreatedAt, TimelineLedger, details, "Ledger line %s (%s) was written", l.TransactionNumber, l.Kind)
		}

		// The rest of a split line carries the mark of the whole, which is told there.
		if t.payment == t.id && l.TransferredAt != nil && l.TransferredAt.After(l.CreatedAt) {
			t.addf(*l.TransferredAt, TimelineLedger, details, "Ledger line %s was paid out to the provider", l.TransactionNumber)
		}

		if t.payment == t.id {
			t.reversals(reversals[l.ID], l, details)
		}

		if at := t.completion(l); at != nil {
			t.addf(*at, TimelineLedger, recordDetails(l), "Ledger line %s became REFUNDED", l.TransactionNumber)
		}
	}

	return nil
}

// suspense tells of money that the gateway took in another amount or currency than was asked for.
func (t *timeline) suspense(ctx context.Context, db bun.IDB) error {
	var booked []models.LedgerTransfer

	err := db.NewSelect().Model(&booked).Where("lt.transaction_id = ?", t.payment).
		Where("lt.kind = ?", models.TransferSuspense).Scan(ctx)
	if err != nil {
		return err
	}

	for i := range booked {
		b := &booked[i]
		t.addf(b.CreatedAt, TimelineLedger, map[string]any{
			"debit_account": b.DebitAccount, "credit_account": b.CreditAccount, "amount": b.Amount,
		}, "%s was booked into %s: the gateway took another amount or currency than was asked for", b.Amount, b.CreditAccount)
	}

	return nil
}

// reversalsOf reads the marks of a payment's lines that were taken back, by line.
func reversalsOf(ctx context.Context, db bun.IDB, payment uuid.UUID) (map[uuid.UUID][]models.PayoutReversal, error) {
	var all []models.PayoutReversal

	err := db.NewSelect().Model(&all).
		Where("pr.record_id IN (SELECT id FROM financial_records WHERE payment_transaction_id = ?)", payment).
		Order("pr.record_id", "pr.n").Scan(ctx)

	byLine := make(map[uuid.UUID][]models.PayoutReversal)
	for _, r := range all {
		byLine[r.RecordID] = append(byLine[r.RecordID], r)
	}

	return byLine, err
}

// reversals tells of marks that were taken back; the first mark of the rest of a split line is told with the whole.
func (t *timeline) reversals(all []models.PayoutReversal, l *models.FinancialRecord, details map[string]any) {
	for _, r := range all {
		if r.TransferredAt.After(l.CreatedAt) {
			t.addf(r.TransferredAt, TimelineLedger, details, "Ledger line %s was paid out to the provider", l.TransactionNumber)
		}

		t.addf(r.CreatedAt, TimelineLedger, details, "The payout mark of ledger line %s was taken back", l.TransactionNumber)
	}
}

func recordDetails(l *models.FinancialRecord) map[string]any {
	return map[string]any{
		"record_id": l.ID, "transaction_number": l.TransactionNumber, "record_kind": l.Kind, "split_from": l.SplitFrom,
		"gross_amount": l.GrossAmount, "platform_commission_amount": l.PlatformCommissionAmount, "net_amount": l.NetAmount,
	}
}

// asWritten gives lines, which are in the order of their creation, the amounts they were written with: a refund
// leaves a line only the refunded part, and the rest to a later line.
func asWritten(lines []models.FinancialRecord) []models.FinancialRecord {
	written := slices.Clone(lines)
	at := make(map[uuid.UUID]int, len(lines))

	for i := range lines {
		at[lines[i].ID] = i
	}

	for _, rest := range slices.Backward(written) {
		if rest.SplitFrom == nil {
			continue
		}

		whole := &written[at[*rest.SplitFrom]]
		whole.GrossAmount = whole.GrossAmount.Add(rest.GrossAmount)
		whole.PlatformCommissionAmount = whole.PlatformCommissionAmount.Add(rest.PlatformCommissionAmount)
		whole.NetAmount = whole.NetAmount.Add(rest.NetAmount)
	}

	return written
}

// tellsWriting reports whether a line of the payment was written by what the timeline is about.
func (t *timeline) tellsWriting(l *models.FinancialRecord) bool {
	return t.payment == t.id || slices.ContainsFunc(t.refundIDs, func(refund uuid.UUID) bool {
		return l.ID == models.RecordID(refund, "REST") || l.ID == models.RecordID(refund, string(models.RecordClawback))
	})
}

// completion is when the refund that made a line REFUNDED succeeded.
func (t *timeline) completion(l *models.FinancialRecord) *time.Time {
	if l.BalanceStatus != models.BalanceRefunded || l.RefundID == nil {
		return nil
	}

	for i := range t.refunds {
		if t.refunds[i].ID == *l.RefundID {
			return t.refunds[i].CompletedAt
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

		details := map[string]any{
			"refund_id": r.ID, "refund_type": r.RefundType, "amount": r.Amount, "currency": r.Currency, "status": r.Status,
		}

		if r.FailureCode != nil {
			details["failure_code"] = *r.FailureCode
		}

		t.addf(r.CreatedAt, TimelineRefund, details, "A %s refund of %s %s was requested", r.RefundType, r.Amount, r.Currency)

		if d := r.Payout; d != nil {
			t.addf(d.DecidedAt, TimelineRefund, map[string]any{"refund_id": r.ID, "decision": d.Decision, "decided_by": d.DecidedBy},
				"Finance staff decided about the payout of %s %s by hand: %s", r.Amount, r.Currency, d.Decision)
		}

		if r.CompletedAt != nil {
			t.addf(*r.CompletedAt, TimelineRefund, details, "The refund of %s %s %s", r.Amount, r.Currency, became)
		}
	}

	return nil
}

var refundWords = map[models.RefundStatus]string{
	models.RefundPending:   "is running",
	models.RefundSucceeded: "succeeded",
	models.RefundFailed:    "was refused by the gateway",
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
