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

// TimelineEntry is one thing that happened to a payment: what it was (Event), the facts that programs may rely on, and words for an
// operator. Details hold no personal data of ours; those of a webhook hold its body as the gateway signed it.
type TimelineEntry struct {
	At      time.Time
	Kind    string
	Event   TimelineEvent
	Facts   TimelineFacts
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
			t.webhooks, t.states, t.ledger, t.refunded, t.notifications, t.disputes, t.incidents,
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
	payment      uuid.UUID                  // the payment attempt: itself, or what its refund gave back
	paidBy       *models.PaymentTransaction // itself, where it was paid by another method than was chosen
	transactions []uuid.UUID                // itself and those of its refunds
	refunds      []models.Refund
	refundIDs    []uuid.UUID
	entries      []TimelineEntry
	// refundedEntries are the ledger entries that refunds have closed, by refund: the refund's own entry tells of them.
	refundedEntries map[uuid.UUID]models.FinancialRecord
}

// addf appends an entry; its kind follows from the event.
func (t *timeline) addf(at time.Time, event TimelineEvent, facts TimelineFacts, details map[string]any, format string, args ...any) {
	t.entries = append(t.entries, TimelineEntry{
		At: at, Kind: timelineKinds[event], Event: event, Facts: facts, Summary: fmt.Sprintf(format, args...), Details: details,
	})
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

			if all[i].PaidBy != nil {
				t.paidBy = &all[i]
			}
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
