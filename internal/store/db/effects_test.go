package db_test

import (
	"bytes"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/testkit"
	"rihla/migrations"
)

var update = flag.Bool("update", false, "write migrations/effects.tsv")

// What a migration does to the tables that are there before it is observed on an empty database: its locks, the tables that it writes anew
// or reads whole, the indexes that it makes. `rihla migrate --plan` tells it to operators.
func TestEffectsOfMigrations(t *testing.T) {
	t.Parallel()

	conn, err := sql.Open("pgx", testkit.Postgres(t))
	require.NoError(t, err)

	defer conn.Close()

	conn.SetMaxOpenConns(1)

	files, err := fs.Glob(migrations.FS, "*.up.sql")
	require.NoError(t, err)
	slices.Sort(files)

	var out bytes.Buffer

	for _, file := range files {
		text, err := fs.ReadFile(migrations.FS, file)
		require.NoError(t, err)

		effects := map[string]effect{}
		parts := strings.Split(string(text), "--bun:split")

		if strings.HasSuffix(file, ".tx.up.sql") {
			parts = []string{string(text)}
		}

		for _, part := range parts {
			for table, e := range observe(t, conn, part) {
				effects[table] = effects[table].with(e)
			}
		}

		name, _, _ := strings.Cut(file, "_")
		for _, table := range slices.Sorted(maps.Keys(effects)) {
			e := effects[table]
			fmt.Fprintf(&out, "%s\t%s\t%s\t%s\n", name, table, e.lock, e.work())
		}
	}

	const golden = "../../../migrations/effects.tsv"

	if *update {
		require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o600))
	}

	kept, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(kept), out.String(), "go test ./internal/store/db -run TestEffectsOfMigrations -update")
}

// locks are those that keep others waiting, the weakest first.
var locks = []string{"RowExclusiveLock", "ShareUpdateExclusiveLock", "ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock"}

type effect struct {
	lock                   string
	rewrites, reads, index bool
}

func (e effect) with(o effect) effect {
	if slices.Index(locks, o.lock) > slices.Index(locks, e.lock) {
		e.lock = o.lock
	}

	return effect{e.lock, e.rewrites || o.rewrites, e.reads || o.reads, e.index || o.index}
}

func (e effect) work() string {
	switch {
	case e.rewrites:
		return "rewrite"
	case e.index:
		return "index"
	case e.reads:
		return "read"
	}

	return "catalogue"
}

// tables are what is known of each table: its file, its indexes, and how often it was read whole.
type tables map[string]struct {
	file, indexes, reads int64
}

// observe runs a part of a migration and reports what it did to the tables that were there.
func observe(t *testing.T, conn *sql.DB, part string) map[string]effect {
	t.Helper()

	ctx := t.Context()

	if strings.Contains(part, " CONCURRENTLY ") { // not in a transaction; others write meanwhile
		was := describe(t, conn)

		_, err := conn.ExecContext(ctx, part)
		require.NoError(t, err, part)

		return compare(was, describe(t, conn), nil, "ShareUpdateExclusiveLock")
	}

	tx, err := conn.BeginTx(ctx, nil)
	require.NoError(t, err)

	defer func() { _ = tx.Rollback() }()

	was := describe(t, tx)

	_, err = tx.ExecContext(ctx, part)
	require.NoError(t, err, part)

	found := compare(was, describe(t, tx), held(t, tx), "")

	require.NoError(t, tx.Commit())

	return found
}

// held are the strongest locks of a transaction, by table.
func held(t *testing.T, tx *sql.Tx) map[string]string {
	t.Helper()

	rows, err := tx.QueryContext(t.Context(), `SELECT l.relation::regclass, l.mode FROM pg_locks AS l
		WHERE l.pid = pg_backend_pid() AND l.relation IS NOT NULL AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
	require.NoError(t, err)

	defer rows.Close()

	out := map[string]string{}

	for rows.Next() {
		var table, mode string

		require.NoError(t, rows.Scan(&table, &mode))

		if slices.Index(locks, mode) > slices.Index(locks, out[table]) {
			out[table] = mode
		}
	}

	require.NoError(t, rows.Err())

	return out
}

type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func describe(t *testing.T, in queryer) tables {
	t.Helper()

	rows, err := in.QueryContext(t.Context(), `SELECT c.oid::regclass, pg_relation_filenode(c.oid), (SELECT count(*) FROM pg_index WHERE indrelid = c.oid),
			coalesce((SELECT seq_scan FROM pg_stat_xact_all_tables WHERE relid = c.oid), 0)
		FROM pg_class AS c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'`)
	require.NoError(t, err)

	defer rows.Close()

	out := tables{}

	for rows.Next() {
		var (
			name string
			row  struct{ file, indexes, reads int64 }
		)

		require.NoError(t, rows.Scan(&name, &row.file, &row.indexes, &row.reads))
		out[name] = row
	}

	require.NoError(t, rows.Err())

	return out
}

// compare finds what became of the tables that were there; lock is what is held on those whose indexes were changed.
func compare(was, is tables, locked map[string]string, lock string) map[string]effect {
	out := map[string]effect{}

	for name, before := range was {
		after, left := is[name]

		e := effect{
			lock: locked[name], rewrites: left && after.file != before.file, reads: after.reads > before.reads, index: after.indexes > before.indexes,
		}
		if after.indexes != before.indexes && lock != "" {
			e.lock = lock
		}

		if e.lock != "" {
			out[name] = e
		}
	}

	return out
}
