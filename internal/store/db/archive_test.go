package db_test

import (
	"compress/gzip"
	"crypto/sha256"
	"database/sql"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/internal/testkit"
	"rihla/models"
)

// nextMonth begins when the past of the tables has ended.
func nextMonth() time.Time {
	now := time.Now().UTC()

	return time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)
}

// pastOver archives the past when its month has just been over for a day.
func pastOver(t *testing.T) db.ArchiveOptions {
	t.Helper()

	return db.ArchiveOptions{Dir: t.TempDir(), Before: nextMonth(), Now: nextMonth().AddDate(0, 0, 1)}
}

func scan[T any](t *testing.T, conn *sql.DB, query string, args ...any) (v T) {
	t.Helper()

	require.NoError(t, conn.QueryRowContext(t.Context(), query, args...).Scan(&v))

	return v
}

// A month is in its file, byte for byte, and in a row that nothing changes, before it is gone.
func TestArchive(t *testing.T) {
	t.Parallel()
	s, conn := storetest.Open(t, models.DefaultPolicies())
	execute(t, conn, `INSERT INTO audit_log (id, action, entity, details, request_id, created_at)
		SELECT gen_random_uuid(), 'HOTEL_CREATED', 'hotel', jsonb_build_object('quoted', E'a "b",\n c'), '', now() - n * interval '1 hour'
		FROM generate_series(0, 999) AS n`)

	o := pastOver(t)
	digest := scan[string](t, conn, "SELECT md5(string_agg(id::text, '|' ORDER BY created_at)) FROM audit_log")

	archived, err := s.DB.Archive(t.Context(), o)
	require.NoError(t, err)
	require.Len(t, archived, 2)
	require.Zero(t, scan[int](t, conn, "SELECT count(*) FROM audit_log"))
	require.False(t, scan[bool](t, conn, "SELECT to_regclass('audit_log_past') IS NOT NULL"))

	var m db.ArchivedMonth

	manifest, err := os.ReadFile(filepath.Join(o.Dir, "audit_log_past.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(manifest, &m))
	require.Equal(t, map[string]int64{"HOTEL_CREATED": 1000}, m.Sums)
	require.EqualValues(t, 1000, m.Rows)
	require.Nil(t, m.Since)
	require.Equal(t, nextMonth(), m.Until.UTC())

	require.Equal(t, m.SHA256, scan[string](t, conn, "SELECT sha256 FROM archived_months WHERE table_name = 'audit_log' AND rows = 1000"))
	require.Equal(t, m.SHA256, digestOf(t, filepath.Join(o.Dir, m.File)))

	// What is in the file can be read back into a table.
	execute(t, conn, "CREATE TABLE restored (LIKE audit_log); ALTER TABLE restored ALTER actor_kind DROP NOT NULL")
	require.Equal(t, 1000, copyInto(t, conn, filepath.Join(o.Dir, m.File), m.Columns))
	require.Equal(t, digest, scan[string](t, conn, "SELECT md5(string_agg(id::text, '|' ORDER BY created_at)) FROM restored"))
	require.Equal(t, 1000, scan[int](t, conn, `SELECT count(*) FROM restored WHERE details ->> 'quoted' = E'a "b",\n c' AND request_id = ''`))

	// What the seals, which stay, say of the file (docs/archive.md).
	const unproven = `SELECT count(*) FROM audit_seals AS s CROSS JOIN LATERAL unnest(s.entries, s.digests) AS e (id, digest)
		LEFT JOIN restored AS m ON m.id = e.id
		WHERE e.digest IS DISTINCT FROM audit_entry_digest(m.id, m.created_at, m.actor_id, m.actor_role, m.operator, m.action, m.entity,
			m.entity_id, m.address, m.user_agent, m.request_id, m.details)`
	require.Zero(t, scan[int](t, conn, unproven))
	execute(t, conn, "UPDATE restored SET address = 'another' WHERE id = (SELECT id FROM restored LIMIT 1)")
	require.Equal(t, 1, scan[int](t, conn, unproven))

	for _, query := range []string{"UPDATE archived_months SET rows = 1", "DELETE FROM archived_months", "TRUNCATE archived_months"} {
		_, err = conn.ExecContext(t.Context(), query)
		require.ErrorContains(t, err, "append-only")
	}

	archived, err = s.DB.Archive(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, archived, "again there is nothing to do")

	require.Equal(t, "audit_log_default", lies(t, conn, note(t, conn, -1)), "what comes too late is kept, and told by the audit")
	require.NotEmpty(t, note(t, conn, 1))
}

func digestOf(t *testing.T, path string) string {
	t.Helper()

	sum := sha256.New()
	_, err := io.Copy(sum, unzipped(t, path))
	require.NoError(t, err)

	return hex.EncodeToString(sum.Sum(nil))
}

func unzipped(t *testing.T, path string) io.Reader {
	t.Helper()

	file, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })

	zip, err := gzip.NewReader(file)
	require.NoError(t, err)

	return zip
}

