package db_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// TestSettlingFindsRowsByTheirKeys: while a long snapshot is open, the indexes of rows in one state keep an entry for every row that has
// left it. PostgreSQL takes them all the same where it knows of few such rows, as it does here, unless the conditions forbid it.
func TestSettlingFindsRowsByTheirKeys(t *testing.T) {
	t.Parallel()

	s := onOneConnection(t)
	b := bundle(t, s, s.DB.Raw)

	const (
		known   = 300
		settled = 8 // PostgreSQL plans the first five executions of a prepared statement by themselves
	)

	trip := b.Trip
	book := func(i int) models.PaymentTransaction {
		if i%40 == 0 {
			trip = b.InsertTrip(t, 40, nil)
		}

		return b.Open(t, b.Book(t, trip, 1), 1)
	}

	for i := range known {
		b.Report(t, book(i), models.EventPaymentSucceeded)
	}

	b.Exec(t, "ANALYZE")

	scans := func() map[string]int {
		b.Exec(t, "SELECT pg_stat_force_next_flush()")

		rows, err := s.DB.Raw.QueryContext(t.Context(), `SELECT indexrelname, idx_scan FROM pg_stat_user_indexes
			WHERE relname IN ('payment_transactions', 'bookings', 'webhook_events')`)
		require.NoError(t, err)

		defer func() { _ = rows.Close() }()

		n := map[string]int{}

		for rows.Next() {
			var (
				name string
				of   int
			)

			require.NoError(t, rows.Scan(&name, &of))
			n[name] = of
		}

		require.NoError(t, rows.Err())

		return n
	}

	used := map[string]int{}

	for i := range settled {
		tx := book(i)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))

		before := scans()

		b.Settle(t, tx, time.Now())

		for name, n := range scans() {
			used[name] += n - before[name]
		}
	}

	keys := []string{
		"bookings_pkey", "payment_transactions_pkey", "webhook_events_pkey", "transactions_booking", "transactions_booking_attempt",
		"webhook_events_transaction",
	}

	for name, n := range used {
		require.True(t, n == 0 || slices.Contains(keys, name), "%s is searched %d times", name, n)
	}

	for _, name := range []string{"bookings_pkey", "payment_transactions_pkey", "webhook_events_pkey", "webhook_events_transaction"} {
		require.GreaterOrEqual(t, used[name], settled, name)
	}
}
