package db

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"rihla/models"
)

// archiveLock is the advisory lock that lets one process archive at a time.
const archiveLock = 7_281_946_002

// settlingTime is how long after its end a month may still get rows of transactions that were begun in it.
const settlingTime = 24 * time.Hour

// archivable are the tables whose months are archived, and what is counted of each: so many facts of a kind, which the audit compares
// with what the other tables say.
var archivable = map[string]string{
	"transaction_state_changes": `SELECT coalesce(from_status, '') || '>' || to_status AS fact, count(*) AS n FROM %s GROUP BY 1`,
	"audit_log": `SELECT action AS fact, sum(CASE WHEN entity_id IS NULL AND jsonb_typeof(details -> 'ids') = 'array'
		THEN jsonb_array_length(details -> 'ids') ELSE 1 END) AS n FROM %s GROUP BY 1`,
}

// ArchiveOptions say what is archived, and where to.
type ArchiveOptions struct {
	Dir    string    // where the files are written; it is there
	Before time.Time // the months that end by then
	Now    time.Time
	// Retention is how long a month is at least kept in the database after its end.
	Retention time.Duration
	Keep      bool // the rows stay in the database, as a table of their own
	// Written is called with each month when its file has been read back, before its rows leave the table. Its error ends the archiving.
	Written func(ArchivedMonth) error
}

// ArchivedMonth is a row of archived_months, and the manifest beside a file.
type ArchivedMonth struct {
	Table   string           `json:"table"`
	Since   *time.Time       `json:"since"` // nil: the beginning of the table
	Until   time.Time        `json:"until"`
	Rows    int64            `json:"rows"`
	Sums    map[string]int64 `json:"sums"`
	File    string           `json:"file"`
	SHA256  string           `json:"sha256"` // of the content before it was compressed
	Columns []string         `json:"columns"`

	partition, period string
}

// Archive writes the rows of months that are over to compressed files, reads these back, and takes the months out of their tables. The
// oldest come first; each is one transaction, so that one which was ended at any moment has changed nothing, and is archived from its
// beginning by the next call. Error: VALIDATION_ERROR when not all of the months are over, or old enough, or when the store's role
// does not own the tables.
func (s *DB) Archive(ctx context.Context, o ArchiveOptions) ([]ArchivedMonth, error) {
	if limit := o.Now.UTC().Add(-settlingTime - o.Retention); o.Before.After(limit) {
		return nil, models.NewError(models.CodeValidation, "operator.months_not_archived", "date", limit)
	}

	owns, err := s.OwnsLedger(ctx)
	if err != nil {
		return nil, err
	}

	if !owns {
		return nil, models.NewError(models.CodeValidation, "operator.archive_role")
	}

	if _, err := s.SealAudit(ctx); err != nil {
		return nil, err
	}

	conn, err := pgx.ConnectConfig(ctx, s.Config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))

	if _, err := conn.Exec(ctx, fmt.Sprintf(`SET timezone = 'UTC'; SET datestyle = 'ISO'; SET statement_timeout = 0;
		SET idle_in_transaction_session_timeout = 0; SELECT pg_advisory_lock(%d)`, archiveLock)); err != nil {
		return nil, fmt.Errorf("prepare archiving: %w", err)
	}

	months, err := monthsToArchive(ctx, conn, o.Before)
	if err != nil {
		return nil, err
	}

	for i := range months {
		if err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return months[i].archive(ctx, tx, o) }); err != nil {
			return months[:i], fmt.Errorf("archive %s: %w", months[i].partition, err)
		}
	}

	return months, nil
}

func monthsToArchive(ctx context.Context, conn *pgx.Conn, before time.Time) (months []ArchivedMonth, err error) {
	for table := range archivable {
		rows, err := conn.Query(ctx, `
			SELECT name, since, until, period FROM (
				SELECT c.relname AS name, a.attname AS period,
					(regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \(''([^'']+)''\)'))[1]::timestamptz AS since,
					(regexp_match(pg_get_expr(c.relpartbound, c.oid), 'TO \(''([^'']+)''\)'))[1]::timestamptz AS until
				FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid JOIN pg_partitioned_table AS p ON p.partrelid = i.inhparent
				JOIN pg_attribute AS a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
				WHERE i.inhparent = $1::regclass) AS m
			WHERE until <= $2 ORDER BY until`, table, before)
		if err != nil {
			return nil, fmt.Errorf("list months of %s: %w", table, err)
		}

		for rows.Next() {
			m := ArchivedMonth{Table: table, Sums: map[string]int64{}}
			if err := rows.Scan(&m.partition, &m.Since, &m.Until, &m.period); err != nil {
				return nil, errors.Join(err, rows.Err())
			}

			months = append(months, m)
		}

		if err := rows.Err(); err != nil {
			return nil, fmt.Errorf("list months of %s: %w", table, err)
		}
	}

	return months, nil
}

// requireSealed refuses a month of the audit log of which an entry is under no seal yet: its seals prove the file.
func (m *ArchivedMonth) requireSealed(ctx context.Context, tx pgx.Tx) error {
	if m.Table != "audit_log" {
		return nil
	}

	var waits bool

	err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM audit_unsealed WHERE created_at >= coalesce($1::timestamptz, '-infinity') AND created_at < $2)
		OR EXISTS (SELECT FROM audit_seal_start WHERE created_at < $2)`, m.Since, m.Until).Scan(&waits)
	if err != nil {
		return fmt.Errorf("look for entries without a seal: %w", err)
	}

	if waits {
		return models.NewError(models.CodeServiceUnavailable, "operator.seal_pending")
	}

	return nil
}

// archive has the month written and read back while nothing can be added to it, and then takes it out. Only the last step has others
// wait, and is given up soon when it would have to wait itself.
func (m *ArchivedMonth) archive(ctx context.Context, tx pgx.Tx, o ArchiveOptions) error {
	partition, table := pgx.Identifier{m.partition}.Sanitize(), pgx.Identifier{m.Table}.Sanitize()

	if _, err := tx.Exec(ctx, "SET LOCAL lock_timeout = '3s'; LOCK TABLE "+partition+" IN SHARE MODE"); err != nil {
		return err
	}

	if err := m.requireSealed(ctx, tx); err != nil {
		return err
	}

	var sums []byte

	err := tx.QueryRow(ctx, "SELECT coalesce(jsonb_object_agg(fact, n), '{}') FROM ("+fmt.Sprintf(archivable[m.Table], partition)+
		") AS facts").Scan(&sums)
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}

	if err := json.Unmarshal(sums, &m.Sums); err != nil {
		return fmt.Errorf("count: %w", err)
	}

	query := fmt.Sprintf("COPY (SELECT * FROM %s ORDER BY %s, id) TO STDOUT (FORMAT csv, HEADER)", partition, m.period)
	if err := m.write(ctx, tx.Conn().PgConn(), o.Dir, query); err != nil {
		return err
	}

	if o.Written != nil {
		if err := o.Written(*m); err != nil {
			return err
		}
	}

	if _, err := tx.Exec(ctx, `INSERT INTO archived_months (table_name, since, until, rows, sums, sha256, file)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`, m.Table, m.Since, m.Until, m.Rows, string(sums), m.SHA256, m.File); err != nil {
		return fmt.Errorf("note what was archived: %w", err)
	}

	remove := []string{"ALTER TABLE " + table + " DETACH PARTITION " + partition}
	if !o.Keep {
		remove = append(remove, "DROP TABLE "+partition)
	}

	if _, err := tx.Exec(ctx, strings.Join(remove, "; ")); err != nil {
		return fmt.Errorf("take out: %w", err)
	}

	return nil
}
