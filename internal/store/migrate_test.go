package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/storetest"
	"rihla/internal/testkit"
	"rihla/models"
)

// A database that answers and has not got the schema of this version cannot be worked with; one that is newer can.
func TestReady(t *testing.T) {
	t.Parallel()
	url := storetest.Database(t)
	s, db := storetest.OpenAt(t, url, store.DefaultPolicies())
	require.NoError(t, s.Ready(t.Context()))

	change := func(statement string) {
		t.Helper()

		_, err := db.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}

	serviceURL := testkit.AsService(t, url)
	require.NoError(t, s.GrantTo(t.Context(), testkit.ServiceRole))

	service, err := store.Open(t.Context(), serviceURL, store.DefaultPolicies(), store.Options{MaxConns: 1})
	require.NoError(t, err)

	defer service.Close()

	require.NoError(t, service.Ready(t.Context()), "the service's own role may look")

	change("INSERT INTO bun_migrations (name, group_id, migrated_at) VALUES ('9999', 9999, now())")
	require.NoError(t, s.Ready(t.Context()))

	change("ALTER TABLE bun_migrations RENAME TO kept")
	requireCode(t, models.CodeServiceUnavailable, s.Ready(t.Context()))

	change("ALTER TABLE kept RENAME TO bun_migrations")
	change("DELETE FROM bun_migrations WHERE name = (SELECT max(name) FROM bun_migrations WHERE name <> '9999')")
	requireCode(t, models.CodeServiceUnavailable, s.Ready(t.Context()))
}
