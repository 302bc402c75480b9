package db

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"rihla/models"
)

// auditExportColumns are those of an exported audit log, in their order; free are the ones that a client or operator has a say in. Those
// after details are of the chain: with them audit.CheckLogFile computes digests and hashes anew, without the database.
var auditExportColumns = []struct {
	name, sql string
	free      bool
}{
	{name: "seal", sql: "al.seal"},
	{name: "id", sql: "al.id"},
	{name: "created_at", sql: momentInSQL("created_at")},
	{name: "actor_kind", sql: "al.actor_kind"},
	{name: "actor_id", sql: "al.actor_id"},
	{name: "actor_role", sql: "nullif(al.actor_role, '')"},
	{name: "operator", sql: "nullif(al.operator, '')", free: true},
	{name: "action", sql: "al.action"},
	{name: "entity", sql: "al.entity"},
	{name: "entity_id", sql: "al.entity_id"},
	{name: "address", sql: originInSQL("address"), free: true},
	{name: "user_agent", sql: originInSQL("user_agent"), free: true},
	{name: "request_id", sql: "nullif(al.request_id, '')", free: true},
	{name: "details", sql: "al.details", free: true},
	{name: "digest", sql: "encode(al.digest, 'hex')"},
	{name: "seal_position", sql: "al.position"},
	{name: "seal_entries", sql: "al.sealed_entries"},
	{name: "seal_since", sql: momentInSQL("since")},
	{name: "seal_until", sql: momentInSQL("until")},
	{name: "seal_noted_at", sql: momentInSQL("noted_at")},
	{name: "seal_sealed_at", sql: momentInSQL("sealed_at")},
	{name: "seal_previous", sql: "encode(al.previous, 'hex')"},
	{name: "seal_hash", sql: "encode(al.hash, 'hex')"},
}

// momentInSQL is a time with its microseconds, which digests cover; the session's time zone is UTC.
func momentInSQL(column string) string {
	return `to_char(al.` + column + `, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}

// originInSQL is models.AuditEntry.TakeOriginFromDetails for one of its fields.
func originInSQL(field string) string {
	return fmt.Sprintf(`coalesce(nullif(al.%[1]s, ''), CASE WHEN al.action IN ('LOGGED_IN', 'LOGIN_FAILED') AND al.address = ''
		AND al.user_agent = '' THEN nullif(al.details ->> '%[1]s', '') END)`, field)
}

// auditExportQuery reads the log in the order of its chain: seal by seal, and in the end what no seal covers yet. Each entry is found by
// its seal, so that nothing is held but a seal, however long the log is.
func (s *DB) auditExportQuery(f AuditFilter, columns string) string {
	entry := string(Columns[models.AuditEntry](s, "l"))
	sealed := `SELECT s.number AS seal, e.position, e.digest, cardinality(s.entries) AS sealed_entries, s.since, s.until, s.noted_at,
			s.sealed_at, s.previous, s.hash, ` + entry + `
		FROM audit_seals AS s CROSS JOIN LATERAL unnest(s.entries, s.digests) WITH ORDINALITY AS e (id, digest, position)
		JOIN audit_log AS l ON l.id = e.id AND l.created_at BETWEEN s.since AND s.until WHERE true`

	// A seal of other days holds nothing of what is asked for.
	if !f.Days.From.IsZero() {
		sealed += " AND s.until >= '" + f.Days.From.Start().UTC().Format(time.RFC3339) + "'"
	}

	if !f.Days.To.IsZero() {
		sealed += " AND s.since < '" + f.Days.To.AddDays(1).Start().UTC().Format(time.RFC3339) + "'"
	}

	var (
		unsealed = `NULL::int AS sealed_entries, NULL::timestamptz AS since, NULL::timestamptz AS until, NULL::timestamptz AS noted_at,
			NULL::timestamptz AS sealed_at, NULL::bytea AS previous, NULL::bytea AS hash, ` + entry
		noted = `SELECT NULL::bigint AS seal, NULL::bigint AS position, u.digest, ` + unsealed + `
		FROM audit_unsealed AS u JOIN audit_log AS l ON l.id = u.entry`
		past = `SELECT NULL::bigint AS seal, NULL::bigint AS position, NULL::bytea AS digest, ` + unsealed + `
		FROM audit_seal_start AS a JOIN audit_log AS l ON l.created_at <= a.until AND (l.created_at, l.id) > (a.created_at, a.id)
		WHERE l.id NOT IN (SELECT entry FROM audit_unsealed)`
	)

	return f.narrow(s.NewSelect().TableExpr("(" + sealed + " UNION ALL " + noted + " UNION ALL " + past + ") AS al").ColumnExpr(columns)).
		OrderExpr("al.seal NULLS LAST, al.position, al.created_at, al.id").String()
}

// ExportAuditCSV writes the entries that the filter selects to w as CSV with a header row, by CopyCSV. No cell can be run as a formula.
func (s *DB) ExportAuditCSV(ctx context.Context, f AuditFilter, w io.Writer) (rows int64, err error) {
	columns := make([]string, len(auditExportColumns))

	for i, c := range auditExportColumns {
		value := "(" + c.sql + ")"
		if c.free {
			value = Harmless(value + "::text")
		}

		columns[i] = value + " AS " + c.name
	}

	if rows, err = s.CopyCSV(ctx, s.auditExportQuery(f, strings.Join(columns, ", ")), w); err != nil {
		return rows, fmt.Errorf("export the audit log: %w", err)
	}

	return rows, nil
}

// ExportAuditLines is ExportAuditCSV as JSON, an object on each line; NULL is null.
func (s *DB) ExportAuditLines(ctx context.Context, f AuditFilter, w io.Writer) (rows int64, err error) {
	members := make([]string, len(auditExportColumns))
	for i, c := range auditExportColumns {
		members[i] = "'" + c.name + "', " + c.sql
	}

	query := s.auditExportQuery(f, "json_build_object("+strings.Join(members, ", ")+")::text")

	ctx, stop := context.WithCancel(ctx)
	defer stop()

	err = s.OnWire(ctx, func(conn *pgx.Conn) error {
		cursor, err := conn.Query(ctx, query, pgx.QueryExecModeSimpleProtocol) // which answers with text
		if err != nil {
			return err
		}
		defer cursor.Close()

		for cursor.Next() {
			rows++

			_, err := w.Write(cursor.RawValues()[0])
			if err == nil {
				_, err = io.WriteString(w, "\n")
			}

			if err != nil {
				stop() // the statement: Close would read the rest of it

				return err
			}
		}

		return cursor.Err()
	})
	if err != nil {
		return rows, fmt.Errorf("export the audit log: %w", err)
	}

	return rows, nil
}
