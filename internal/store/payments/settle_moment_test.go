package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// An outage of ours over midnight moves neither revenue nor VAT to another day.
func TestAPaymentCountsOnTheDayOfThePayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	yesterday := time.Now().Add(-24 * time.Hour).Truncate(time.Microsecond)
	b.Exec(t, "UPDATE payment_transactions SET created_at = created_at - interval '25 hours' WHERE id = $1", tx.ID)

	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.OccurredAt = yesterday }))
	require.Equal(t, models.TransactionPaid, b.Settle(t, tx, time.Now()).Status)
	require.WithinDuration(t, yesterday, *b.Transaction(t, tx.ID).CapturedAt, 0)

	records, err := b.Store.Ledger.ListRecords(t.Context(), ledger.RecordFilter{})
	require.NoError(t, err)
	require.Len(t, records.Items, 1)
	require.Equal(t, models.DateIn(yesterday), records.Items[0].RecordDate)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM report_days WHERE provider_id = $1 AND day = $2 AND gross_amount = 115",
		b.Provider.ID, models.DateIn(yesterday).String()))
}

// A payment that was made before the departure, and within the hold, is not late because it is processed late.
func TestAPaymentInTimeIsPaidHoweverLateItIsProcessed(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		took  time.Duration // before now
		freed bool          // the hold is over, and the sweep has freed the seats
		paid  bool
	}{
		"before the departure":                    {took: 2 * time.Hour, paid: true},
		"before the departure, seats taken again": {took: 2 * time.Hour, freed: true, paid: true},
		"after the departure":                     {took: time.Minute},
		"after the departure, seats free":         {took: time.Minute, freed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			booking := b.Book(t, b.Trip, 2)
			tx := b.Open(t, booking, 1)

			// The trip has left an hour ago; the attempt was opened three hours ago.
			b.Exec(t, "UPDATE payment_transactions SET created_at = created_at - interval '3 hours' WHERE id = $1", tx.ID)
			b.Exec(t, "UPDATE trips SET updated_at = now(), departure_at = now() - interval '1 hour' WHERE id = $1", booking.TripID)

			if tt.freed {
				b.Report(t, tx, models.EventPaymentFailed)

				n, err := b.Store.Payments.ReleaseExpiredHolds(t.Context(), 10, booking.HoldUntil)
				require.NoError(t, err)
				require.Equal(t, 1, n)
			}

			b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) {
				e.OccurredAt = time.Now().Add(-tt.took)
			}))

			settled := b.Settle(t, tx, time.Now())
			require.Equal(t, !tt.paid, settled.RefundOwed)

			if tt.paid {
				require.Equal(t, models.BookingConfirmed, b.BookingNow(t, booking.ID).Status)
			} else {
				require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'LATE_PAYMENT'"))
			}
		})
	}
}

// A gateway whose clock is wrong moves no money out of the life of its attempt.
func TestAPaymentIsNeitherBeforeItsAttemptNorInTheFuture(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for name, off := range map[string]time.Duration{"a day behind": -24 * time.Hour, "a day ahead": 24 * time.Hour} {
		tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
		e := bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.OccurredAt = e.OccurredAt.Add(off) })
		b.Deliver(t, e)
		require.Equal(t, models.TransactionPaid, b.Settle(t, tx, time.Now()).Status)

		got := b.Transaction(t, tx.ID)
		require.False(t, got.CapturedAt.Before(got.CreatedAt), name)
		require.False(t, got.CapturedAt.After(time.Now()), name)
		require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM webhook_events WHERE webhook_id = $1 AND occurred_at = $2", e.WebhookID,
			e.OccurredAt.Truncate(time.Microsecond)), "what the gateway said is kept")
	}
}

// The rate is no one's to change once the attempt is open.
func TestTheCommissionRateNeverChanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)

	for _, query := range []string{
		"UPDATE payment_transactions SET commission_rate = 0.5 WHERE id = $1",
		"UPDATE financial_records SET commission_rate = 0.5 WHERE payment_transaction_id = $1",
	} {
		_, err := b.DB.ExecContext(t.Context(), query, tx.ID)
		require.ErrorContains(t, err, "never changes")
	}

	refund := b.Refund(t, tx, bookstest.Amount("15.00"))
	require.Equal(t, 3, b.Count(t, `SELECT (SELECT count(*) FROM financial_records WHERE commission_rate = 0.1)
		+ (SELECT count(*) FROM payment_transactions WHERE id = $1 AND commission_rate = 0.1)`, refund.RefundTransactionID),
		"the parts and the refund keep it")
}

// Nor is the VAT rate: with it, forged VAT would agree with its price.
func TestVATRatesAreKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)

	for _, query := range []string{
		"UPDATE payment_transactions SET vat_rate = 0.05, vat_amount = 5.48 WHERE id = $1",
		"UPDATE bookings SET vat_rate = 0.05, vat_amount = 5.48 WHERE id = (SELECT booking_id FROM payment_transactions WHERE id = $1)",
	} {
		_, err := b.DB.ExecContext(t.Context(), query, tx.ID)
		require.ErrorContains(t, err, "never changes")
	}
}

// TestHeard: how long a webhook took to make a payment PAID counts from its receipt, and nothing counts that a gateway was asked for.
func TestHeard(t *testing.T) {
	t.Parallel()
	b := setup(t)

	settle := func(edit func(*models.WebhookEvent)) models.Settled {
		t.Helper()

		tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, edit))

		s, err := b.Store.Payments.SettlePayment(t.Context(), tx.ID, time.Now())
		require.NoError(t, err)
		require.Equal(t, models.TransactionPaid, s.Status)

		return s
	}

	require.WithinDuration(t, time.Now(), settle(nil).Heard, time.Minute)
	require.Zero(t, settle(func(e *models.WebhookEvent) { e.WebhookID = models.PolledPrefix + e.WebhookID }).Heard)
}
