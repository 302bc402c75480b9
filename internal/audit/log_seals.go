package audit

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// logSeals is the table of the seals over the audit log. PostgreSQL makes them (migration 0040); here they are computed once more, from
// what docs/decisions/0067 says of them.
const logSeals = "audit_seals"

// noSeal is what the first seal has in place of the hash of one before it.
var noSeal = strings.Repeat("0", 2*sha256.Size)

// logChecks look at the seals of the audit log, and at what they cover. Of an audit since a snapshot it is what was sealed since then.
func logChecks() []check {
	return []check{
		{
			rules: []Rule{{"log-chain", "Seals of the audit log are numbered without gaps, and the hash of each is that of what it covers " +
				"and of the seal before."}},
			needs: logSeals, reach: besides, look: lookAtChain,
		},
		{
			rules: []Rule{{"log-entries", "Each entry of the audit log is there, and is what it was when it was written, except in archived " +
				"months."}},
			needs: logSeals, reach: besides, look: lookAtEntries,
		},
		{
			rules: []Rule{{"log-sealed", "Every entry of the audit log is under a seal, or has waited for one for a few minutes at most."}},
			needs: logSeals, reach: besides, look: querySince(unsealedSQL),
		},
		{
			rules: []Rule{{"log-dates", "An entry of the audit log has the time at which it was written."}},
			needs: logSeals, reach: besides, look: querySince(datesSQL),
		},
		{
			rules: []Rule{{"log-archive", "The seals over an archived month of the audit log cover as many entries as it had."}},
			needs: logSeals, reach: everything, sql: logArchiveSQL,
		},
	}
}

const (
	// Entries that wait: for a seal since it was noted, or, from before there were seals, since sealing could begin.
	unsealedSQL = `
WITH sealed AS (SELECT unnest(entries) AS id FROM audit_seals WHERE sealed_at >= $1),
waiting AS (SELECT entry AS id, noted_at FROM audit_unsealed),
start AS (SELECT * FROM audit_seal_start)
SELECT 'log-sealed', 'entry', l.id::text, format('of %s is under no seal, and was not noted for one', l.created_at)
FROM audit_log AS l
WHERE l.created_at >= $1 AND NOT EXISTS (SELECT FROM sealed AS s WHERE s.id = l.id)
    AND NOT EXISTS (SELECT FROM waiting AS w WHERE w.id = l.id)
    AND NOT EXISTS (SELECT FROM start AS s WHERE l.created_at <= s.until AND (l.created_at, l.id) > (s.created_at, s.id))
UNION ALL
SELECT 'log-sealed', 'entry', (array_agg(id::text ORDER BY noted_at))[1],
    format('%s entries have waited for a seal, the first since %s', count(*), min(noted_at))
FROM waiting WHERE noted_at < now() - interval '5 minutes' AND NOT EXISTS (SELECT FROM start) HAVING count(*) > 0
UNION ALL
SELECT 'log-sealed', 'log', 'start', format('entries from before there were seals have waited since %s', begun_at)
FROM start WHERE begun_at < now() - interval '1 day'
ORDER BY 3`

	// An entry is noted while it is written, at the time of its SQL transaction, which lasts no hour. Of those that were there before is
	// nothing known.
	datesSQL = `
WITH noted AS (
    SELECT unnest(entries) AS id, noted_at, sealed_at FROM audit_seals
    WHERE sealed_at >= $1 AND (since < noted_at - interval '1 hour' OR noted_at IS NOT NULL AND until > sealed_at + interval '1 hour')
    UNION ALL
    SELECT entry, noted_at, now() FROM audit_unsealed
    WHERE created_at NOT BETWEEN noted_at - interval '1 hour' AND now() + interval '1 hour')
SELECT 'log-dates', 'entry', l.id::text, format('says %s, and was written between %s and %s', l.created_at, n.noted_at, n.sealed_at)
FROM noted AS n JOIN audit_log AS l ON l.id = n.id
WHERE l.created_at < n.noted_at - interval '1 hour' OR l.created_at > n.sealed_at + interval '1 hour'
ORDER BY 3`

	// A month that left before there were seals has none.
	logArchiveSQL = `
WITH first AS (SELECT min(sealed_at) AS at FROM audit_seals)
SELECT 'log-archive', 'month', m.table_name || ' ' || m.until, format('%s entries, and seals over %s', m.rows, s.n)
FROM archived_months AS m, LATERAL (
    SELECT coalesce(sum(cardinality(entries)), 0) AS n FROM audit_seals AS a
    WHERE a.until < m.until AND a.since >= coalesce(m.since, '-infinity')) AS s
WHERE m.table_name = 'audit_log' AND s.n <> m.rows AND m.archived_at >= (SELECT at FROM first)
ORDER BY 3`
)

