package inbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/payments"
	"rihla/models"
)

// TestLastDecline: what a company has declined is kept once for each try, is shown while the attempt is open, and changes nothing of it.
func TestLastDecline(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, s := t.Context(), b.Store.Payments
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	now := bookstest.Clock()
	shown := func() *payments.Decline {
		got, err := b.PaymentStatus(t, *tx.BookingID, now)
		require.NoError(t, err)

		return got.LastDecline
	}
	decline := func(try, code string, at time.Time) {
		require.NoError(t, b.Store.Inbox.StoreDecline(ctx, &tx, try, payments.Decline{At: at, ResultCode: code, Reason: "said " + code}))
	}

	require.Nil(t, shown())

	last, err := s.LastDecline(ctx, tx.ID)
	require.NoError(t, err)
	require.Nil(t, last)

	decline("one", "800.100.152", now.Add(-time.Minute))
	decline("one", "800.100.152", now)
	require.Equal(t, now.Add(-time.Minute).Unix(), shown().At.Unix(), "the same try, told again")

	decline("two", "800.100.203", now)
	require.Equal(t, "800.100.203", shown().ResultCode)
	require.Equal(t, "said 800.100.203", shown().Reason)

	last, err = s.LastDecline(ctx, tx.ID)
	require.NoError(t, err)
	require.Equal(t, "800.100.203", last.ResultCode)
	require.Equal(t, models.TransactionPending, b.Transaction(t, tx.ID).Status)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM incidents"))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM webhook_events WHERE processed_at IS NULL"), "no workflow waits for it")

	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	b.Settle(t, tx, time.Now())
	require.Nil(t, shown(), "it was paid after all")
}
