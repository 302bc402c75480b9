package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

// sale makes a paid booking and returns its ledger line.
func (b *testBundle) sale(t *testing.T, seats int) models.FinancialRecord {
	t.Helper()

	tx := b.paid(t, seats)

	got, err := b.s.ListRecords(t.Context(), store.RecordFilter{BookingID: *tx.BookingID})
	require.NoError(t, err)
	require.Len(t, got.Items, 1)

	return got.Items[0]
}

func TestListRecords(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.books.Tampered(t, "it moves a line to another day", "record-subject")

	small, large := b.sale(t, 1), b.sale(t, 3)
	require.Equal(t, "Test Tours", small.ProviderName)
	require.Equal(t, "115.00", small.GrossAmount.String())
	require.Equal(t, "11.50", small.PlatformCommissionAmount.String())
	require.Equal(t, models.DateIn(time.Now()), small.RecordDate)

	b.exec(t, "UPDATE financial_records SET record_date = '2026-03-10', details = 'Fifty % off' WHERE id = $1", small.ID)

	march := models.NewDate(2026, time.March, 10)

	for name, c := range map[string]struct {
		filter store.RecordFilter
		want   []uuid.UUID
	}{
		"all, latest first":  {store.RecordFilter{}, []uuid.UUID{large.ID, small.ID}},
		"day":                {store.RecordFilter{Days: models.Days{From: march, To: march}}, []uuid.UUID{small.ID}},
		"day before":         {store.RecordFilter{Days: models.Days{To: march.AddDays(-1)}}, []uuid.UUID{}},
		"day after":          {store.RecordFilter{Days: models.Days{From: march.AddDays(1)}}, []uuid.UUID{large.ID}},
		"booking":            {store.RecordFilter{BookingID: *large.BookingID}, []uuid.UUID{large.ID}},
		"campaign":           {store.RecordFilter{AdCampaignID: *large.BookingID}, []uuid.UUID{}},
		"provider":           {store.RecordFilter{ProviderID: b.Provider.ID, Search: "fifty %"}, []uuid.UUID{small.ID}},
		"other provider":     {store.RecordFilter{ProviderID: large.ID}, []uuid.UUID{}},
		"status":             {store.RecordFilter{BalanceStatus: models.BalanceTransferred}, []uuid.UUID{}},
		"transaction number": {store.RecordFilter{Search: large.TransactionNumber}, []uuid.UUID{large.ID}},
		"smallest first": {
			store.RecordFilter{Page: store.Page{Sort: []store.Sort{{Field: "gross_amount"}}}}, []uuid.UUID{small.ID, large.ID},
		},
		"second page": {store.RecordFilter{Page: store.Page{Number: 2, PerPage: 1}}, []uuid.UUID{small.ID}},
	} {
		got, err := b.s.ListRecords(t.Context(), c.filter)
		require.NoError(t, err, name)

		ids := make([]uuid.UUID, 0, len(got.Items))
		for _, r := range got.Items {
			ids = append(ids, r.ID)
		}

		require.Equal(t, c.want, ids, name)
	}

	_, err := b.s.ListRecords(t.Context(), store.RecordFilter{Page: store.Page{Sort: []store.Sort{{Field: "vat_amount"}}}})
	requireCode(t, models.CodeValidation, err)
}