// querySince looks by a query whose $1 is the moment from which it looks.
func querySince(query string) func(context.Context, *sql.Tx, time.Time, func(Difference) error) error {
	return func(ctx context.Context, tx *sql.Tx, since time.Time, found func(Difference) error) error {
		rows, err := tx.QueryContext(ctx, query, sinceArg(since))
		if err != nil {
			return err
		}

		return eachDifference(rows, found)
	}
}

// sinceArg is a moment for PostgreSQL; the zero one is before all.
func sinceArg(since time.Time) string {
	if since.IsZero() {
		return "-infinity"
	}

	return since.UTC().Format(time.RFC3339Nano)
}

// The seal before the first that is looked at is read for its hash.
const chainSQL = `
SELECT number, encode(previous, 'hex'), encode(hash, 'hex'), sealed_at < $1,
    (extract(epoch FROM since) * 1000000)::bigint, (extract(epoch FROM until) * 1000000)::bigint,
    (extract(epoch FROM noted_at) * 1000000)::bigint, (extract(epoch FROM sealed_at) * 1000000)::bigint,
    array_to_string(entries, ' '), (SELECT string_agg(encode(d, 'hex'), ' ' ORDER BY n) FROM unnest(digests) WITH ORDINALITY AS u (d, n))
FROM audit_seals
WHERE sealed_at >= $1 OR number = (SELECT max(number) FROM audit_seals WHERE sealed_at < $1)
ORDER BY number`

// logSeal is a seal as it is stored; times are microseconds since 1970.
type logSeal struct {
	number         int64
	previous, hash string
	old            bool // older than what is looked at
	since, until   int64
	notedAt        sql.NullInt64
	sealedAt       int64
	entries        string
	digests        string
}

// computed is the hash that the seal must have.
func (s logSeal) computed() string {
	entries, digests := strings.Fields(s.entries), strings.Fields(s.digests)
	noted := sql.NullString{String: strconv.FormatInt(s.notedAt.Int64, 10), Valid: s.notedAt.Valid}

	sum := sha256.New()
	fmt.Fprint(sum, "rihla audit seal 1\n")

	for _, field := range []sql.NullString{
		text(strconv.FormatInt(s.number, 10)), text(s.previous), text(strconv.FormatInt(s.since, 10)), text(strconv.FormatInt(s.until, 10)),
		noted, text(strconv.FormatInt(s.sealedAt, 10)), text(strconv.Itoa(len(entries))),
	} {
		fmt.Fprint(sum, encoded(field))
	}

	for i, id := range entries {
		if i < len(digests) { // one too few shows in the hash
			fmt.Fprintf(sum, "%s %s\n", id, digests[i])
		}
	}

	return hex.EncodeToString(sum.Sum(nil))
}

func text(s string) sql.NullString { return sql.NullString{String: s, Valid: true} }

// encoded is a field: its length in bytes, a colon and its text, or a minus for NULL, on a line of its own.
func encoded(field sql.NullString) string {
	if !field.Valid {
		return "-\n"
	}

	return strconv.Itoa(len(field.String)) + ":" + field.String + "\n"
}

func lookAtChain(ctx context.Context, tx *sql.Tx, since time.Time, found func(Difference) error) error {
	rows, err := tx.QueryContext(ctx, chainSQL, sinceArg(since))
	if err != nil {
		return err
	}
	defer rows.Close()

	last := logSeal{hash: noSeal}

	for rows.Next() {
		var s logSeal

		err := rows.Scan(&s.number, &s.previous, &s.hash, &s.old, &s.since, &s.until, &s.notedAt, &s.sealedAt, &s.entries, &s.digests)
		if err != nil {
			return err
		}

		for _, what := range s.broken(last) {
			if err := found(Difference{"log-chain", "seal", strconv.FormatInt(s.number, 10), what}); err != nil {
				return err
			}
		}

		last = s
	}

	return rows.Err()
}

// broken says what is wrong with a seal that follows on another one.
func (s logSeal) broken(last logSeal) (what []string) {
	if hash := s.computed(); hash != s.hash {
		what = append(what, fmt.Sprintf("its hash is %s, that of what it covers is %s", s.hash, hash))
	}

	if s.old { // it is there for the one after it
		return what
	}

	switch {
	case s.number != last.number+1:
		what = append(what, fmt.Sprintf("follows on seal %d: others are missing", last.number))
	case s.previous != last.hash:
		what = append(what, fmt.Sprintf("follows on the hash %s, and the seal before has %s", s.previous, last.hash))
	}

	return what
}

