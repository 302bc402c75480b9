package seed_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/seed"
	"rihla/internal/store/storetest"
)

// Every index, key and trigger that a large load takes away is there again, in each partition too.
func TestBulkBringsEverythingBack(t *testing.T) {
	t.Parallel()

	conn, err := pgx.Connect(t.Context(), storetest.Database(t))
	require.NoError(t, err)

	defer func() { require.NoError(t, conn.Close(t.Context())) }()

	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)

	state := func() (all string, n int) {
		t.Helper()

		require.NoError(t, tx.QueryRow(t.Context(), `SELECT string_agg(def, E'\n' ORDER BY def), count(*) FROM (
			SELECT x.indrelid::regclass || ' ' || x.indisvalid || ' ' || substring(pg_get_indexdef(x.indexrelid) FROM ' USING .*') AS def
			FROM pg_index AS x JOIN pg_class AS c ON c.oid = x.indrelid WHERE c.relnamespace = 'public'::regnamespace
			UNION ALL
			SELECT conrelid::regclass || ' ' || convalidated || ' ' || pg_get_constraintdef(oid)
			FROM pg_constraint WHERE connamespace = 'public'::regnamespace
			UNION ALL
			SELECT tgrelid::regclass || ' ' || tgname FROM pg_trigger WHERE tgenabled = 'O' AND NOT tgisinternal) AS d`).Scan(&all, &n))

		return all, n
	}

	was, before := state()

	restore, err := seed.PrepareBulk(t.Context(), tx)
	require.NoError(t, err)

	_, between := state()
	require.Less(t, between, before)

	require.NoError(t, seed.ExecAll(t.Context(), tx, restore))

	is, _ := state()
	require.Equal(t, was, is)
	require.NoError(t, tx.Rollback(t.Context()))
}
