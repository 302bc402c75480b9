package ledger

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// RevertTransfer says why a mark is taken back.
type RevertTransfer struct {
	Reason string // not empty
	// Once keeps the answer to the request.
	Once db.Once[models.FinancialRecord]
}

// RevertTransferred takes back that a ledger entry was paid out to its provider: what the entry still holds is owed again. Its
// payout is reversed by a further transfer; the mark as it was, who took it back and why are kept. Claw-backs of parts that
// were refunded after the payout are owed no more, because the payout never was: they are netted against the entry in the
// same SQL transaction. Errors: NOT_FOUND; FORBIDDEN to who has marked the entry, and to a person who is no second one beside them
// (db.SecondPerson); INVALID_STATE when the entry is not
// TRANSFERRED, was netted, or has a claw-back that is part of another payout (details: ids); IDEMPOTENCY_KEY_IN_PROGRESS.
func (s *Store) RevertTransferred(ctx context.Context, by db.Actor, id uuid.UUID, in RevertTransfer) (models.FinancialRecord, error) {
	var r models.FinancialRecord

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		rv := payoutRevert{by: by, reason: in.Reason}

		if err := rv.lock(ctx, tx, id); err != nil {
			return err
		}

		if err := rv.allowed(); err != nil {
			return err
		}

		if err := db.SecondPerson(ctx, tx, rv.line.TransferredBy, by.UserID, rv.line.BookingID); err != nil {
			return err
		}

		if err := rv.post(ctx, tx); err != nil {
			return err
		}

		r = *rv.line

		return in.Once.Keep(ctx, tx, r)
	})
	if err != nil {
		return models.FinancialRecord{}, err
	}

	return r, nil
}

// payoutRevert is one mark that is taken back, under the locks of its payment and of all of the payment's entries.
type payoutRevert struct {
	by     db.Actor
	reason string

	line      *models.FinancialRecord
	clawbacks []*models.FinancialRecord // of parts that were refunded under the entry's mark
}

// lock takes the payment first, as refunds do: none of them can split the entry or add a claw-back until this has ended. Then
// all entries of the payment in the order of their ids, as marking does.
func (rv *payoutRevert) lock(ctx context.Context, tx bun.Tx, id uuid.UUID) error {
	var payment uuid.UUID

	err := tx.NewSelect().Model((*models.FinancialRecord)(nil)).Column("payment_transaction_id").Where("fr.id = ?", id).Scan(ctx, &payment)
	if err != nil {
		return db.NotFound(err)
	}

	if _, err := LockTransaction(ctx, tx, payment); err != nil {
		return fmt.Errorf("lock payment: %w", err)
	}

	var lines []models.FinancialRecord

	err = records(tx).Model(&lines).Where("fr.payment_transaction_id = ?", payment).Order("fr.id").For("NO KEY UPDATE OF fr").Scan(ctx)
	if err != nil {
		return fmt.Errorf("lock records: %w", err)
	}

	for i := range lines {
		if lines[i].ID == id {
			rv.line = &lines[i]
		}
	}

	rv.findClawbacks(lines)

	return nil
}

// findClawbacks picks the claw-backs of the refunds that have taken parts of the entry since it was marked: those parts have
// kept the moment of the mark.
func (rv *payoutRevert) findClawbacks(lines []models.FinancialRecord) {
	if !rv.line.Kind.IsOfPayment() || rv.line.TransferredAt == nil {
		return
	}

	refunds := map[uuid.UUID]bool{}

	for i := range lines {
		l := &lines[i]
		if l.Kind.IsOfPayment() && l.BalanceStatus == models.BalanceRefunded && l.RefundID != nil &&
			l.TransferredAt != nil && l.TransferredAt.Equal(*rv.line.TransferredAt) {
			refunds[*l.RefundID] = true
		}
	}

	for i := range lines {
		if l := &lines[i]; l.Kind == models.RecordClawback && refunds[*l.RefundID] {
			rv.clawbacks = append(rv.clawbacks, l)
		}
	}
}

