package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

func TestExportRecords(t *testing.T) {
	t.Parallel()
	b := setup(t)

	old, young := b.sale(t, 1), b.sale(t, 2)
	b.exec(t, "UPDATE financial_records SET record_date = '2026-03-10' WHERE id = $1", old.ID)

	var got []*models.FinancialRecord

	n, err := b.s.ExportRecords(t.Context(), store.RecordFilter{}, func(r *models.FinancialRecord) error {
		got = append(got, r)
		// What happens while the export runs is not in it.
		b.exec(t, "UPDATE financial_records SET details = 'changed' WHERE id = $1", old.ID)

		return nil
	})
	require.NoError(t, err)
	require.EqualValues(t, 2, n)
	require.Equal(t, young.ID, got[0].ID)
	require.Equal(t, "Test Tours", got[0].ProviderName)
	require.Equal(t, "230.00", got[0].GrossAmount.String())
	require.Equal(t, old.ID, got[1].ID)
	require.Equal(t, old.Details, got[1].Details)

	n, err = b.s.ExportRecords(t.Context(), store.RecordFilter{
		Days: models.Days{To: models.NewDate(2026, time.March, 10)}, Page: store.Page{Number: 9},
	}, func(*models.FinancialRecord) error { return nil })
	require.NoError(t, err)
	require.EqualValues(t, 1, n)

	stop := errors.New("the client is gone")
	n, err = b.s.ExportRecords(t.Context(), store.RecordFilter{}, func(*models.FinancialRecord) error { return stop })
	require.ErrorIs(t, err, stop)
	require.Zero(t, n)

	// The connection of the broken export can be used again.
	for range 20 {
		_, err = b.s.ExportRecords(t.Context(), store.RecordFilter{}, func(*models.FinancialRecord) error { return stop })
		require.ErrorIs(t, err, stop)
	}

	require.NoError(t, b.s.Ping(t.Context()))
}
