package ledger_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/ledger"
	"rihla/models"
)

func TestMarkTransferred(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.sale(t, 2)

	reference, day := "BANK-1", models.DateIn(time.Now())
	m := ledger.MarkTransfer{Reference: &reference, Date: &day}

	got, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, r.ID, m)
	require.NoError(t, err)
	require.Equal(t, models.BalanceTransferred, got.BalanceStatus)
	require.Equal(t, "BANK-1", *got.PayoutReference)
	require.Equal(t, day, *got.PayoutDate)
	require.WithinDuration(t, time.Now(), *got.TransferredAt, time.Minute)
	require.Equal(t, "Test Tours", got.ProviderName)

	again, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, r.ID, m)
	require.NoError(t, err)
	require.True(t, got.TransferredAt.Equal(*again.TransferredAt))
	require.Equal(t, got.PayoutReference, again.PayoutReference)

	other, otherDay := "BANK-2", day.AddDays(1)
	for _, different := range []ledger.MarkTransfer{
		{}, {Reference: &reference}, {Reference: &other, Date: &day}, {Reference: &reference, Date: &otherDay},
	} {
		_, err = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, r.ID, different)
		bookstest.RequireCode(t, models.CodeRecordNotTransferable, err)
	}

	_, err = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, models.NewID(), m)
	bookstest.RequireCode(t, models.CodeNotFound, err)

	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT' AND record_id = $1
		AND amount = 207 AND debit_account = $2 AND credit_account = $3`,
		r.ID, models.PayableAccount(b.Provider.ID), models.PaidOutAccount(b.Provider.ID)))

	entries, err := b.Store.DB.ListAudit(t.Context(), db.AuditFilter{Action: "FINANCIAL_RECORD_TRANSFERRED"})
	require.NoError(t, err)
	require.Len(t, entries.Items, 1)
	require.JSONEq(t, `{"transaction_number": "`+r.TransactionNumber+`", "net_amount": 207.00,
		"provider_id": "`+b.Provider.ID.String()+`", "payout_reference": "BANK-1", "payout_date": "`+day.String()+`",
		"before": {"balance_status": "IN_CURRENT_BALANCE", "payout_reference": null, "payout_date": null},
		"after": {"balance_status": "TRANSFERRED", "payout_reference": "BANK-1", "payout_date": "`+day.String()+`"}}`,
		string(entries.Items[0].Details))
}

func TestMarkTransferredWithoutReference(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.sale(t, 1)

	for range 2 {
		got, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, r.ID, ledger.MarkTransfer{})
		require.NoError(t, err)
		require.Nil(t, got.PayoutReference)
		require.Nil(t, got.PayoutDate)
	}
}

func TestRefundedRecordCannotBeTransferred(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	b.Refund(t, tx, nil)

	got, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{BookingID: *tx.BookingID})
	require.NoError(t, err)
	require.Len(t, got.Items, 1)
	_, err = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, got.Items[0].ID, ledger.MarkTransfer{})
	bookstest.RequireCode(t, models.CodeRecordNotTransferable, err)
}

func TestClawbackIsNettedByMarkingIt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)

	all, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{BookingID: *tx.BookingID})
	require.NoError(t, err)
	_, err = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, all.Items[0].ID, ledger.MarkTransfer{})
	require.NoError(t, err)
	b.Refund(t, tx, nil)

	owed, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{BalanceStatus: models.BalanceInCurrent})
	require.NoError(t, err)
	require.Len(t, owed.Items, 1)
	require.Equal(t, "-103.50", owed.Items[0].NetAmount.String())

	_, err = b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, owed.Items[0].ID, ledger.MarkTransfer{})
	require.NoError(t, err)
	require.Zero(t, b.Count(t, `SELECT COALESCE(sum(CASE WHEN credit_account = $1 THEN amount ELSE -amount END), 0)::int
		FROM ledger_transfers WHERE $1 IN (credit_account, debit_account)`, models.PaidOutAccount(b.Provider.ID)),
		"what was paid out came back")
}

func TestMarkTransferredInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	r := b.sale(t, 1)

	var failed atomic.Int32

	bookstest.Parallel(8, func(int) {
		if _, err := b.Store.Ledger.MarkTransferred(t.Context(), b.Finance, r.ID, ledger.MarkTransfer{}); err != nil {
			failed.Add(1)
		}
	})

	require.Zero(t, failed.Load())
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ledger_transfers WHERE kind = 'PAYOUT'"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log"))
}