// allowed says whether the mark may be taken back by who asks.
func (rv *payoutRevert) allowed() error {
	switch r := rv.line; {
	case r.BalanceStatus == models.BalanceRefunded && r.TransferredAt != nil:
		return models.NewError(models.CodeInvalidState, "record.revert_refunded")
	case r.BalanceStatus != models.BalanceTransferred:
		return models.NewError(models.CodeInvalidState, "record.not_transferred", "status", r.BalanceStatus)
	case r.NettedAgainst != nil:
		return models.NewError(models.CodeInvalidState,
			"record.netted", "reference", *r.PayoutReference)
	case r.TransferredBy != nil && *r.TransferredBy == rv.by.UserID:
		return models.NewError(models.CodeForbidden, "record.own_mark")
	}

	var settled []uuid.UUID

	for _, c := range rv.clawbacks {
		if c.BalanceStatus != models.BalanceInCurrent {
			settled = append(settled, c.ID)
		}
	}

	if len(settled) > 0 {
		return aboutIDs(models.CodeInvalidState,
			"record.clawbacks_of_other_payout", settled)
	}

	return nil
}

// post moves the entry back, with its reversal, and nets its claw-backs.
func (rv *payoutRevert) post(ctx context.Context, tx bun.Tx) error {
	before, number := payoutState(rv.line), rv.line.TransactionNumber

	if err := rv.reverse(ctx, tx); err != nil {
		return err
	}

	netted := make([]string, len(rv.clawbacks))
	for i, c := range rv.clawbacks {
		netted[i] = c.TransactionNumber
	}

	err := db.Audit(ctx, tx, rv.by, models.AuditFinancialRecordTransferReverted, models.EntityFinancialRecord, &rv.line.ID, map[string]any{
		"transaction_number": number, "provider_id": rv.line.ProviderID, "net_amount": rv.line.NetAmount, "reason": rv.reason,
		"netted_clawbacks": netted, "before": before, "after": payoutState(rv.line),
	})
	if err != nil {
		return err
	}

	// They refer to the entry by its number, which people find it by.
	return payout{reference: &number, nettedAgainst: &rv.line.ID, by: rv.by}.post(ctx, tx, rv.clawbacks)
}

func (rv *payoutRevert) reverse(ctx context.Context, tx bun.Tx) error {
	r := rv.line

	reversals, err := countReversals(ctx, tx, []*models.FinancialRecord{r})
	if err != nil {
		return err
	}

	kept := models.PayoutReversal{
		RecordID: r.ID, N: reversals[r.ID] + 1, TransferredAt: *r.TransferredAt, TransferredBy: r.TransferredBy,
		PayoutReference: r.PayoutReference, PayoutDate: r.PayoutDate, Reason: rv.reason, RevertedBy: rv.by.UserID,
	}
	if _, err := tx.NewInsert().Model(&kept).Returning("created_at").Exec(ctx); err != nil {
		return fmt.Errorf("insert payout reversal: %w", err)
	}

	r.BalanceStatus, r.PayoutReference, r.PayoutDate = models.BalanceInCurrent, nil, nil
	r.TransferredAt, r.TransferredBy, r.TransferrerName, r.PayoutRevertedAt = nil, nil, "", &kept.CreatedAt

	res, err := tx.NewUpdate().Model(r).
		Column("balance_status", "payout_reference", "payout_date", "transferred_at", "transferred_by").Set("updated_at = now()").
		WherePK().Where("balance_status = ?", models.BalanceTransferred).Returning("updated_at").Exec(ctx)
	if err != nil {
		return fmt.Errorf("take mark back: %w", err)
	}

	if err := db.AffectedOne(res, "record"); err != nil {
		return err
	}

	return PostTransfers(ctx, tx, models.PayoutReversalTransfer(r, kept.N-1))
}

// countReversals counts how often each of the locked entries was marked and the mark taken back.
func countReversals(ctx context.Context, tx bun.Tx, lines []*models.FinancialRecord) (map[uuid.UUID]int, error) {
	ids := make([]uuid.UUID, len(lines))
	for i, r := range lines {
		ids[i] = r.ID
	}

	var counts []struct {
		RecordID uuid.UUID
		N        int
	}

	err := tx.NewSelect().Model((*models.PayoutReversal)(nil)).Column("record_id").ColumnExpr("max(n) AS n").
		Where("record_id IN (?)", bun.List(ids)).Group("record_id").Scan(ctx, &counts)
	if err != nil {
		return nil, fmt.Errorf("count reversals: %w", err)
	}

	n := make(map[uuid.UUID]int, len(counts))
	for _, c := range counts {
		n[c.RecordID] = c.N
	}

	return n, nil
}
