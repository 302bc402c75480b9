package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// snapshots is the table of what accounts held at moments that full audits have proven (rules: audit.seal).
const snapshots = "balance_snapshots"

// sealedUntil is the moment of the snapshot that was taken last. One that replaces another may be of an earlier moment.
const sealedUntil = "(SELECT until FROM balance_snapshots ORDER BY taken_at DESC, until DESC LIMIT 1)"

// settled is how old a transfer is before a snapshot counts on it: no SQL transaction of the service lasts that long, so that none which
// has begun before can still add to what was sealed.
const settled = time.Hour

// ErrNoSnapshot says that no full audit has left a snapshot yet.
var ErrNoSnapshot = errors.New("no full audit has left a snapshot of the balances yet")

// snapshotRule is looked at in two halves: the first by Run, that about reports by RunSince.
func snapshotRule() Rule {
	return Rule{"balance-snapshot", "What each account held at the last snapshot is what the transfers until then add up to; with " +
		"those since then, it is what reports say that companies are owed and were paid."}
}

// AgreesButForTheSnapshot says whether Run has looked at every rule, and none but that about the last snapshot is broken: all transfers
// were looked at then, and another snapshot may replace it.
func (s Summary) AgreesButForTheSnapshot() bool {
	for _, r := range s.Rules {
		if r.Differences > 0 && r.Name != snapshotRule().Name {
			return false
		}
	}

	return len(s.Unseen) == 0
}

func snapshotChecks() []check {
	return []check{{
		rules: []Rule{snapshotRule()},
		needs: snapshots,
		reach: everything,
		sql: `
WITH kept AS (SELECT account, balance FROM balance_snapshots WHERE until = ` + sealedUntil + `),
moved AS (
    SELECT name AS account, sum(amount) AS balance FROM (
        SELECT credit_account AS name, sum(amount) AS amount FROM ledger_transfers WHERE created_at < ` + sealedUntil + ` GROUP BY 1
        UNION ALL
        SELECT debit_account, -sum(amount) FROM ledger_transfers WHERE created_at < ` + sealedUntil + ` GROUP BY 1) AS sides
    GROUP BY name)
SELECT 'balance-snapshot', 'account', coalesce(k.account, m.account),
       format('%s at the snapshot, the transfers until then say %s', coalesce(k.balance, 0), coalesce(m.balance, 0))
FROM kept AS k FULL JOIN moved AS m ON m.account = k.account
WHERE coalesce(k.balance, 0) <> coalesce(m.balance, 0)
ORDER BY 3`,
	}}
}

// sinceSnapshot holds the sums that reports are read from against the last snapshot and the transfers since then. It reads no entry and no
// older transfer: what was done to the sums shows, and what was done to transfers that were sealed is for the full audit to find.
func sinceSnapshot() check {
	return check{
		rules: []Rule{snapshotRule()},
		needs: snapshots,
		reach: besides,
		sql: `
WITH sides AS (
    SELECT account, balance FROM balance_snapshots WHERE until = ` + sealedUntil + `
    UNION ALL
    SELECT credit_account, amount FROM ledger_transfers WHERE created_at >= ` + sealedUntil + `
    UNION ALL
    SELECT debit_account, -amount FROM ledger_transfers WHERE created_at >= ` + sealedUntil + `),
held AS (SELECT account, sum(balance) AS balance FROM sides WHERE account LIKE 'provider:%' GROUP BY account),
said AS (
    SELECT 'provider:' || d.provider_id || ':' || v.place AS account, sum(v.amount) AS balance
    FROM report_days AS d CROSS JOIN LATERAL (VALUES
        ('payable', d.in_current_balance_amount), ('paid_out', d.transferred_amount)) AS v (place, amount)
    WHERE d.provider_id <> '00000000-0000-0000-0000-000000000000' GROUP BY 1)
SELECT 'balance-snapshot', 'account', coalesce(h.account, s.account),
       format('the reports say %s, the snapshot and the transfers since then %s', coalesce(s.balance, 0), coalesce(h.balance, 0))
FROM held AS h FULL JOIN said AS s ON s.account = h.account
WHERE coalesce(h.balance, 0) <> coalesce(s.balance, 0)
ORDER BY 3`,
	}
}

// MaySeal says whether the database's role can keep balances: the owner of the tables can.
func MaySeal(ctx context.Context, db *sql.DB) (may bool, err error) {
	err = db.QueryRowContext(ctx, "SELECT coalesce(has_table_privilege(to_regclass($1), 'INSERT'), false)", snapshots).Scan(&may)

	return may, err
}

// Seal notes what each account holds, so that RunSince begins there. It is for the owner of the tables, after a full audit that has found
// nothing. Transfers of the last hour, and of the time since the oldest open transaction began, are left to the next one.
func Seal(ctx context.Context, db *sql.DB) (until time.Time, accounts int64, err error) {
	const sql = `
WITH moment AS MATERIALIZED (
    SELECT least(now() - $1 * interval '1 second', min(xact_start)) AS until -- NULL where the owner may not see another role's
    FROM pg_stat_activity WHERE datname = current_database()),
sides AS (
    SELECT credit_account AS account, amount FROM ledger_transfers WHERE created_at < (SELECT until FROM moment)
    UNION ALL
    SELECT debit_account, -amount FROM ledger_transfers WHERE created_at < (SELECT until FROM moment)),
sealed AS (
    INSERT INTO balance_snapshots (until, account, balance)
    SELECT (SELECT until FROM moment), account, sum(amount) FROM sides GROUP BY account
    UNION ALL
    SELECT until, '', 0 FROM moment -- there is a row although there may be no transfer
    RETURNING account)
SELECT (SELECT until FROM moment), (SELECT count(*) - 1 FROM sealed)`

	if err = db.QueryRowContext(ctx, sql, settled.Seconds()).Scan(&until, &accounts); err != nil {
		return until, 0, fmt.Errorf("keep the balances: %w", err)
	}

	return until, accounts, nil
}
