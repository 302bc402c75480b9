package audit

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// guardTampering is a change to what the database itself refuses and writes.
type guardTampering struct {
	rule, id, what string // the only difference
	sql            string
}

func guardTamperings() []guardTampering {
	return []guardTampering{
		{"append-only", "transfers_append_only", "switched off", "ALTER TABLE ledger_transfers DISABLE TRIGGER transfers_append_only"},
		{"append-only", "transfers_no_truncate", "missing", "DROP TRIGGER transfers_no_truncate ON ledger_transfers"},
		{"append-only", "transfers_append_only", "does something else", `DROP TRIGGER transfers_append_only ON ledger_transfers;
			CREATE TRIGGER transfers_append_only BEFORE DELETE ON ledger_transfers FOR EACH ROW EXECUTE FUNCTION refuse_ledger_change()`},
		{"append-only", "transfers_append_only", "does something else", `DROP TRIGGER transfers_append_only ON ledger_transfers;
			CREATE TRIGGER transfers_append_only BEFORE UPDATE OR DELETE ON ledger_transfers FOR EACH ROW WHEN (OLD.amount < 1)
			EXECUTE FUNCTION refuse_ledger_change()`},
		{"append-only", "refuse_ledger_change", "does something else", `CREATE OR REPLACE FUNCTION refuse_ledger_change() RETURNS trigger
			LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$`},
		{"append-only", "swallow", "nobody knows it", `CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
			CREATE TRIGGER swallow BEFORE INSERT ON ledger_transfers FOR EACH ROW EXECUTE FUNCTION swallow()`},
		{"append-only", "silence", "rewrites what is done to ledger_transfers", "CREATE RULE silence AS ON DELETE TO ledger_transfers DO INSTEAD NOTHING"},
		{"append-only", "events_append_only", "switched off", "ALTER TABLE webhook_events DISABLE TRIGGER events_append_only"},
		{"append-only", "refuse_event_change", "does something else", `CREATE OR REPLACE FUNCTION refuse_event_change() RETURNS trigger
			LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$`},
		{"append-only", "events_digest_set", "switched off", "ALTER TABLE webhook_events DISABLE TRIGGER events_digest_set"},
		{"triggers", "bookings_digest_kept", "missing", "DROP TRIGGER bookings_digest_kept ON bookings"},
		{"triggers", "transactions_rate_kept", "missing", "DROP TRIGGER transactions_rate_kept ON payment_transactions"},
		{"triggers", "transactions_vat_rate_kept", "missing", "DROP TRIGGER transactions_vat_rate_kept ON payment_transactions"},
		{"triggers", "transactions_paid_by_kept", "missing", "DROP TRIGGER transactions_paid_by_kept ON payment_transactions"},
		{"triggers", "guard_refund_way", "does something else", `CREATE OR REPLACE FUNCTION guard_refund_way() RETURNS trigger
			LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$`},
		{"triggers", "bookings_vat_rate_kept", "switched off", "ALTER TABLE bookings DISABLE TRIGGER bookings_vat_rate_kept"},
		{"triggers", "silence", "rewrites what is done to audit_log", "CREATE RULE silence AS ON INSERT TO audit_log DO INSTEAD NOTHING"},
		{"triggers", "transactions_moved", "switched off", "ALTER TABLE payment_transactions DISABLE TRIGGER transactions_moved"},
		{"triggers", "transactions_inserted", "switched off", "ALTER TABLE payment_transactions ENABLE REPLICA TRIGGER transactions_inserted"},
		{"triggers", "records_changed_to", "missing", "DROP TRIGGER records_changed_to ON financial_records"},
		{"triggers", "approvals_decided", "missing", "DROP TRIGGER approvals_decided ON refund_approvals"},
		{"triggers", "refunds_approval_kept", "switched off", "ALTER TABLE refunds DISABLE TRIGGER refunds_approval_kept"},
		{"triggers", "reversals_append_only", "switched off", "ALTER TABLE payout_reversals DISABLE TRIGGER reversals_append_only"},
		{"triggers", "archived_append_only", "switched off", "ALTER TABLE archived_months DISABLE TRIGGER archived_append_only"},
		{"triggers", "audit_log_append_only", "switched off", "ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only"},
		{"triggers", "audit_log_noted", "missing", "DROP TRIGGER audit_log_noted ON audit_log"},
		{"triggers", "seals_append_only", "switched off", "ALTER TABLE audit_seals DISABLE TRIGGER seals_append_only"},
		{"triggers", "seal_audit_log", "does something else", `CREATE OR REPLACE FUNCTION seal_audit_log(at_most int) RETURNS bigint
			LANGUAGE plpgsql AS $$ BEGIN RETURN 0; END $$`},
		{"triggers", "make_months", "does something else", `CREATE OR REPLACE FUNCTION make_months(ahead int) RETURNS int
			LANGUAGE plpgsql AS $$ BEGIN RETURN 0; END $$`},
		{"triggers", "records_mark_kept", "missing", "DROP TRIGGER records_mark_kept ON financial_records"},
		{"triggers", "records_text_set", "switched off", "ALTER TABLE financial_records DISABLE TRIGGER records_text_set"},
		{"triggers", "report_lines", "does something else", `CREATE OR REPLACE FUNCTION report_lines() RETURNS trigger
			LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`},
		{"triggers", "record_transaction_state", "missing", "ALTER FUNCTION record_transaction_state() RENAME TO something"},
	}
}

