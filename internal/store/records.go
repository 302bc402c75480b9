package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// RecordFilter narrows the list and the export of ledger lines; zero fields do not.
type RecordFilter struct {
	Days          models.Days // of record_date
	BookingID     uuid.UUID
	AdCampaignID  uuid.UUID
	ProviderID    uuid.UUID
	BalanceStatus models.BalanceStatus
	Search        string // part of trip title, details or transaction number
	Page          Page   // of the list; an export has its order, and no pages
}

var recordOrder = order{
	columns: map[string]string{
		"record_date": "fr.record_date", "gross_amount": "fr.gross_amount", "net_amount": "fr.net_amount",
		"created_at": "fr.created_at",
	},
	id:       "fr.id",
	fallback: Sort{Field: "record_date", Desc: true},
}

// ListRecords lists ledger lines with the names of their providers, latest record date first (contract §6).
// Error: VALIDATION_ERROR on sort.
func (s *Store) ListRecords(ctx context.Context, f RecordFilter) (Listed[models.FinancialRecord], error) {
	return listed[models.FinancialRecord](ctx, f.apply(records(s.db)), f.Page, recordOrder)
}

// records selects ledger lines with the names of their providers.
func records(db bun.IDB) *bun.SelectQuery {
	return db.NewSelect().ColumnExpr("fr.*").ColumnExpr("p.name AS provider_name").
		Join("JOIN providers AS p ON p.id = fr.provider_id")
}

func (f RecordFilter) apply(q *bun.SelectQuery) *bun.SelectQuery {
	q = matching(q, "fr.booking_id", f.BookingID)
	q = matching(q, "fr.ad_campaign_id", f.AdCampaignID)
	q = matching(q, "fr.provider_id", f.ProviderID)
	q = matching(q, "fr.balance_status", f.BalanceStatus)
	q = containing(q, f.Search, "fr.trip_title", "fr.details", "fr.transaction_number")

	if !f.Days.From.IsZero() {
		q = q.Where("fr.record_date >= ?", f.Days.From)
	}

	if !f.Days.To.IsZero() {
		q = q.Where("fr.record_date <= ?", f.Days.To)
	}

	return q
}

// MarkTransfer says how a ledger line was paid out; all of it may be left out.
type MarkTransfer struct {
	Reference *string
	Date      *models.Date
	// Once keeps the answer to the request.
	Once Once[models.FinancialRecord]
}

// MarkTransferred notes that a ledger line has been paid out to its provider: the line, its transfer, an audit entry
// and the answer to the request in one SQL transaction. The same call again returns the line as it is. Errors: NOT_FOUND,
// RECORD_NOT_TRANSFERABLE when the line is REFUNDED, or was paid out with another reference or date;
// IDEMPOTENCY_KEY_IN_PROGRESS when the request has lost its key to another one.
func (s *Store) MarkTransferred(
	ctx context.Context, id uuid.UUID, m MarkTransfer, by Actor,
) (models.FinancialRecord, error) {
	var r models.FinancialRecord

	err := s.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		r = models.FinancialRecord{}

		err := records(tx).Model(&r).Where("fr.id = ?", id).For("NO KEY UPDATE OF fr").Scan(ctx)
		if err != nil {
			return found(err)
		}

		switch {
		case r.BalanceStatus == models.BalanceInCurrent:
			if err := m.book(ctx, tx, &r, by); err != nil {
				return err
			}
		case r.BalanceStatus == models.BalanceTransferred && m.isThatOf(&r):
		default:
			return models.Errorf(models.CodeRecordNotTransferable,
				"The record is %s and cannot be marked as transferred.", r.BalanceStatus)
		}

		return m.Once.keep(ctx, tx, r)
	})
	if err != nil {
		return models.FinancialRecord{}, err
	}

	return r, nil
}

// book moves a locked line that is IN_CURRENT_BALANCE to TRANSFERRED.
func (m MarkTransfer) book(ctx context.Context, tx bun.Tx, r *models.FinancialRecord, by Actor) error {
	r.BalanceStatus, r.PayoutReference, r.PayoutDate = models.BalanceTransferred, m.Reference, m.Date

	_, err := tx.NewUpdate().Model(r).Column("balance_status", "payout_reference", "payout_date").
		Set("transferred_at = now()").Set("updated_at = now()").
		WherePK().Returning("transferred_at, updated_at").Exec(ctx)
	if err != nil {
		return fmt.Errorf("mark record transferred: %w", err)
	}

	if transfers := models.PayoutTransfer(r); len(transfers) > 0 {
		_, err := tx.NewInsert().Model(&transfers).ExcludeColumn("created_at").On("CONFLICT (id) DO NOTHING").Exec(ctx)
		if err != nil {
			return fmt.Errorf("insert payout transfer: %w", err)
		}
	}

	return audit(ctx, tx, by, "FINANCIAL_RECORD_TRANSFERRED", "financial_record", &r.ID, map[string]any{
		"transaction_number": r.TransactionNumber, "net_amount": r.NetAmount,
		"payout_reference": m.Reference, "payout_date": m.Date,
	})
}

// isThatOf reports whether the line was marked by the same call.
func (m MarkTransfer) isThatOf(r *models.FinancialRecord) bool {
	return same(m.Reference, r.PayoutReference) && same(m.Date, r.PayoutDate)
}

func same[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}

	return *a == *b
}
