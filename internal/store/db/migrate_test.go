package db_test

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"rihla/internal/store"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/internal/testkit"
	"rihla/migrations"
	"rihla/models"
)

// A database that answers and has not got the schema of this version cannot be worked with; one that is newer can.
func TestReady(t *testing.T) {
	t.Parallel()
	url := storetest.Database(t)
	s, conn := storetest.OpenAt(t, url, models.DefaultPolicies())
	require.NoError(t, s.DB.Ready(t.Context()))

	change := func(statement string) {
		t.Helper()

		_, err := conn.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}

	serviceURL := testkit.AsService(t, url)
	require.NoError(t, s.DB.GrantTo(t.Context(), testkit.ServiceRole))

	service, err := store.Open(t.Context(), serviceURL, models.DefaultPolicies(), db.Options{MaxConns: 1})
	require.NoError(t, err)

	defer service.Close()

	require.NoError(t, service.DB.Ready(t.Context()), "the service's own role may look")

	change("INSERT INTO bun_migrations (name, group_id, migrated_at) VALUES ('9999', 9999, now())")
	require.NoError(t, s.DB.Ready(t.Context()))

	change("ALTER TABLE bun_migrations RENAME TO kept")
	bookstest.RequireCode(t, models.CodeServiceUnavailable, s.DB.Ready(t.Context()))

	change("ALTER TABLE kept RENAME TO bun_migrations")
	change("DELETE FROM bun_migrations WHERE name = (SELECT max(name) FROM bun_migrations WHERE name <> '9999')")
	bookstest.RequireCode(t, models.CodeServiceUnavailable, s.DB.Ready(t.Context()))
}

// Processes that migrate at once do each migration once, and none waits for another for ever: some indexes are made beside whatever else
// the database does, which they wait for.
func TestMigrateInParallel(t *testing.T) {
	t.Parallel()
	url := testkit.Postgres(t)

	var (
		g       errgroup.Group
		applied atomic.Int64
	)

	for range 3 {
		g.Go(func() error {
			s, err := store.Open(t.Context(), url, models.DefaultPolicies(), db.Options{MaxConns: 2})
			if err != nil {
				return err
			}

			names, err := s.DB.Migrate(t.Context())
			applied.Add(int64(len(names)))

			return errors.Join(err, s.Close())
		})
	}

	require.NoError(t, g.Wait())

	files, err := fs.Glob(migrations.FS, "*.up.sql")
	require.NoError(t, err)
	require.EqualValues(t, len(files), applied.Load())
}

// TestServerIsNewEnough: the oldest that the service runs on, and where a version is asked for, that one (tools/postgres/run).
func TestServerIsNewEnough(t *testing.T) {
	t.Parallel()

	_, conn := storetest.OpenAt(t, storetest.Database(t), models.DefaultPolicies())

	var major int

	require.NoError(t, conn.QueryRowContext(t.Context(), "SELECT current_setting('server_version_num')::int / 10000").Scan(&major))
	require.GreaterOrEqual(t, major, 15)

	if asked := os.Getenv("POSTGRES_MAJOR"); asked != "" {
		require.Equal(t, asked, strconv.Itoa(major))
	}
}
