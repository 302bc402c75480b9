package audit

import (
	"database/sql"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// seal is a snapshot of all that is there.
const seal = `
INSERT INTO balance_snapshots (until, account, balance, taken_at)
SELECT now(), account, sum(amount), now() + interval '1 hour' FROM (
    SELECT credit_account AS account, amount FROM ledger_transfers UNION ALL SELECT debit_account, -amount FROM ledger_transfers) AS sides
GROUP BY account`

// snapshotTamperings are snapshots that no transfers add up to.
func snapshotTamperings() []tampering {
	return []tampering{
		{
			"balance-snapshot", "a balance of nothing",
			"INSERT INTO balance_snapshots (until, account, balance) VALUES ('2020-01-01', 'tax:vat', 0.01)", nil, nil, nil,
		},
		{
			"balance-snapshot", "an account that is missing", "INSERT INTO balance_snapshots (until, account, balance) VALUES (now() - interval '1 ms', '', 0)",
			nil, nil, nil,
		},
	}
}

// requireSameSince requires that an audit of all that has happened since long ago breaks the same rules, but for those it does not look at.
func requireSameSince(t *testing.T, tx *sql.Tx, rules map[string]bool) {
	t.Helper()

	want := map[string]bool{}
	named, left := brokenSince(t, tx, time.Unix(0, 0))

	for rule := range rules {
		if !slices.Contains(left, rule) {
			want[rule] = true
		}
	}

	delete(named, "balance-snapshot") // there is none, or one that was tampered with
	require.Equal(t, want, named, "since long ago")
}

func brokenSince(t *testing.T, tx *sql.Tx, since time.Time) (named map[string]bool, left []string) {
	t.Helper()

	named = map[string]bool{}
	sum, err := inspectSince(t.Context(), tx, since, func(d Difference) error {
		named[d.Rule] = true

		return nil
	})
	require.NoError(t, err)
	require.Empty(t, sum.Unseen)

	for _, r := range sum.Left {
		left = append(left, r.Name)
	}

	return named, left
}

// TestAuditSinceASnapshot: what has happened since then is looked at with all that belongs to it; the rest by its sums.
func TestAuditSinceASnapshot(t *testing.T) { //nolint:tparallel // every case locks the tables that it tampers with
	t.Parallel()

	w := newUnguardedWorld(t)

	_, err := RunSince(t.Context(), w.db, func(Difference) error { return nil })
	require.ErrorIs(t, err, ErrNoSnapshot)

	until, accounts, err := Seal(t.Context(), w.db)
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().Add(-time.Hour), until, time.Minute)
	require.Zero(t, accounts, "what is younger than an hour is left to the next one")

	sum, err := RunSince(t.Context(), w.db, func(d Difference) error {
		t.Errorf("%s", d)

		return nil
	})
	require.NoError(t, err)
	require.Empty(t, sum.Unseen)
	require.True(t, sum.Since.Equal(until))
	require.Positive(t, sum.Payments)
	require.Equal(t, len(Rules())+1, len(sum.Left)+len(sum.Rules), "each rule is looked at or left; that of snapshots in part")

	split := " WHERE id = '" + w.split.ID.String() + "'"
	const touch = ", updated_at = now() + interval '1 second'"

	for _, c := range []struct {
		name, sql string
		rules     []string
	}{
		{"nothing", "SELECT", nil},
		{
			"a sum of reports",
			"UPDATE report_days_folded SET transferred_amount = transferred_amount + 1 WHERE provider_id <> '" + uuid.Nil.String() + "'",
			[]string{"balance-snapshot"},
		},
		{"a balance of the snapshot", `UPDATE balance_snapshots SET balance = balance + 1 WHERE account LIKE 'provider:%:payable'`, []string{"balance-snapshot"}},
		{
			"a transfer that no report knows", `INSERT INTO ledger_transfers (id, transaction_id, kind, debit_account, credit_account, amount, created_at)
			SELECT gen_random_uuid(), transaction_id, kind, debit_account, credit_account, amount, now() FROM ledger_transfers
			WHERE credit_account LIKE 'provider:%:payable' AND kind = 'SALE_NET' LIMIT 1`,
			[]string{"balance-payable", "balance-snapshot", "captured-transfers", "transfer-cause"},
		},
		{
			"an entry of the log about an older ledger entry",
			`INSERT INTO audit_log (id, actor_id, actor_role, action, entity, entity_id, details)
			SELECT gen_random_uuid(), '` + w.finance.UserID.String() + `', 'FINANCE_ADMIN', 'FINANCIAL_RECORD_TRANSFERRED', 'financial_record', id,
			'{"after": {"payout_reference": "X"}}' FROM financial_records WHERE balance_status = 'TRANSFERRED' LIMIT 1`,
			[]string{"log-sealed", "record-payout"},
		},
		{"an older payment", "UPDATE payment_transactions SET vat_amount = 1" + split, nil},
		{"a payment that something has happened to", "UPDATE payment_transactions SET vat_amount = 1" + touch + split, []string{"record-vat", "transaction-vat"}},
		{
			"a payment of whose booking something has happened", "UPDATE payment_transactions SET vat_amount = 1" + split +
				"; UPDATE bookings SET updated_at = now() + interval '1 second' WHERE id = '" + w.split.BookingID.String() + "'",
			[]string{"record-vat", "transaction-vat"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			tx := w.sealed(t)

			_, err := tx.ExecContext(t.Context(), c.sql)
			require.NoError(t, err)

			require.Equal(t, c.rules, w.brokenLately(t, tx))
		})
	}
}

