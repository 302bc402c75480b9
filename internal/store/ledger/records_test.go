package ledger_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// sale makes a paid booking and returns its ledger entry.
func (b *books) sale(t *testing.T, seats int) models.FinancialRecord {
	t.Helper()

	tx := b.Paid(t, seats)

	got, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{BookingID: *tx.BookingID})
	require.NoError(t, err)
	require.Len(t, got.Items, 1)

	return got.Items[0]
}

func TestListRecords(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "it moves an entry to another day", "record-subject")

	small, large := b.sale(t, 1), b.sale(t, 3)
	require.Equal(t, "Test Tours", small.ProviderName)
	require.Equal(t, "115.00", small.GrossAmount.String())
	require.Equal(t, "11.50", small.PlatformCommissionAmount.String())
	require.Equal(t, models.DateIn(time.Now()), small.RecordDate)

	b.Exec(t, "UPDATE financial_records SET record_date = '2026-03-10', details = 'Fifty % off' WHERE id = $1", small.ID)

	march := models.NewDate(2026, time.March, 10)

	for name, c := range map[string]struct {
		filter ledger.RecordFilter
		want   []uuid.UUID
	}{
		"all, latest first":  {ledger.RecordFilter{}, []uuid.UUID{large.ID, small.ID}},
		"day":                {ledger.RecordFilter{Days: models.Days{From: march, To: march}}, []uuid.UUID{small.ID}},
		"day before":         {ledger.RecordFilter{Days: models.Days{To: march.AddDays(-1)}}, []uuid.UUID{}},
		"day after":          {ledger.RecordFilter{Days: models.Days{From: march.AddDays(1)}}, []uuid.UUID{large.ID}},
		"booking":            {ledger.RecordFilter{BookingID: *large.BookingID}, []uuid.UUID{large.ID}},
		"campaign":           {ledger.RecordFilter{AdCampaignID: *large.BookingID}, []uuid.UUID{}},
		"provider":           {ledger.RecordFilter{ProviderID: b.Provider.ID, Search: "fifty %"}, []uuid.UUID{small.ID}},
		"other provider":     {ledger.RecordFilter{ProviderID: large.ID}, []uuid.UUID{}},
		"status":             {ledger.RecordFilter{BalanceStatus: models.BalanceTransferred}, []uuid.UUID{}},
		"transaction number": {ledger.RecordFilter{Search: large.TransactionNumber}, []uuid.UUID{large.ID}},
		"smallest first": {
			ledger.RecordFilter{Page: db.Page{Sort: []db.Sort{{Field: "gross_amount"}}}}, []uuid.UUID{small.ID, large.ID},
		},
		"second page": {ledger.RecordFilter{Page: db.Page{Number: 2, PerPage: 1}}, []uuid.UUID{small.ID}},
	} {
		got, err := b.Store.Ledger.ListRecords(t.Context(), c.filter)
		require.NoError(t, err, name)

		ids := make([]uuid.UUID, 0, len(got.Items))
		for _, r := range got.Items {
			ids = append(ids, r.ID)
		}

		require.Equal(t, c.want, ids, name)
	}

	_, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{Page: db.Page{Sort: []db.Sort{{Field: "vat_amount"}}}})
	bookstest.RequireCode(t, models.CodeValidation, err)
}
