package db_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/internal/testkit"
	"rihla/models"
)

// partitioned are the tables with partitions of months, and the columns of their times.
var partitioned = map[string]string{"transaction_state_changes": "changed_at", "audit_log": "created_at"}

// note writes an entry of the audit log that is so many months older than now, or younger.
func note(t *testing.T, db *sql.DB, months int) (id string) {
	t.Helper()

	require.NoError(t, db.QueryRowContext(t.Context(), `INSERT INTO audit_log (id, action, entity, created_at) SELECT gen_random_uuid(),
		'HOTEL_CREATED', 'hotel', date_trunc('month', now(), 'UTC') + make_interval(months => $1, days => 9) RETURNING id`, months).Scan(&id))

	return id
}

// lies says in which partition of the audit log an entry is.
func lies(t *testing.T, db *sql.DB, id string) (partition string) {
	t.Helper()

	require.NoError(t, db.QueryRowContext(t.Context(), "SELECT tableoid::regclass::text FROM audit_log WHERE id = $1", id).Scan(&partition))

	return partition
}

// named is the name of the audit log's partition of a month that comes after so many.
func named(t *testing.T, db *sql.DB, months int) (name string) {
	t.Helper()

	require.NoError(t, db.QueryRowContext(t.Context(),
		"SELECT to_char(now() AT TIME ZONE 'UTC' + make_interval(months => $1), '\"audit_log_\"YYYY_MM')", months).Scan(&name))

	return name
}

// A row of every moment finds a place, and moves to that of its month when it is made.
func TestRowsFindTheirMonth(t *testing.T) {
	t.Parallel()
	s, conn := storetest.Open(t, models.DefaultPolicies())

	require.Equal(t, "audit_log_past", lies(t, conn, note(t, conn, -1)))
	require.Equal(t, "audit_log_past", lies(t, conn, note(t, conn, 0)))
	require.Equal(t, named(t, conn, 3), lies(t, conn, note(t, conn, 3)))

	far := note(t, conn, 4)
	require.Equal(t, "audit_log_default", lies(t, conn, far))

	made, err := s.DB.MakeMonths(t.Context(), 3)
	require.NoError(t, err)
	require.Zero(t, made, "the migration has made these")

	made, err = s.DB.MakeMonths(t.Context(), 5)
	require.NoError(t, err)
	require.Equal(t, 4, made, "two months of two tables")
	require.Equal(t, named(t, conn, 4), lies(t, conn, far))
	require.Equal(t, named(t, conn, 5), lies(t, conn, note(t, conn, 5)))

	var kind string
	require.NoError(t, conn.QueryRowContext(t.Context(), "SELECT actor_kind FROM audit_log WHERE id = $1", far).Scan(&kind))
	require.Equal(t, "SYSTEM", kind, "columns that follow from others are there as well")
}

// While a long read holds a lock, no month is made, and payments do not wait behind it.
func TestMonthsWaitForNobody(t *testing.T) {
	t.Parallel()
	s, conn := storetest.Open(t, models.DefaultPolicies())

	tx, err := conn.BeginTx(t.Context(), nil)
	require.NoError(t, err)

	defer func() { _ = tx.Rollback() }()

	_, err = tx.ExecContext(t.Context(), "SELECT count(*) FROM audit_log")
	require.NoError(t, err)

	made, err := s.DB.MakeMonths(t.Context(), 4)
	require.NoError(t, err)
	require.Zero(t, made)
	require.NoError(t, tx.Rollback())

	made, err = s.DB.MakeMonths(t.Context(), 4)
	require.NoError(t, err)
	require.Equal(t, 2, made)
}

// The service's role reaches rows through their table alone, those of months that it has made itself as well, and of months that were
// made where new tables are granted to it by default.
func TestTheServicesRoleCannotReachPartitions(t *testing.T) {
	t.Parallel()
	database := storetest.Database(t)
	owner, conn := storetest.OpenAt(t, database, models.DefaultPolicies())
	url := testkit.AsService(t, database)
	require.NoError(t, owner.DB.GrantTo(t.Context(), testkit.ServiceRole))
	execute(t, conn, "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO "+testkit.ServiceRole)

	own, err := store.Open(t.Context(), url, models.DefaultPolicies(), db.Options{MaxConns: 4})
	require.NoError(t, err)

	defer own.Close()

	made, err := own.DB.MakeMonths(t.Context(), 5)
	require.NoError(t, err)
	require.Equal(t, 4, made)

	service, err := sql.Open("pgx", url)
	require.NoError(t, err)

	defer service.Close()

	execute(t, conn, "GRANT INSERT (created_at) ON audit_log TO "+testkit.ServiceRole) // for rows of other months

	for _, months := range []int{0, 1, 5, 6} {
		require.NotEmpty(t, note(t, service, months))
	}

	for parent, column := range partitioned {
		rows, err := conn.QueryContext(t.Context(), "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = $1::regclass", parent)
		require.NoError(t, err)

		defer rows.Close()

		n := 0

		for ; rows.Next(); n++ {
			var partition string
			require.NoError(t, rows.Scan(&partition))

			for _, query := range []string{
				"UPDATE %[1]s SET %[3]s = %[3]s", "DELETE FROM %[1]s", "TRUNCATE %[1]s", "INSERT INTO %[1]s (%[3]s) SELECT %[3]s FROM %[1]s", "DROP TABLE %[1]s",
				"SELECT FROM %[1]s", "ALTER TABLE %[2]s DETACH PARTITION %[1]s", "ALTER TABLE %[1]s RENAME TO mine",
			} {
				_, err := service.ExecContext(t.Context(), fmt.Sprintf(query, partition, parent, column))
				require.ErrorContains(t, err, "SQLSTATE 42501", query) // insufficient privilege
			}
		}

		require.NoError(t, rows.Err())
		require.Equal(t, 7, n, "the past, five months and the default")

		_, err = service.ExecContext(t.Context(), fmt.Sprintf("UPDATE %s SET %s = %[2]s", parent, column))
		require.ErrorContains(t, err, "SQLSTATE 42501")
	}
}

// What is looked for by payment, by what it is about or by its time is found by an index of every partition.
func TestPartitionsKeepTheirIndexes(t *testing.T) {
	t.Parallel()
	_, conn := storetest.Open(t, models.DefaultPolicies())
	conn.SetMaxOpenConns(1)
	execute(t, conn, "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off")

	const id = "'00000000-0000-0000-0000-000000000001'"
	for query, index := range map[string]string{
		"SELECT * FROM transaction_state_changes WHERE transaction_id = " + id + " ORDER BY id":               "transaction",
		"SELECT * FROM transaction_state_changes WHERE id = 1":                                                "pkey",
		"SELECT * FROM audit_log WHERE id = " + id:                                                            "pkey",
		"SELECT * FROM audit_log ORDER BY created_at DESC, id LIMIT 20":                                       "created",
		"SELECT * FROM audit_log WHERE entity = 'refund' AND entity_id = " + id + " ORDER BY created_at DESC": "about|entity",
	} {
		rows, err := conn.QueryContext(t.Context(), "EXPLAIN "+query)
		require.NoError(t, err)

		defer rows.Close()

		scans := 0

		for rows.Next() {
			var line string
			require.NoError(t, rows.Scan(&line))

			if strings.Contains(line, "Scan") {
				require.Contains(t, line, "Index Scan using", query)
				require.Regexp(t, index, line, query)

				scans++
			}
		}

		require.NoError(t, rows.Err())
		require.Equal(t, 5, scans, query)
	}
}