// A snapshot replaces those that were taken before it, also when it is of an earlier moment.
func TestTheSnapshotThatWasTakenLastCounts(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	_, err := w.db.ExecContext(t.Context(), `INSERT INTO balance_snapshots (until, account, balance, taken_at) VALUES
		(now() - interval '1 minute', 'tax:vat', 1, now() - interval '30 seconds'), (now() - interval '1 hour', '', 0, now())`)
	require.NoError(t, err)

	sum, err := Run(t.Context(), w.db, func(d Difference) error {
		t.Errorf("%s", d)

		return nil
	})
	require.NoError(t, err)
	require.True(t, sum.AgreesButForTheSnapshot())
}

// TestAuditOfEachPaymentAlone: what belongs to a payment is looked at with it, whenever it has happened: no rule misses anything.
func TestAuditOfEachPaymentAlone(t *testing.T) {
	t.Parallel()

	w := newUnguardedWorld(t)

	var all string
	require.NoError(t, w.db.QueryRowContext(t.Context(), "SELECT string_agg(id::text, ' ') FROM payment_transactions").Scan(&all))

	ids := strings.Fields(all)
	require.Greater(t, len(ids), 15)

	for _, id := range ids {
		tx := w.sealed(t)

		_, err := tx.ExecContext(t.Context(), "UPDATE payment_transactions SET updated_at = now() + interval '1 second' WHERE id = $1", id)
		require.NoError(t, err)
		require.Empty(t, w.brokenLately(t, tx), id)
		require.NoError(t, tx.Rollback())
	}
}

// sealed begins a transaction in which a snapshot has all that is there, and nothing refuses a tampering.
func (w *world) sealed(t *testing.T) *sql.Tx {
	t.Helper()

	tx, err := w.silent.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback() })

	_, err = tx.ExecContext(t.Context(), seal)
	require.NoError(t, err)

	return tx
}

// brokenLately are the rules that an audit finds broken which looks at what has happened since the transaction began.
func (w *world) brokenLately(t *testing.T, tx *sql.Tx) []string {
	t.Helper()

	var now time.Time
	require.NoError(t, tx.QueryRowContext(t.Context(), "SELECT now()").Scan(&now))

	named, _ := brokenSince(t, tx, now.Add(deadlines))

	return slices.Sorted(maps.Keys(named))
}