// copyInto inserts the lines of a file into restored, and counts them.
func copyInto(t *testing.T, conn *sql.DB, path string, columns []string) (n int) {
	t.Helper()

	lines, err := csv.NewReader(unzipped(t, path)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, columns, lines[0])

	for _, line := range lines[1:] {
		row := map[string]any{}
		for i, name := range columns {
			if row[name] = line[i]; line[i] == "" && (name == "actor_id" || name == "entity_id") {
				row[name] = nil
			}
		}

		row["details"] = json.RawMessage(row["details"].(string)) //nolint:forcetypeassert // as it was set above
		body, err := json.Marshal(row)
		require.NoError(t, err)
		execute(t, conn, "INSERT INTO restored SELECT * FROM jsonb_populate_record(NULL::restored, $1)", string(body))

		n++
	}

	return n
}

// An archiving whose connection is ended when the file is written has changed nothing in the database, and the next one does all of it.
func TestArchiveThatIsKilled(t *testing.T) {
	t.Parallel()
	s, conn := storetest.Open(t, models.DefaultPolicies())
	id := note(t, conn, -1)

	o := pastOver(t)
	o.Written = func(db.ArchivedMonth) error {
		_, err := conn.ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_locks
			WHERE locktype = 'advisory' AND objid = 7281946002 % 4294967296
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)

		return err
	}

	archived, err := s.DB.Archive(t.Context(), o)
	require.Error(t, err)
	require.Empty(t, archived)
	require.Equal(t, "audit_log_past", lies(t, conn, id))
	require.Zero(t, scan[int](t, conn, "SELECT count(*) FROM archived_months"))

	files, err := os.ReadDir(o.Dir)
	require.NoError(t, err)
	require.Len(t, files, 2, "one month's")

	// One that was killed while it wrote.
	require.NoError(t, os.WriteFile(filepath.Join(o.Dir, "audit_log_past.csv.gz.partial"), []byte("half"), 0o600))

	o.Written = nil
	archived, err = s.DB.Archive(t.Context(), o)
	require.NoError(t, err)
	require.Len(t, archived, 2)
	require.Equal(t, 2, scan[int](t, conn, "SELECT count(*) FROM archived_months"))

	for _, m := range archived {
		require.Equal(t, m.SHA256, digestOf(t, filepath.Join(o.Dir, m.File)))
	}
}

// What is kept is out of the table and still there.
func TestArchiveThatKeepsRows(t *testing.T) {
	t.Parallel()
	s, conn := storetest.Open(t, models.DefaultPolicies())
	note(t, conn, -1)

	o := pastOver(t)
	o.Keep = true
	_, err := s.DB.Archive(t.Context(), o)
	require.NoError(t, err)
	require.Zero(t, scan[int](t, conn, "SELECT count(*) FROM audit_log"))
	require.Equal(t, 1, scan[int](t, conn, "SELECT count(*) FROM audit_log_past"))
}

// Months that are not over, or not for long enough, stay, and so does everything for a role that may not take them out.
func TestArchiveRefuses(t *testing.T) {
	t.Parallel()
	database := storetest.Database(t)
	s, _ := storetest.OpenAt(t, database, models.DefaultPolicies())
	url := testkit.AsService(t, database)
	require.NoError(t, s.DB.GrantTo(t.Context(), testkit.ServiceRole))

	o := pastOver(t)
	refused := func(s *store.Store, o db.ArchiveOptions) {
		t.Helper()

		_, err := s.DB.Archive(t.Context(), o)
		require.Equal(t, models.CodeValidation, models.CodeOf(err), "%v", err)
	}

	young := o
	young.Retention = time.Hour
	refused(s, young)

	fresh := o
	fresh.Now = nextMonth().Add(time.Hour)
	refused(s, fresh)

	service, err := store.Open(t.Context(), url, models.DefaultPolicies(), db.Options{MaxConns: 1})
	require.NoError(t, err)

	defer service.Close()

	refused(service, o)

	o.Dir = filepath.Join(o.Dir, "is not there")
	_, err = s.DB.Archive(t.Context(), o)
	require.ErrorIs(t, err, os.ErrNotExist)
}
