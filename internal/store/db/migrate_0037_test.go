package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/storetest"
	"rihla/models"
)

// Run again after its last step has failed, the migration keeps the indexes that bookings are counted by already, and makes one that is
// half made anew.
func TestMigrationOfUnpaidBookingsRunsAgain(t *testing.T) {
	t.Parallel()
	s, conn := storetest.Open(t, models.DefaultPolicies())
	b := bundle(t, s, conn)
	b.Book(t, b.Trip, 1)
	b.Book(t, b.Trip, 1)

	indexes := func() map[string]uint32 {
		t.Helper()

		rows, err := conn.QueryContext(t.Context(), `SELECT c.relname, c.oid FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
			WHERE i.indrelid = 'bookings'::regclass AND c.relname LIKE 'bookings_unpaid%' AND i.indisvalid`)
		require.NoError(t, err)

		defer rows.Close()

		all := map[string]uint32{}

		for rows.Next() {
			var (
				name string
				oid  uint32
			)

			require.NoError(t, rows.Scan(&name, &oid))
			all[name] = oid
		}

		require.NoError(t, rows.Err())

		return all
	}
	before := indexes()
	require.Len(t, before, 3)

	var counts string // which a later migration has made anew

	require.NoError(t, conn.QueryRowContext(t.Context(), "SELECT pg_get_functiondef('refuse_unpaid'::regproc)").Scan(&counts))
	b.Exec(t, "DELETE FROM bun_migrations WHERE name = '0037'")
	b.Exec(t, "CREATE INDEX bookings_unpaid_trip ON bookings (trip_id)") // the earlier one, not dropped yet
	b.Exec(t, "DROP INDEX bookings_unpaid_of_phone")

	_, err := conn.ExecContext(t.Context(), "CREATE UNIQUE INDEX CONCURRENTLY bookings_unpaid_of_phone ON bookings (trip_id)")
	require.ErrorContains(t, err, "23505", "two bookings of one trip: what is left is no index to go by")

	applied, err := s.DB.Migrate(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"0037_unpaid_bookings_by_their_own"}, applied)
	b.Exec(t, counts)

	after := indexes()
	require.Len(t, after, 3)

	for name, oid := range before {
		if name == "bookings_unpaid_of_phone" {
			require.NotEqual(t, oid, after[name])
		} else {
			require.Equal(t, oid, after[name], name)
		}
	}
}
