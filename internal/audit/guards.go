package audit

import (
	_ "embed" // of the guards
	"fmt"
	"regexp"
	"strings"
)

// guardChecks look at what the database itself has to refuse and to write. A trigger of the right name that does something
// else guards nothing: guards.tsv has the text of each of them, and changes with a migration that changes it.
func guardChecks() []check {
	return []check{{
		rules: []Rule{
			{"append-only", "The database refuses to change, delete or truncate transfers and what gateways said, and does nothing else " +
				"to them."},
			{"triggers", "The triggers that keep sums, texts, trails and rates, hold refunds to their way, and announce money, are there, " +
				"switched on, and do what they were made for."},
		},
		reach: besides,
		sql:   guardsSQL(),
	}}
}

// transfersTable is the table of which nothing may ever change; events is that of which nothing may change that was received. Entries of
// logTable do not change, either.
const (
	transfersTable = "ledger_transfers"
	events         = "webhook_events"
	logTable       = "audit_log"
)

// guard is a trigger, or a function that triggers or people run.
type guard struct {
	since string // the migration that made it; a database may still wait for that
	table string // empty for a function
	name  string
	does  string // what follows the trigger's name; of a function the MD5 of its body, spaces and line ends being one space each
}

// snapshot is the text of all of them, by migration. The test of guards writes it anew with -update, and a review reads the difference.
//
//go:embed guards.tsv
var snapshot string

// guards are all of them, by migration.
func guards() []guard {
	var all []guard

	for line := range strings.Lines(snapshot) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		all = append(all, guard{since: f[0], table: f[1], name: f[2], does: f[3]})
	}

	return all
}

// spelling is what PostgreSQL writes in its own way when it is asked for a definition.
var spelling = regexp.MustCompile(`[\s()"]|public\.|::text`)

// plain is the definition without spelling; the query does the same to the database's.
func (g guard) plain() string {
	if g.table == "" {
		return g.does
	}

	return spelling.ReplaceAllString(strings.ToLower("CREATE TRIGGER "+g.name+" "+g.does), "")
}

func guardsSQL() string {
	all := guards()
	rows := make([]string, len(all))

	for i, g := range all {
		rows[i] = fmt.Sprintf("('%s', '%s', '%s', $guard$%s$guard$)", g.since, g.table, g.name, g.plain())
	}

	return fmt.Sprintf(guardsQuery, strings.Join(rows, ",\n"), transfersTable, events)
}

// guardsQuery expects what the migrations that have been applied make; those of a newer binary may still be to come.
const guardsQuery = `
WITH made (since, place, name, definition) AS (VALUES %[1]s),
expected AS (
    SELECT m.*, CASE WHEN m.place IN ('%[2]s', '%[3]s') OR m.name IN ('refuse_ledger_change', 'refuse_event_change')
        THEN 'append-only' ELSE 'triggers' END AS rule
    FROM made AS m WHERE m.since <= (SELECT max(name) FROM bun_migrations)),
there AS (
    SELECT c.relname AS place, t.tgname AS name, t.tgenabled IN ('O', 'A') AS enabled,
           regexp_replace(lower(pg_get_triggerdef(t.oid)), '[\s()"]|public\.|::text', '', 'g') AS definition
    FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
    WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace),
functions AS (
    SELECT proname AS name, md5(btrim(regexp_replace(prosrc, '\s+', ' ', 'g'))) AS definition
    FROM pg_proc WHERE pronamespace = 'public'::regnamespace),
differences AS (
    SELECT e.rule, 'trigger' AS subject, e.name,
           CASE WHEN t.name IS NULL THEN 'missing' WHEN NOT t.enabled THEN 'switched off'
                ELSE 'does something else: ' || t.definition END AS what
    FROM expected AS e LEFT JOIN there AS t ON t.place = e.place AND t.name = e.name
    WHERE e.place <> '' AND (t.name IS NULL OR NOT t.enabled OR t.definition <> e.definition)
    UNION ALL
    SELECT e.rule, 'function', e.name, coalesce('does something else: ' || f.definition, 'missing')
    FROM expected AS e LEFT JOIN functions AS f ON f.name = e.name
    WHERE e.place = '' AND f.definition IS DISTINCT FROM e.definition
    UNION ALL
    SELECT 'append-only', 'trigger', t.name, 'nobody knows it: ' || t.definition
    FROM there AS t
    WHERE t.place IN ('%[2]s', '%[3]s') AND NOT EXISTS (SELECT FROM made AS m WHERE m.place = t.place AND m.name = t.name)
    UNION ALL
    SELECT CASE WHEN c.relname IN ('%[2]s', '%[3]s') THEN 'append-only' ELSE 'triggers' END, 'rule', w.rulename,
           'rewrites what is done to ' || c.relname
    FROM pg_rewrite AS w JOIN pg_class AS c ON c.oid = w.ev_class
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p'))
SELECT rule, subject, name, what FROM differences ORDER BY rule, name`
