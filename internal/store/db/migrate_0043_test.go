package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/storetest"
	"rihla/models"
)

// Run again after it was interrupted, the migration makes an index anew that is half made.
func TestMigrationOfAccountIndexesRunsAgain(t *testing.T) {
	t.Parallel()
	s, conn := storetest.Open(t, models.DefaultPolicies())
	b := bundle(t, s, conn)

	const indexes = `SELECT string_agg(indexdef, E'\n' ORDER BY indexname) FROM pg_indexes AS p
		JOIN pg_index AS i ON i.indexrelid = p.indexname::regclass WHERE schemaname = 'public' AND i.indisvalid`

	var before, after string

	require.NoError(t, conn.QueryRowContext(t.Context(), indexes).Scan(&before))
	require.Contains(t, before, "sessions_of_user")
	require.Contains(t, before, "notifications_of_user")

	b.Exec(t, "DELETE FROM bun_migrations WHERE name = '0043'")
	b.Exec(t, "DROP INDEX sessions_of_user, notifications_of_user")
	b.Exec(t, "INSERT INTO sessions (id, user_id, expires_at) SELECT gen_random_uuid(), $1, now() FROM generate_series(1, 2)", b.Customer.ID)

	_, err := conn.ExecContext(t.Context(), "CREATE UNIQUE INDEX CONCURRENTLY sessions_of_user ON sessions (user_id)")
	require.ErrorContains(t, err, "23505", "two sessions of one account: what is left is no index to go by")

	applied, err := s.DB.Migrate(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"0043_accounts_by_their_user"}, applied)
	require.NoError(t, conn.QueryRowContext(t.Context(), indexes).Scan(&after))
	require.Equal(t, before, after)
}
