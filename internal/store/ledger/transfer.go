package ledger

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// MaxTransfers is how many ledger entries one call may mark as paid out (rules: payouts.all-or-none).
const MaxTransfers = 500

// MarkTransfer says how a ledger entry was paid out; all of it may be left out.
type MarkTransfer struct {
	Reference *string
	Date      *models.Date
	// NewReference refuses a reference that another payout has (RequireNewReference).
	NewReference bool
	// Once keeps the answer to the request.
	Once db.Once[models.FinancialRecord]
}

// MarkTransfers says how several ledger entries were paid out together.
type MarkTransfers struct {
	IDs       []uuid.UUID // 1 to MaxTransfers, each once
	Reference *string
	Date      *models.Date
	// NewReference refuses a reference that another payout has (RequireNewReference).
	NewReference bool
	// Once keeps the answer to the request.
	Once db.Once[[]models.FinancialRecord]
}

// MarkTransferred notes that a ledger entry has been paid out to its provider: the entry, its transfer, an audit entry
// and the answer to the request in one SQL transaction. The same call again returns the entry as it is. Errors: NOT_FOUND,
// PAYMENT_DISPUTED; RECORD_NOT_TRANSFERABLE when the entry is REFUNDED, or was paid out with another reference or date; VALIDATION_ERROR on
// payout_date when it is in the future or before the entry's record_date; PAYOUT_REFERENCE_USED; APPROVAL_REQUIRED when the person
// marks more than policies.PayoutAbove within 24 hours; IDEMPOTENCY_KEY_IN_PROGRESS when the request has lost its key to another one.
func (s *Store) MarkTransferred(
	ctx context.Context, by db.Actor, id uuid.UUID, m MarkTransfer,
) (models.FinancialRecord, error) {
	var r models.FinancialRecord

	p := payout{reference: m.Reference, date: m.Date, by: by, newReference: m.NewReference}

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := p.lockActs(ctx, tx); err != nil {
			return err
		}

		if err := p.checkReference(ctx, tx, []uuid.UUID{id}); err != nil {
			return err
		}

		lines, err := p.lock(ctx, tx, []uuid.UUID{id})
		if err != nil {
			return err
		}

		if len(lines) == 0 {
			return models.NotFound()
		}

		r = lines[0]

		switch {
		case r.BalanceStatus == models.BalanceInCurrent:
			if err := p.mark(ctx, tx, s.policies.PayoutAbove, []*models.FinancialRecord{&r}); err != nil {
				return err
			}
		case !p.isThatOf(&r):
			return models.NewError(models.CodeRecordNotTransferable,
				"record.not_transferable", "status", r.BalanceStatus)
		}

		return m.Once.Keep(ctx, tx, r)
	})
	if err != nil {
		return models.FinancialRecord{}, err
	}

	return r, nil
}

// MarkAllTransferred is MarkTransferred for several entries, all or none of them, in the order of the ids (rules: payouts.all-or-none).
// The same call again returns them as they are; entries of which some are marked already and others are not were never
// marked together. Errors: VALIDATION_ERROR on ids (none, too many, one
// twice) and on payout_date as there; NOT_FOUND and RECORD_NOT_TRANSFERABLE with the ids in the details; PAYMENT_DISPUTED;
// APPROVAL_REQUIRED; IDEMPOTENCY_KEY_IN_PROGRESS.
func (s *Store) MarkAllTransferred(ctx context.Context, by db.Actor, m MarkTransfers) ([]models.FinancialRecord, error) {
	if err := validTransfers(m.IDs); err != nil {
		return nil, err
	}

	var out []models.FinancialRecord

	p := payout{reference: m.Reference, date: m.Date, by: by, newReference: m.NewReference}

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := p.lockActs(ctx, tx); err != nil {
			return err
		}

		if err := p.checkReference(ctx, tx, m.IDs); err != nil {
			return err
		}

		lines, err := p.lock(ctx, tx, m.IDs)
		if err != nil {
			return err
		}

		if out, err = inOrder(lines, m.IDs); err != nil {
			return err
		}

		open, err := p.transferable(out)
		if err != nil {
			return err
		}

		if err := p.mark(ctx, tx, s.policies.PayoutAbove, open); err != nil {
			return err
		}

		return m.Once.Keep(ctx, tx, out)
	})
	if err != nil {
		return nil, err
	}

	return out, nil
}

