package payments

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

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
	t.refundedEntries = map[uuid.UUID]models.FinancialRecord{}

	for i := range lines {
		l, details, facts := &lines[i], recordDetails(&written[i]), recordFacts(&written[i])

		switch {
		case !t.tellsWriting(l):
		case l.SplitFrom != nil:
			t.addf(l.CreatedAt, EventRecordSplit, facts, details, "Ledger entry %s (%s) was written: it carries what the refund has left",
				l.TransactionNumber, l.Kind)
		default:
			t.addf(l.CreatedAt, EventRecordWritten, facts, details, "Ledger entry %s (%s) was written", l.TransactionNumber, l.Kind)
		}

		// The rest of a split entry carries the mark of the whole, which is listed there.
		if t.payment == t.id && l.TransferredAt != nil && l.TransferredAt.After(l.CreatedAt) {
			t.addf(*l.TransferredAt, EventRecordPaidOut, facts, details, "Ledger entry %s was paid out to the provider", l.TransactionNumber)
		}

		if t.payment == t.id {
			t.reversals(reversals[l.ID], l, details)
		}

		if l.BalanceStatus == models.BalanceRefunded && l.RefundID != nil {
			t.refundedEntries[*l.RefundID] = *l
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
		t.addf(b.CreatedAt, EventSuspenseBooked, TimelineFacts{
			TransactionID: &t.payment, Amount: &b.Amount, Currency: b.CreditAccount.Currency(),
			DebitAccount: string(b.DebitAccount), CreditAccount: string(b.CreditAccount),
		}, map[string]any{
			"debit_account": b.DebitAccount, "credit_account": b.CreditAccount, "amount": b.Amount,
		}, "%s was booked into %s: the gateway took another amount or currency than was asked for", b.Amount, b.CreditAccount)
	}

	return nil
}

// reversalsOf reads the marks of a payment's entries that were taken back, by entry.
func reversalsOf(ctx context.Context, db bun.IDB, payment uuid.UUID) (map[uuid.UUID][]models.PayoutReversal, error) {
	var all []models.PayoutReversal

	err := db.NewSelect().Model(&all).
		Where("pr.record_id IN (SELECT id FROM financial_records WHERE payment_transaction_id = ?)", payment).
		Order("pr.record_id", "pr.n").Scan(ctx)

	byEntry := make(map[uuid.UUID][]models.PayoutReversal)
	for _, r := range all {
		byEntry[r.RecordID] = append(byEntry[r.RecordID], r)
	}

	return byEntry, err
}

// reversals lists marks that were taken back; the first mark of the rest of a split entry is listed with the whole.
func (t *timeline) reversals(all []models.PayoutReversal, l *models.FinancialRecord, details map[string]any) {
	for _, r := range all {
		if r.TransferredAt.After(l.CreatedAt) {
			t.addf(r.TransferredAt, EventRecordPaidOut, recordFacts(l), details, "Ledger entry %s was paid out to the provider", l.TransactionNumber)
		}

		t.addf(r.CreatedAt, EventPayoutReverted, recordFacts(l), details, "The payout mark of ledger entry %s was taken back",
			l.TransactionNumber)
	}
}

func recordDetails(l *models.FinancialRecord) map[string]any {
	return map[string]any{
		"record_id": l.ID, "transaction_number": l.TransactionNumber, "record_kind": l.Kind, "split_from": l.SplitFrom,
		"gross_amount": l.GrossAmount, "platform_commission_amount": l.PlatformCommissionAmount, "net_amount": l.NetAmount,
	}
}

func recordFacts(l *models.FinancialRecord) TimelineFacts {
	return TimelineFacts{
		TransactionID: &l.PaymentTransactionID, RecordID: &l.ID, TransactionNumber: l.TransactionNumber, RecordKind: string(l.Kind),
		SplitFrom: l.SplitFrom, Amount: &l.GrossAmount, Currency: l.Currency,
	}
}

// asWritten gives entries, which are in the order of their creation, the amounts they were written with: a refund
// leaves an entry only the refunded part, and the rest to a later entry.
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

// tellsWriting reports whether an entry of the payment was written by what the timeline is about.
func (t *timeline) tellsWriting(l *models.FinancialRecord) bool {
	return t.payment == t.id || slices.ContainsFunc(t.refundIDs, func(refund uuid.UUID) bool {
		return l.ID == models.RecordID(refund, "REST") ||
			l.ID == models.RecordID(refund, string(models.RecordClawback)) || l.ID == models.RecordID(refund, string(models.RecordAdjustment))
	})
}
