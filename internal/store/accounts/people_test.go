package accounts_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

// TestPeopleRowsAreCounted: beside each other no row is lost, what was not read is given back, and an hour is noted once.
func TestPeopleRowsAreCounted(t *testing.T) {
	t.Parallel()

	b := setup(t)
	ctx, s := t.Context(), b.Store.Accounts
	by := db.Actor{UserID: models.NewID(), Role: models.RoleSupportAgent, RequestID: "r"}
	noted := func() int {
		return b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'PEOPLE_READ' AND entity_id = $1", by.UserID)
	}
	read := func(most, rows int) {
		r, err := s.ReserveRows(ctx, by.UserID, most)
		if err == nil {
			err = s.ReadRows(ctx, by, r, "ListBookings", rows)
		}

		if err != nil {
			t.Error(err)
		}
	}

	bookstest.Parallel(10, func(int) { read(100, 100) })
	require.Equal(t, 1000, b.Count(t, "SELECT rows FROM people_reads WHERE account_id = $1", by.UserID))
	require.Zero(t, noted(), "not above 1,000")

	read(100, 0)
	require.Zero(t, noted(), "nothing was read")
	require.Equal(t, 1000, b.Count(t, "SELECT rows FROM people_reads WHERE account_id = $1", by.UserID))

	bookstest.Parallel(8, func(int) { read(100, 3) })
	require.Equal(t, 1024, b.Count(t, "SELECT rows FROM people_reads WHERE account_id = $1", by.UserID))
	require.Equal(t, 1, noted(), "once in an hour")

	b.Exec(t, "UPDATE people_reads SET hour = hour - interval '1 hour'")
	read(1000, 1000)
	require.Equal(t, 1, noted(), "another hour")
	read(1, 1)
	require.Equal(t, 2, noted())

	b.Exec(t, "UPDATE people_reads SET hour = hour - interval '1 day'")

	_, err := s.PurgeRefreshTokens(ctx, 0)
	require.NoError(t, err)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM people_reads"))
}
