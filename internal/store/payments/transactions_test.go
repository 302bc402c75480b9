package payments_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/payments"
	"rihla/models"
)

func TestListTransactions(t *testing.T) {
	t.Parallel()
	b := setup(t)

	paid := b.Paid(t, 2)
	b.Refund(t, paid, bookstest.Amount("10.00"))
	pending := b.Open(t, b.Book(t, b.Trip, 1), 1)

	list := func(f payments.TransactionFilter) []uuid.UUID {
		got, err := b.Store.Payments.ListTransactions(t.Context(), f)
		require.NoError(t, err)
		require.EqualValues(t, len(got.Items), got.Total)

		ids := make([]uuid.UUID, 0, len(got.Items))
		for _, x := range got.Items {
			ids = append(ids, x.ID)
		}

		return ids
	}

	all := list(payments.TransactionFilter{})
	require.Len(t, all, 3)
	require.Equal(t, pending.ID, all[0], "newest first")

	require.Equal(t, []uuid.UUID{paid.ID}, list(payments.TransactionFilter{Status: models.TransactionPaid}))
	require.Len(t, list(payments.TransactionFilter{Status: models.TransactionPartialRefund}), 1)
	require.Len(t, list(payments.TransactionFilter{BookingID: *paid.BookingID}), 2)
	require.Equal(t, []uuid.UUID{pending.ID}, list(payments.TransactionFilter{Reference: "ref-" + pending.ID.String()}))
	require.Empty(t, list(payments.TransactionFilter{Gateway: models.GatewayWalletB}))
	require.Empty(t, list(payments.TransactionFilter{Method: models.MethodWalletA}))
	require.Empty(t, list(payments.TransactionFilter{AdCampaignID: paid.ID}))

	byAmount := list(payments.TransactionFilter{Page: db.Page{Sort: []db.Sort{{Field: "amount", Desc: true}}}})
	require.Equal(t, paid.ID, byAmount[0])

	_, err := b.Store.Payments.ListTransactions(t.Context(), payments.TransactionFilter{Page: db.Page{Sort: []db.Sort{{Field: "status"}}}})
	bookstest.RequireCode(t, models.CodeValidation, err)

	// A day is one of Riyadh, from midnight to midnight: 21:00 to 21:00 UTC.
	for at, want := range map[string]int{
		"2026-03-09T20:59:59.999999Z": 0, "2026-03-09T21:00:00Z": 1, "2026-03-10T20:59:59.999999Z": 1, "2026-03-10T21:00:00Z": 0,
	} {
		b.Exec(t, "UPDATE payment_transactions SET created_at = $1 WHERE id = $2", at, pending.ID)

		day := models.NewDate(2026, time.March, 10)
		require.Len(t, list(payments.TransactionFilter{Days: models.Days{From: day, To: day}}), want, at)
	}
}

func TestTransactionByID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)

	got, err := b.Store.Payments.TransactionByID(t.Context(), tx.ID)
	require.NoError(t, err)
	require.Equal(t, "115.00", got.Amount.String())
	require.Equal(t, "0.15", got.VATRate.String())

	_, err = b.Store.Payments.TransactionByID(t.Context(), models.NewID())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}