// Entries are found by their id alone: one whose time was changed is not a missing one. What waits for its seal has its digest already.
const entriesSQL = `
WITH under AS (
    SELECT s.number, s.until, e.id, e.digest FROM audit_seals AS s CROSS JOIN LATERAL unnest(s.entries, s.digests) AS e (id, digest)
    WHERE s.sealed_at >= $1
    UNION ALL
    SELECT NULL, created_at, entry, digest FROM audit_unsealed)
SELECT coalesce('seal ' || u.number, 'no seal yet'), encode(u.digest, 'hex'), u.id::text, l.id IS NOT NULL,
    u.until < ` + logArchivedUntil + `, (extract(epoch FROM l.created_at) * 1000000)::bigint::text, l.actor_id::text, l.actor_role,
    l.operator,
    l.action, l.entity, l.entity_id::text, l.address, l.user_agent, l.request_id, l.details::text
FROM under AS u LEFT JOIN audit_log AS l ON l.id = u.id`

// entryFields are those that a digest covers besides the id.
const entryFields = 11

func lookAtEntries(ctx context.Context, tx *sql.Tx, since time.Time, found func(Difference) error) error {
	rows, err := tx.QueryContext(ctx, entriesSQL, sinceArg(since))
	if err != nil {
		return err
	}
	defer rows.Close()

	for rows.Next() {
		var (
			under, sealed, id string
			there, archived   bool
			fields            [entryFields]sql.NullString
		)

		into := []any{&under, &sealed, &id, &there, &archived}
		for i := range fields {
			into = append(into, &fields[i])
		}

		if err := rows.Scan(into...); err != nil {
			return err
		}

		var what string

		switch {
		case !there && !archived:
			what = "is missing"
		case there && entryDigest(id, fields[:]) != sealed:
			what = "is not what it was when it was written"
		default:
			continue
		}

		if err := found(Difference{"log-entries", "entry", id, what + " (" + under + ")"}); err != nil {
			return err
		}
	}

	return rows.Err()
}

func entryDigest(id string, fields []sql.NullString) string {
	var b strings.Builder

	b.WriteString("rihla audit entry 1\n" + encoded(text(id)))

	for _, f := range fields {
		b.WriteString(encoded(f))
	}

	sum := sha256.Sum256([]byte(b.String()))

	return hex.EncodeToString(sum[:])
}

// LogSeal names a seal of the audit log.
type LogSeal struct {
	Number int64
	Hash   string // hexadecimal
}

// String is NUMBER:HASH.
func (s LogSeal) String() string { return fmt.Sprintf("%d:%s", s.Number, s.Hash) }

// ParseLogSeal reads what String writes.
func ParseLogSeal(s string) (LogSeal, error) {
	number, hash, _ := strings.Cut(strings.TrimSpace(s), ":")

	n, err := strconv.ParseInt(number, 10, 64)
	if raw, bad := hex.DecodeString(hash); err != nil || n < 1 || bad != nil || len(raw) != sha256.Size {
		return LogSeal{}, fmt.Errorf("a seal is NUMBER:HASH with 64 hexadecimal digits, not %q", s)
	}

	return LogSeal{n, strings.ToLower(hash)}, nil
}

// HasLogSeal reports whether the chain has a seal that was noted elsewhere. With a chain that agrees nothing that it and the seals before
// cover was changed since then, not even by the owner of the tables, who can make another chain.
func HasLogSeal(ctx context.Context, db *sql.DB, s LogSeal) (has bool, err error) {
	err = db.QueryRowContext(ctx, "SELECT EXISTS (SELECT FROM audit_seals WHERE number = $1 AND encode(hash, 'hex') = $2)", s.Number, s.Hash).
		Scan(&has)

	return has, err
}

// newestLogSeal is the zero value where there is none, or no table of them yet.
func newestLogSeal(ctx context.Context, tx *sql.Tx) (s LogSeal, err error) {
	var there bool
	if err = tx.QueryRowContext(ctx, "SELECT to_regclass($1) IS NOT NULL", logSeals).Scan(&there); err != nil || !there {
		return s, err
	}

	err = tx.QueryRowContext(ctx, "SELECT number, encode(hash, 'hex') FROM audit_seals ORDER BY number DESC LIMIT 1").Scan(&s.Number, &s.Hash)
	if errors.Is(err, sql.ErrNoRows) {
		return s, nil
	}

	return s, err
}