func validTransfers(ids []uuid.UUID) error {
	switch {
	case len(ids) == 0:
		return models.Invalid("ids", "record.none")
	case len(ids) > MaxTransfers:
		return models.Invalid("ids", "record.too_many", "max", MaxTransfers)
	}

	seen := make(map[uuid.UUID]bool, len(ids))

	for _, id := range ids {
		if seen[id] {
			return models.Invalid("ids", "record.twice", "id", id)
		}

		seen[id] = true
	}

	return nil
}

// inOrder brings entries into the order of the ids. Error: NOT_FOUND with the ids that have no entry.
func inOrder(lines []models.FinancialRecord, ids []uuid.UUID) ([]models.FinancialRecord, error) {
	byID := make(map[uuid.UUID]*models.FinancialRecord, len(lines))
	for i := range lines {
		byID[lines[i].ID] = &lines[i]
	}

	var missing []uuid.UUID

	out := make([]models.FinancialRecord, 0, len(ids))

	for _, id := range ids {
		if r := byID[id]; r != nil {
			out = append(out, *r)
		} else {
			missing = append(missing, id)
		}
	}

	if len(missing) > 0 {
		return nil, aboutIDs(models.CodeNotFound, "record.missing", missing)
	}

	return out, nil
}

func aboutIDs(code models.Code, key models.Key, ids []uuid.UUID) error {
	texts := make([]models.Text, len(ids))
	for i, id := range ids {
		texts[i] = models.Verbatim(id.String())
	}

	return &models.Error{Code: code, Text: models.TextOf(key), Details: map[string][]models.Text{"ids": texts}}
}

// payout is one call that marks entries.
type payout struct {
	reference     *string
	date          *models.Date
	nettedAgainst *uuid.UUID // of claw-backs: the entry whose mark is taken back with them
	by            db.Actor
	newReference  bool // another payout's reference is refused
}

// checkReference refuses a reference of another payout, before any entry is locked.
func (p payout) checkReference(ctx context.Context, tx bun.Tx, ids []uuid.UUID) error {
	if !p.newReference || p.reference == nil {
		return nil
	}

	return RequireNewReference(ctx, tx, *p.reference, PayoutSubject{Records: ids})
}

// lock finds entries and locks them in the order of their ids, whatever order they are asked in: two calls that share
// entries wait for each other and never in a circle. Refunds hold no more than one of them.
func (p payout) lock(ctx context.Context, tx bun.Tx, ids []uuid.UUID) ([]models.FinancialRecord, error) {
	ids = slices.SortedFunc(slices.Values(ids), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })

	var lines []models.FinancialRecord

	err := records(tx).Model(&lines).Where("fr.id IN (?)", bun.List(ids)).Order("fr.id").For("NO KEY UPDATE OF fr").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock records: %w", err)
	}

	return lines, nil
}

// transferable picks the locked entries that are to be marked: all of them, or none when the same call has marked them all.
// Error: RECORD_NOT_TRANSFERABLE with the ids of those that can neither be marked nor were by the same call.
func (p payout) transferable(lines []models.FinancialRecord) ([]*models.FinancialRecord, error) {
	var (
		open    []*models.FinancialRecord
		refused []uuid.UUID
	)

	repeated := !slices.ContainsFunc(lines, func(r models.FinancialRecord) bool {
		return !p.isThatOf(&r) || !r.TransferredAt.Equal(*lines[0].TransferredAt)
	})
	if repeated {
		return nil, nil
	}

	for i := range lines {
		if r := &lines[i]; r.BalanceStatus == models.BalanceInCurrent {
			open = append(open, r)
		} else {
			refused = append(refused, r.ID)
		}
	}

	if len(refused) > 0 {
		return nil, aboutIDs(models.CodeRecordNotTransferable,
			"record.some_not_transferable", refused)
	}

	return open, nil
}

// isThatOf reports whether the entry was marked by the same call.
func (p payout) isThatOf(r *models.FinancialRecord) bool {
	return r.BalanceStatus == models.BalanceTransferred && equalPointers(p.reference, r.PayoutReference) && equalPointers(p.date, r.PayoutDate)
}

