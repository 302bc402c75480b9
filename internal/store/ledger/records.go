package ledger

import (
	"context"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// RecordFilter narrows the list and the export of ledger entries; zero fields do not.
type RecordFilter struct {
	Days          models.Days // of record_date
	BookingID     uuid.UUID
	AdCampaignID  uuid.UUID
	ProviderID    uuid.UUID
	BalanceStatus models.BalanceStatus
	Search        string  // part of trip title, details, transaction number, payout reference or the provider's name
	Page          db.Page // of the list; an export has its order, and no pages
}

var recordOrder = db.Order{
	Columns: map[string]string{
		"record_date": "fr.record_date", "gross_amount": "fr.gross_amount", "net_amount": "fr.net_amount",
		"created_at": "fr.created_at",
	},
	ID:       "fr.id",
	Fallback: db.Sort{Field: "record_date", Desc: true},
	Within:   "created_at", // a day's entries as they were written: their ids are derived, and say nothing about that
}

// ListRecords lists ledger entries with the names of their providers, latest record date first. A page is found in
// an index, and unless a booking or campaign is asked for, the total comes from sums: neither depends on how many entries there
// are. Errors: VALIDATION_ERROR on sort and cursor.
func (s *Store) ListRecords(ctx context.Context, f RecordFilter) (db.Listed[models.FinancialRecord], error) {
	f.Search = models.Fold(f.Search)

	by := db.ListOptions{Whole: func(ids *bun.SelectQuery) *bun.SelectQuery {
		return records(s.db).Where("fr.id IN (?)", ids)
	}}

	switch {
	case f.BookingID != uuid.Nil || f.AdCampaignID != uuid.Nil: // they have a few entries each, whatever is searched for
	case f.Search == "" || inEveryNumber(f.Search):
		f.Search = ""
		by.Total = func(ctx context.Context) (db.Counted, error) {
			n, err := s.reportedEntries(ctx, f.ProviderID, f.Days, f.BalanceStatus)

			return db.Counted{Rows: n, Exact: true}, err
		}
	default:
		return s.searchRecords(ctx, f, by)
	}

	return db.ListWith[models.FinancialRecord](ctx, f.apply(s.lines()), f.Page, recordOrder, by)
}

// lines selects ledger entries.
func (s *Store) lines() *bun.SelectQuery {
	return s.db.NewSelect().Model((*models.FinancialRecord)(nil))
}

// records selects ledger entries with what people read with them.
func records(db bun.IDB) *bun.SelectQuery {
	q := db.NewSelect().ColumnExpr("?TableColumns").ColumnExpr("p.name AS provider_name, bn.booking_number, paid.captured_at").
		ColumnExpr("(SELECT name FROM users WHERE id = fr.transferred_by) AS transferrer_name").
		ColumnExpr(revertedSQL + " AS payout_reverted_at")

	return withSubjects(q)
}

// withSubjects joins what ledger entries are about: company, payment and booking.
func withSubjects(q *bun.SelectQuery) *bun.SelectQuery {
	return withPayment(q.Join("JOIN providers AS p ON p.id = fr.provider_id"))
}

// withPayment joins a ledger entry's payment and booking.
func withPayment(q *bun.SelectQuery) *bun.SelectQuery {
	return q.
		Join("JOIN payment_transactions AS paid ON paid.id = fr.payment_transaction_id").
		Join("LEFT JOIN bookings AS bn ON bn.id = fr.booking_id")
}

// revertedSQL is when the last mark of a ledger entry was taken back. An entry that is owed has lost the mark with it. One that
// was refunded under the mark keeps it: the reversal is that of the entry's rest.
var revertedSQL = revertedWhere("true", "fr.transferred_at IS NOT NULL")

// revertedWhere is revertedSQL with a condition for entries that are owed, and one for entries that were refunded.
func revertedWhere(owed, refunded string) string {
	return `CASE
	WHEN fr.balance_status = 'IN_CURRENT_BALANCE' AND ` + owed + ` THEN (
		SELECT max(v.created_at) FROM payout_reversals AS v WHERE v.record_id = fr.id)
	WHEN fr.balance_status = 'REFUNDED' AND ` + refunded + ` THEN (
		SELECT max(v.created_at) FROM payout_reversals AS v JOIN financial_records AS rest ON rest.id = v.record_id
		WHERE rest.payment_transaction_id = fr.payment_transaction_id AND rest.kind = fr.kind AND v.transferred_at = fr.transferred_at)
	END`
}

// apply narrows a list to what the filter says.
func (f RecordFilter) apply(q *bun.SelectQuery) *bun.SelectQuery {
	q = f.narrow(q)
	if f.Search == "" {
		return q
	}

	search := models.Fold(f.Search)
	if inEveryNumber(search) {
		return q
	}

	pattern := "%" + db.LikeEscaper.Replace(search) + "%"

	return q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		q = q.Where(`fr.text_id IN (SELECT id FROM record_texts
				WHERE trip_title_folded LIKE search_fold(?0) OR details_folded LIKE search_fold(?0))
			OR fr.kind = 'CLAWBACK' AND search_fold(fr.details) LIKE search_fold(?0)
			OR fr.provider_id IN (SELECT id FROM providers WHERE search_fold(name) LIKE search_fold(?0))`, pattern)

		return q.WhereGroup(" OR ", func(q *bun.SelectQuery) *bun.SelectQuery { return inNumber(q, search) })
	})
}

// narrow is apply without the search.
func (f RecordFilter) narrow(q *bun.SelectQuery) *bun.SelectQuery {
	q = db.WhereEqual(q, "fr.booking_id", f.BookingID)
	q = db.WhereEqual(q, "fr.ad_campaign_id", f.AdCampaignID)
	q = db.WhereEqual(q, "fr.provider_id", f.ProviderID)
	q = db.WhereEqual(q, "fr.balance_status", f.BalanceStatus)

	if !f.Days.From.IsZero() {
		q = q.Where("fr.record_date >= ?", f.Days.From)
	}

	if !f.Days.To.IsZero() {
		q = q.Where("fr.record_date <= ?", f.Days.To)
	}

	return q
}
