package db_test

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/internal/testkit"
	"rihla/models"
)

// The service's role, which owns no index, cleans the lists: when they have grown long, when their length is not known, and not
// before.
func TestSearchListsAreCleaned(t *testing.T) {
	t.Parallel()
	database := storetest.Database(t)
	s, conn := storetest.OpenAt(t, database, models.DefaultPolicies())
	b := bundle(t, s, conn)
	url := testkit.AsService(t, database)
	require.NoError(t, s.DB.GrantTo(t.Context(), testkit.ServiceRole))

	own, err := store.Open(t.Context(), url, models.DefaultPolicies(), db.Options{MaxConns: 4})
	require.NoError(t, err)

	defer own.Close()

	cleaned := func() int64 {
		t.Helper()

		pages, err := own.DB.CleanSearchLists(t.Context())
		require.NoError(t, err)

		return pages
	}

	b.Paid(t, 1)
	b.Exec(t, "UPDATE search_lists SET rows_at_cleaning = 1000000") // as after a crash, when PostgreSQL counts from zero again
	require.EqualValues(t, 2, cleaned(), "a page of each list")
	b.Paid(t, 1)
	require.Zero(t, cleaned(), "a few rows are left where they are")

	b.Exec(t, "UPDATE search_lists SET clean_after = 200")
	b.rewriteWords(t, 100)
	require.Zero(t, cleaned())
	b.rewriteWords(t, 100)
	require.Positive(t, cleaned())
	require.Zero(t, cleaned())

	// What the role may do is to have them cleaned.
	service, err := sql.Open("pgx", url)
	require.NoError(t, err)

	defer service.Close()

	for _, query := range []string{
		"SELECT gin_clean_pending_list('records_number_part')", "UPDATE search_lists SET clean_after = 1000000", "DELETE FROM search_lists",
		"INSERT INTO search_lists VALUES ('records_clawback', 1)", "ALTER INDEX records_number_part SET (fastupdate = off)",
	} {
		_, err := service.ExecContext(t.Context(), query)
		require.ErrorContains(t, err, "SQLSTATE 42501", query) // insufficient privilege
	}
}

// While one session cleans, another has nothing to do, and does not wait.
func TestSearchListsAreCleanedByOne(t *testing.T) {
	t.Parallel()
	s, conn := storetest.Open(t, models.DefaultPolicies())
	b := bundle(t, s, conn)

	tx, err := conn.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	defer func() { _ = tx.Rollback() }()

	_, err = tx.ExecContext(t.Context(), "SELECT clean_search_lists()")
	require.NoError(t, err)

	b.Paid(t, 1)
	b.Exec(t, "UPDATE search_lists SET rows_at_cleaning = 1000000")

	pages, err := s.DB.CleanSearchLists(t.Context())
	require.NoError(t, err)
	require.Zero(t, pages)
	require.NoError(t, tx.Commit())

	pages, err = s.DB.CleanSearchLists(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, pages)
}

// A migration that was interrupted half-way is run again, with an index left behind that it had begun.
func TestMigrationOfSearchListsRunsAgain(t *testing.T) {
	t.Parallel()
	s, conn := storetest.Open(t, models.DefaultPolicies())

	const indexes = `SELECT string_agg(indexdef, E'\n' ORDER BY indexname) FROM pg_indexes WHERE schemaname = 'public'`

	var before, after string

	require.NoError(t, conn.QueryRowContext(t.Context(), indexes).Scan(&before))

	for _, query := range []string{
		"DELETE FROM bun_migrations WHERE name = '0034'", "CREATE INDEX notifications_recipient_new ON notifications (id)",
		"CREATE INDEX transactions_campaign_paid_new ON payment_transactions (id)",
	} {
		_, err := conn.ExecContext(t.Context(), query)
		require.NoError(t, err)
	}

	applied, err := s.DB.Migrate(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"0034_search_lists"}, applied)
	require.NoError(t, conn.QueryRowContext(t.Context(), indexes).Scan(&after))
	require.Equal(t, before, after)
}

// rewriteWords writes so many versions of a booking's words, an even number, and has them counted at once.
func (b *books) rewriteWords(t *testing.T, n int) {
	t.Helper()

	conn, err := b.DB.Conn(t.Context())
	require.NoError(t, err)

	defer conn.Close()

	for i := range n {
		words := []string{"words || '.'", "left(words, -1)"}[i%2]
		_, err := conn.ExecContext(t.Context(), "UPDATE booking_texts SET words = "+words+
			" WHERE booking_id = (SELECT id FROM bookings ORDER BY created_at LIMIT 1)")
		require.NoError(t, err)
	}

	_, err = conn.ExecContext(t.Context(), "SELECT pg_stat_force_next_flush()")
	require.NoError(t, err)
}
