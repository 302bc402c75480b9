package bookings_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// What is counted before a booking is made is found by an index of its own, whatever PostgreSQL believes of the table: that it is as it
// was when it was empty, or as it is. Of those that others have not paid yet none is read.
func TestUnpaidBookingsOfOthersAreNotRead(t *testing.T) {
	t.Parallel()

	for name, analyzed := range map[string]bool{"known as it was": false, "known as it is": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unpaidOfOthersAreNotRead(t, analyzed)
		})
	}
}

func unpaidOfOthersAreNotRead(t *testing.T, analyzed bool) {
	t.Helper()

	const others = 99

	b := setup(t)
	b.Exec(t, "ALTER TABLE bookings SET (autovacuum_enabled = off)") // which would analyze it, at any moment

	other := b.Book(t, b.Trip, 1)
	b.Exec(t, "UPDATE trips SET capacity = $1, seats_taken = $1 WHERE id = $2", others+1, other.TripID)

	const like = `INSERT INTO bookings (id, trip_id, provider_id, user_id, status, seats, seats_held, hold_until, amount, vat_rate, vat_amount,
			passengers, contact_name, contact_email, contact_phone, contact_e164, locale, booked_departure_at, booked_schedule, hold_method)
		SELECT gen_random_uuid(), trip_id, provider_id, user_id, $3, seats, $4, hold_until, amount, vat_rate, vat_amount,
			passengers, contact_name, contact_email, contact_phone, contact_e164, locale, booked_departure_at, booked_schedule, hold_method
		FROM bookings, generate_series(1, $1) WHERE id = $2`

	b.Exec(t, like, others, other.ID, "PENDING_PAYMENT", true)
	// A PostgreSQL that knows of a table of a few pages reads it whole, and with right. Of these it is not to be one.
	b.Exec(t, like, 10*others, other.ID, "CANCELLED", false)

	if analyzed {
		b.Exec(t, "ANALYZE bookings")
	}

	for _, c := range []struct {
		name, call string
		args       []any
		found      int
	}{
		{"account and phone", "SELECT refuse_unpaid($1, '+966555000111', 1, 5, 20)", []any{uuid.New()}, 0},
		{"bills of the trip", "SELECT lock_bill_seats($1, $2)", []any{other.TripID, uuid.New()}, 0},
		{"an account that has some", "SELECT refuse_unpaid($1, NULL, 1, 5, 20)", []any{other.UserID}, others + 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			const times = 8 // PostgreSQL plans the first five executions of a statement by themselves

			require.Equal(t, times*c.found, bookingsRead(t, b, times, c.call, c.args...))
		})
	}
}

// bookingsRead is how many rows of bookings PostgreSQL reads for a statement that is executed a number of times.
func bookingsRead(t *testing.T, b *books, times int, statement string, args ...any) int {
	t.Helper()

	tx, err := b.DB.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	defer func() { _ = tx.Rollback() }()

	read := func() (rows int) {
		// Of this transaction, and what its session has not handed on of those before.
		require.NoError(t, tx.QueryRowContext(t.Context(), `SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
			FROM pg_stat_xact_user_tables WHERE relname = 'bookings'`).Scan(&rows))

		return rows
	}
	before := read()

	for range times {
		_, err := tx.ExecContext(t.Context(), statement, args...)
		require.NoError(t, err)
	}

	return read() - before
}
