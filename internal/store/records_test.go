package store_test

import (
	"sync/atomic"
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

func TestMarkTransferred(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.sale(t, 2)

	reference, day := "BANK-1", models.NewDate(2026, time.March, 10)
	m := store.MarkTransfer{Reference: &reference, Date: &day}

	got, err := b.s.MarkTransferred(t.Context(), r.ID, m, b.finance)
	require.NoError(t, err)
	require.Equal(t, models.BalanceTransferred, got.BalanceStatus)
	require.Equal(t, "BANK-1", *got.PayoutReference)
	require.Equal(t, day, *got.PayoutDate)
	require.WithinDuration(t, time.Now(), *got.TransferredAt, time.Minute)
	require.Equal(t, "Test Tours", got.ProviderName)

	again, err := b.s.MarkTransferred(t.Context(), r.ID, m, b.finance)
	require.NoError(t, err)
	require.True(t, got.TransferredAt.Equal(*again.TransferredAt))
	require.Equal(t, got.PayoutReference, again.PayoutReference)

	other, otherDay := "BANK-2", day.AddDays(1)
	for _, different := range []store.MarkTransfer{
		{}, {Reference: &reference}, {Reference: &other, Date: &day}, {Reference: &reference, Date: &otherDay},
	} {
		_, err = b.s.MarkTransferred(t.Context(), r.ID, different, b.finance)
		requireCode(t, models.CodeRecordNotTransferable, err)
	}

	_, err = b.s.MarkTransferred(t.Context(), models.NewID(), m, b.finance)
	requireCode(t, models.CodeNotFound, err)

	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT' AND record_id = $1
		AND amount = 207 AND debit_account = $2 AND credit_account = $3`,
		r.ID, models.PayableAccount(b.Provider.ID), models.PaidOutAccount(b.Provider.ID)))

	entries, err := b.s.ListAudit(t.Context(), store.AuditFilter{Action: "FINANCIAL_RECORD_TRANSFERRED"})
	require.NoError(t, err)
	require.Len(t, entries.Items, 1)
	require.JSONEq(t, `{"transaction_number": "`+r.TransactionNumber+`", "net_amount": 207.00,
		"payout_reference": "BANK-1", "payout_date": "2026-03-10"}`, string(entries.Items[0].Details))
}

func TestMarkTransferredWithoutReference(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.sale(t, 1)

	for range 2 {
		got, err := b.s.MarkTransferred(t.Context(), r.ID, store.MarkTransfer{}, b.finance)
		require.NoError(t, err)
		require.Nil(t, got.PayoutReference)
		require.Nil(t, got.PayoutDate)
	}
}

func TestRefundedRecordCannotBeTransferred(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.paid(t, 1)
	b.refund(t, tx, nil)

	got, err := b.s.ListRecords(t.Context(), store.RecordFilter{BookingID: *tx.BookingID})
	require.NoError(t, err)
	require.Len(t, got.Items, 1)
	_, err = b.s.MarkTransferred(t.Context(), got.Items[0].ID, store.MarkTransfer{}, b.finance)
	requireCode(t, models.CodeRecordNotTransferable, err)
}

func TestClawbackIsNettedByMarkingIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.paid(t, 1)

	all, err := b.s.ListRecords(t.Context(), store.RecordFilter{BookingID: *tx.BookingID})
	require.NoError(t, err)
	_, err = b.s.MarkTransferred(t.Context(), all.Items[0].ID, store.MarkTransfer{}, b.finance)
	require.NoError(t, err)
	b.refund(t, tx, nil)

	owed, err := b.s.ListRecords(t.Context(), store.RecordFilter{BalanceStatus: models.BalanceInCurrent})
	require.NoError(t, err)
	require.Len(t, owed.Items, 1)
	require.Equal(t, "-103.50", owed.Items[0].NetAmount.String())

	_, err = b.s.MarkTransferred(t.Context(), owed.Items[0].ID, store.MarkTransfer{}, b.finance)
	require.NoError(t, err)
	require.Zero(t, b.count(t, `SELECT COALESCE(sum(CASE WHEN credit_account = $1 THEN amount ELSE -amount END), 0)::int
		FROM ledger_transfers WHERE $1 IN (credit_account, debit_account)`, models.PaidOutAccount(b.Provider.ID)),
		"what was paid out came back")
}

func TestMarkTransferredInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.sale(t, 1)

	var failed atomic.Int32

	parallel(8, func(int) {
		if _, err := b.s.MarkTransferred(t.Context(), r.ID, store.MarkTransfer{}, b.finance); err != nil {
			failed.Add(1)
		}
	})

	require.Zero(t, failed.Load())
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT'"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM audit_log"))
}