func TestTamperingWithGuards(t *testing.T) { //nolint:tparallel // every case locks the tables that it tampers with
	t.Parallel()

	w := newWorld(t)

	for _, c := range guardTamperings() {
		t.Run(c.rule+"/"+c.id+" "+c.what, func(t *testing.T) {
			tx, err := w.db.BeginTx(t.Context(), nil)
			require.NoError(t, err)

			defer func() { _ = tx.Rollback() }()

			_, err = tx.ExecContext(t.Context(), c.sql)
			require.NoError(t, err)

			var all []Difference

			sum, err := inspect(t.Context(), tx, paymentsInAPart, func(d Difference) error {
				all = append(all, d)

				return nil
			})
			require.NoError(t, err)
			require.Empty(t, sum.Unseen)
			require.NotEmpty(t, all)

			for _, d := range all {
				require.Equal(t, c.rule, d.Rule, "%s", d)
			}

			require.Equal(t, c.id, all[0].ID)
			require.Contains(t, all[0].What, c.what)
		})
	}
}

var update = flag.Bool("update", false, "write guards.tsv as the migrations are now; read the difference before it is committed")

// TestGuardsAreAllOfTheDatabases holds guards.tsv to what the migrations make: every trigger, every function in PL/pgSQL, and those in SQL that say
// who may decide. After a migration that changes one: go test ./internal/audit -run TestGuardsAreAll -update.
func TestGuardsAreAllOfTheDatabases(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	known := map[string]guard{}

	for _, g := range guards() {
		known[g.table+"."+g.name] = g
	}

	var latest string

	require.NoError(t, w.db.QueryRowContext(t.Context(), "SELECT max(name) FROM bun_migrations").Scan(&latest))

	rows, err := w.db.QueryContext(t.Context(), `
		SELECT c.relname, t.tgname, regexp_replace(pg_get_triggerdef(t.oid), '^CREATE TRIGGER \S+ | ON public\.', ' ON ', 'g')
		FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
		WHERE NOT t.tgisinternal AND t.tgparentid = 0 AND c.relnamespace = 'public'::regnamespace
		UNION ALL
		SELECT '', proname, md5(btrim(regexp_replace(prosrc, '\s+', ' ', 'g')))
		FROM pg_proc JOIN pg_language AS l ON l.oid = prolang
		WHERE pronamespace = 'public'::regnamespace AND (l.lanname = 'plpgsql'
			OR proname IN ('mailbox_of', 'subscriber_of', 'second_person_refused', 'is_gone', 'refund_asked_for_by'))`)
	require.NoError(t, err)

	defer rows.Close()

	var lines []string

	for rows.Next() {
		g := guard{since: latest}

		require.NoError(t, rows.Scan(&g.table, &g.name, &g.does))

		g.does = strings.TrimPrefix(g.does, " ON ")

		if before, ok := known[g.table+"."+g.name]; ok && before.plain() == g.plain() {
			g = before // as it was reviewed
		}

		lines = append(lines, strings.Join([]string{g.since, g.table, g.name, g.does}, "\t"))
	}

	require.NoError(t, rows.Err())
	slices.Sort(lines)

	now := strings.Join(lines, "\n") + "\n"
	if *update {
		require.NoError(t, os.WriteFile("guards.tsv", []byte(now), 0o644))

		return
	}

	require.Equal(t, snapshot, now, "run this test with -update, read the difference, and commit it with the migration")
}
