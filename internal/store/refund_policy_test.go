package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

// byPolicy is a request for a refund by the cancellation policy.
func (b *books) byPolicy(tx models.PaymentTransaction) models.RefundRequest {
	r := b.ask(tx, "")
	r.Type = models.RefundPolicy

	return r
}

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
			b := setupBooks(t)
			tx := b.paid(t, 1)
			now := b.Trip.DepartureAt.Add(-c.left)

			if c.before != "" {
				b.giveBack(t, tx, c.before)
			}

			quote, err := b.s.RefundQuote(t.Context(), *tx.BookingID, now)
			require.NoError(t, err)
			require.Equal(t, c.percent, quote.Percent)
			require.Equal(t, "115.00", quote.Paid.String())
			require.Equal(t, quote.Paid.Sub(quote.Refunded).String(), quote.Remaining.String())

			r := b.byPolicy(tx)
			reserved, err := b.s.OrderRefund(t.Context(), r, now)

			if c.amount == "" {
				require.True(t, quote.Amount.IsZero())
				requireCode(t, models.CodeBookingNotRefundable, err)

				return
			}

			require.NoError(t, err)
			require.Equal(t, c.amount, reserved.Amount.String())
			require.Equal(t, c.amount, quote.Amount.String(), "as it was quoted")

			// The same key again is the same amount, however late.
			again, err := b.s.OrderRefund(t.Context(), r, b.Trip.DepartureAt)
			require.NoError(t, err)
			require.Equal(t, reserved, again)

			kept, err := b.s.RefundByID(t.Context(), r.ID)
			require.NoError(t, err)
			require.Equal(t, c.percent, *kept.PolicyPercent)
			require.Equal(t, "72h:100,24h:50,0h:0", *kept.PolicySchedule)

			b.settleRefund(t, r, granted(r))
			b.requireIdentities(t)

			status, err := b.s.PaymentStatus(t.Context(), *tx.BookingID, clock())
			require.NoError(t, err)

			whole := c.amount == "115.00"
			require.Equal(t, whole, status.PaymentStatus == models.TransactionRefunded)
			require.Equal(t, whole, b.bookingNow(t, *tx.BookingID).Status == models.BookingCancelled)

			// By the policy nothing more goes back.
			_, err = b.s.OrderRefund(t.Context(), b.byPolicy(tx), now)
			requireCode(t, models.CodeBookingNotRefundable, err)
		})
	}
}

func TestPolicyRefundOfAnotherPolicy(t *testing.T) {
	t.Parallel()

	p := store.DefaultPolicies()
	p.Cancellation = models.CancellationPolicy{{MinHours: 0, Percent: 33}}
	b := &books{setupWith(t, p)}
	tx := b.paid(t, 1)

	require.Equal(t, "37.95", b.reserve(t, b.byPolicy(tx)).Amount.String())

	// What is promised is not there a second time.
	_, err := b.s.OrderRefund(t.Context(), b.byPolicy(tx), time.Now())
	requireCode(t, models.CodeBookingNotRefundable, err)

	quote, err := b.s.RefundQuote(t.Context(), *tx.BookingID, time.Now())
	require.NoError(t, err)
	require.Equal(t, "0.00", quote.Amount.String())
	require.Equal(t, "77.05", quote.Remaining.String())
}

func TestQuoteOfWhatCannotBeRefunded(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	unpaid := b.open(t, b.book(t, b.Trip, 1), 1)

	_, err := b.s.RefundQuote(t.Context(), *unpaid.BookingID, time.Now())
	requireCode(t, models.CodeBookingNotRefundable, err)
	_, err = b.s.RefundQuote(t.Context(), uuid.New(), time.Now())
	requireCode(t, models.CodeNotFound, err)
}

// Money that came too late has bought nothing that could be cancelled.
func TestPolicyRefundOfLateMoney(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.lapsed(t, b.Trip, 1)
	b.exec(t, "UPDATE trips SET status = 'CANCELLED' WHERE id = $1", b.Trip.ID)
	b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))
	b.settle(t, tx, time.Now())

	r := b.byPolicy(tx)
	reserved, err := b.s.OrderRefund(t.Context(), r, b.Trip.DepartureAt)
	require.NoError(t, err)
	require.Equal(t, "115.00", reserved.Amount.String())
	b.settleRefund(t, r, granted(r))
}

// However many ask at once, the policy gives its percentage once.
func TestPolicyRefundsInParallel(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	now := b.Trip.DepartureAt.Add(-30 * time.Hour)

	for range 10 {
		tx := b.paid(t, 1)

		var wg sync.WaitGroup

		errs := make([]error, 8)
		for i := range errs {
			wg.Go(func() { _, errs[i] = b.s.OrderRefund(t.Context(), b.byPolicy(tx), now) })
		}

		wg.Wait()

		won := 0

		for _, err := range errs {
			if err == nil {
				won++
			} else {
				requireCode(t, models.CodeBookingNotRefundable, err)
			}
		}

		require.Equal(t, 1, won)
		require.Equal(t, "57.50", b.transaction(t, tx.ID).RefundReservedAmount.String())
	}
}
