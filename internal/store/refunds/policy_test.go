package refunds_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

func TestPolicyRefund(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		name    string
		left    time.Duration // to departure
		before  string        // what goes back first
		percent int
		amount  string // empty: not refundable
	}{
		{"early", 72 * time.Hour, "", 100, "115.00"},
		{"a moment too late for all of it", 72*time.Hour - time.Second, "", 50, "57.50"},
		{"late", 24 * time.Hour, "", 50, "57.50"},
		{"less what has gone back", 30 * time.Hour, "15.01", 50, "42.49"},
		{"it has gone back already", 30 * time.Hour, "57.50", 50, ""},
		{"too late", 24*time.Hour - time.Second, "", 0, ""},
		{"after departure", -time.Hour, "", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			tx := b.Paid(t, 1)
			now := b.Trip.DepartureAt.Add(-c.left)

			if c.before != "" {
				b.GiveBack(t, tx, c.before)
			}

			quote, err := b.Store.Refunds.RefundQuote(t.Context(), b.Finance.UserID, *tx.BookingID, now)
			require.NoError(t, err)
			require.Equal(t, c.percent, quote.Percent)
			require.Equal(t, "115.00", quote.Paid.String())
			require.Equal(t, quote.Paid.Sub(quote.Refunded).String(), quote.Remaining.String())

			r := b.ByPolicy(tx)
			reserved, err := b.Store.Refunds.OrderRefund(t.Context(), r, now)

			if c.amount == "" {
				require.True(t, quote.Amount.IsZero())
				bookstest.RequireCode(t, models.CodeBookingNotRefundable, err)

				return
			}

			require.NoError(t, err)
			require.Equal(t, c.amount, reserved.Amount.String())
			require.Equal(t, c.amount, quote.Amount.String(), "as it was quoted")
			require.True(t, reserved.JustOrdered)

			// The same key again is the same amount, however late, and no second order.
			again, err := b.Store.Refunds.OrderRefund(t.Context(), r, b.Trip.DepartureAt)
			require.NoError(t, err)
			require.False(t, again.JustOrdered)

			reserved.JustOrdered = false
			require.Equal(t, reserved, again)

			kept, err := b.Store.Refunds.RefundByID(t.Context(), r.ID)
			require.NoError(t, err)
			require.Equal(t, c.percent, *kept.PolicyPercent)
			require.Equal(t, "72h:100,24h:50,0h:0", *kept.PolicySchedule)

			b.SettleRefund(t, r, bookstest.Granted(r))
			b.RequireBooks(t)

			status, err := b.PaymentStatus(t, *tx.BookingID, bookstest.Clock())
			require.NoError(t, err)

			whole := c.amount == "115.00"
			require.Equal(t, whole, status.PaymentStatus == models.TransactionRefunded)
			require.Equal(t, models.BookingCancelled, b.BookingNow(t, *tx.BookingID).Status, "whatever is kept of the price")

			// By the policy nothing more goes back.
			_, err = b.Store.Refunds.OrderRefund(t.Context(), b.ByPolicy(tx), now)
			bookstest.RequireCode(t, models.CodeBookingNotRefundable, err)
		})
	}
}

func TestPolicyRefundOfAnotherPolicy(t *testing.T) {
	t.Parallel()

	p := models.DefaultPolicies()
	p.Cancellation = models.CancellationPolicy{{MinHours: 0, Percent: 33}}
	b := setup(t, p)
	tx := b.Paid(t, 1)

	require.Equal(t, "37.95", b.Reserve(t, b.ByPolicy(tx)).Amount.String())

	// What is reserved cannot be refunded a second time.
	_, err := b.Store.Refunds.OrderRefund(t.Context(), b.ByPolicy(tx), time.Now())
	bookstest.RequireCode(t, models.CodeBookingNotRefundable, err)

	quote, err := b.Store.Refunds.RefundQuote(t.Context(), b.Finance.UserID, *tx.BookingID, time.Now())
	require.NoError(t, err)
	require.Equal(t, "0.00", quote.Amount.String())
	require.Equal(t, "77.05", quote.Remaining.String())
}

func TestQuoteOfWhatCannotBeRefunded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	unpaid := b.Open(t, b.Book(t, b.Trip, 1), 1)

	_, err := b.Store.Refunds.RefundQuote(t.Context(), b.Finance.UserID, *unpaid.BookingID, time.Now())
	bookstest.RequireCode(t, models.CodeBookingNotRefundable, err)
	_, err = b.Store.Refunds.RefundQuote(t.Context(), b.Finance.UserID, uuid.New(), time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

// Money that came too late has bought nothing that could be cancelled.
func TestPolicyRefundOfLateMoney(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Lapsed(t, b.Trip, 1)
	b.Exec(t, "UPDATE trips SET status = 'CANCELLED' WHERE id = $1", b.Trip.ID)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	b.Settle(t, tx, time.Now())

	r := b.ByPolicy(tx)
	reserved, err := b.Store.Refunds.OrderRefund(t.Context(), r, b.Trip.DepartureAt)
	require.NoError(t, err)
	require.Equal(t, "115.00", reserved.Amount.String())
	b.SettleRefund(t, r, bookstest.Granted(r))
}

// However many ask at once, the policy gives its percentage once.
func TestPolicyRefundsInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := b.Trip.DepartureAt.Add(-30 * time.Hour)

	for range 10 {
		tx := b.Paid(t, 1)

		var wg sync.WaitGroup

		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() { _, errs[i] = b.Store.Refunds.OrderRefund(t.Context(), b.ByPolicy(tx), now) })
		}

		wg.Wait()

		won := 0

		for _, err := range errs {
			if err == nil {
				won++
			} else {
				bookstest.RequireCode(t, models.CodeBookingNotRefundable, err)
			}
		}

		require.Equal(t, 1, won)
		require.Equal(t, "57.50", b.Transaction(t, tx.ID).RefundReservedAmount.String())
	}
}