// post moves locked entries that are IN_CURRENT_BALANCE to TRANSFERRED, with their transfers and audit entries.
func (p payout) post(ctx context.Context, tx bun.Tx, lines []*models.FinancialRecord) error {
	if len(lines) == 0 {
		return nil
	}

	var (
		transfers []models.LedgerTransfer
		entries   []models.AuditEntry
	)

	if err := notDisputedEntries(ctx, tx, lines); err != nil {
		return err
	}

	if err := p.checkDate(ctx, tx, lines); err != nil {
		return err
	}

	reversals, err := countReversals(ctx, tx, lines)
	if err != nil {
		return err
	}

	for _, r := range lines {
		before := payoutState(r)
		r.BalanceStatus, r.PayoutReference, r.PayoutDate = models.BalanceTransferred, p.reference, p.date
		r.TransferredBy, r.NettedAgainst, r.PayoutRevertedAt = db.NullableID(p.by.UserID), p.nettedAgainst, nil
		transfers = append(transfers, models.PayoutTransfer(r, reversals[r.ID])...)

		e, err := db.NewAuditEntry(p.by, models.AuditFinancialRecordTransferred, models.EntityFinancialRecord, &r.ID, map[string]any{
			"transaction_number": r.TransactionNumber, "provider_id": r.ProviderID, "net_amount": r.NetAmount,
			"payout_reference": p.reference, "payout_date": p.date, "before": before, "after": payoutState(r),
		})
		if err != nil {
			return err
		}

		entries = append(entries, e)
	}

	if err := p.update(ctx, tx, lines); err != nil {
		return err
	}

	if err := PostTransfers(ctx, tx, transfers); err != nil {
		return err
	}

	return db.InsertAuditEntries(ctx, tx, entries)
}

// checkDate refuses a day of payout that cannot be one. It is compared with the day in Riyadh at which the database books it,
// as the mark itself is. Error: VALIDATION_ERROR on payout_date.
func (p payout) checkDate(ctx context.Context, tx bun.Tx, lines []*models.FinancialRecord) error {
	if p.date == nil {
		return nil
	}

	var now time.Time
	if err := tx.NewRaw("SELECT now()").Scan(ctx, &now); err != nil {
		return fmt.Errorf("read the day: %w", err)
	}

	if p.date.After(models.DateIn(now)) {
		return models.Invalid("payout_date", "field.future")
	}

	for _, r := range lines {
		if p.date.Before(r.RecordDate) {
			return models.Invalid("payout_date", "record.payout_before", "number", r.TransactionNumber, "date", r.RecordDate)
		}
	}

	return nil
}

// payoutState is what a payout changes of an entry, for the audit log.
func payoutState(r *models.FinancialRecord) map[string]any {
	return map[string]any{
		"balance_status": r.BalanceStatus, "payout_reference": r.PayoutReference, "payout_date": r.PayoutDate,
	}
}

// update is the guarded UPDATE of all entries, which share one moment.
func (p payout) update(ctx context.Context, tx bun.Tx, lines []*models.FinancialRecord) error {
	ids := make([]uuid.UUID, len(lines))
	for i, r := range lines {
		ids[i] = r.ID
	}

	var moved []models.FinancialRecord

	_, err := tx.NewUpdate().Model((*models.FinancialRecord)(nil)).
		Set("balance_status = ?", models.BalanceTransferred).Set("payout_reference = ?", p.reference).
		Set("transferred_by = ?", db.NullableID(p.by.UserID)).Set("netted_against = ?", p.nettedAgainst).
		Set("payout_date = ?", p.date).Set("transferred_at = now()").Set("updated_at = now()").
		Where("fr.id IN (?)", bun.List(ids)).Where("fr.balance_status = ?", models.BalanceInCurrent).
		Returning("fr.id, fr.transferred_at, fr.updated_at, (SELECT name FROM users WHERE id = fr.transferred_by) AS transferrer_name").
		Exec(ctx, &moved)
	if err != nil {
		return fmt.Errorf("mark records transferred: %w", err)
	}

	if len(moved) != len(lines) {
		return fmt.Errorf("%d of %d records were not in the expected state", len(lines)-len(moved), len(lines))
	}

	for _, r := range lines {
		r.TransferredAt, r.UpdatedAt, r.TransferrerName = moved[0].TransferredAt, moved[0].UpdatedAt, moved[0].TransferrerName
	}

	return nil
}

func equalPointers[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}

	return *a == *b
}
