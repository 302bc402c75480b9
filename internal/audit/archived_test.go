package audit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
)

// archiveTamperings are notes of months that were never archived.
func archiveTamperings() []tampering {
	const note = "INSERT INTO archived_months (table_name, since, until, rows, sums, sha256, file) SELECT "

	return []tampering{
		{
			"archive", "a month that follows on none",
			note + `'audit_log', '1999-11-01', '1999-12-01', 0, '{}', repeat('0', 64), ''`, nil, nil, nil,
		},
		{
			"archive", "a month with more rows than steps",
			note + `'transaction_state_changes', NULL, '1999-12-01', 1, '{}', repeat('0', 64), ''`, nil, nil, nil,
		},
		{
			"archive-log", "a month that had nothing",
			note + `'audit_log', NULL, now() + interval '1 hour', 0, '{}', repeat('0', 64), ''`, nil, nil,
			[]string{"archive", "log-archive"},
		},
		{
			"archive-states", "a month with a state too many",
			note + `'transaction_state_changes', NULL, '1999-12-01', 1, '{">PAID": 1}', repeat('0', 64), ''`, nil, nil, nil,
		},
	}
}

// What is archived is no difference, and what is tampered with behind it is one.
func TestAuditOfArchivedMonths(t *testing.T) { //nolint:tparallel // every case locks the tables that it tampers with
	t.Parallel()

	w := newWorld(t)
	now := time.Now().UTC()
	over := time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC)

	archived, err := w.s.DB.Archive(t.Context(), db.ArchiveOptions{Dir: t.TempDir(), Before: over, Now: over.AddDate(0, 0, 1)})
	require.NoError(t, err)
	require.Len(t, archived, 2, "the past of both tables")
	require.Positive(t, archived[0].Rows)
	require.Positive(t, archived[1].Rows)

	var left int
	require.NoError(t, w.db.QueryRowContext(t.Context(),
		"SELECT (SELECT count(*) FROM audit_log) + (SELECT count(*) FROM transaction_state_changes)").Scan(&left))
	require.Zero(t, left)

	kept := w.kept.ID.String()

	for _, c := range []struct{ name, sql, rule string }{
		{"nothing", "SELECT", ""},
		{
			"a state", `ALTER TABLE payment_transactions DISABLE TRIGGER transactions_moved;
				UPDATE payment_transactions SET status = 'FAILED', failure_code = 'DECLINED' WHERE id = '` + kept + `'`, "archive-states",
		},
		{
			"a step that was not", `INSERT INTO transaction_state_changes (transaction_id, from_status, to_status)
				VALUES ('` + kept + `', 'PENDING', 'FAILED')`, "state-log",
		},
		{
			"an older entry", `INSERT INTO transaction_state_changes (transaction_id, from_status, to_status, changed_at)
				VALUES ('` + kept + `', 'PENDING', 'PAID', now())`, "archive",
		},
		{"an entry of the log", "INSERT INTO audit_log (id, action, entity) VALUES (gen_random_uuid(), 'HOTEL_CREATED', 'hotel')", "archive"},
		{
			"a payout that nobody noted", `UPDATE financial_records SET balance_status = 'TRANSFERRED', transferred_at = now(),
				payout_reference = 'TRF-1', payout_date = current_date WHERE balance_status = 'IN_CURRENT_BALANCE'`, "archive-log",
		},
		{
			"a refund without a requester", `ALTER TABLE refunds DISABLE TRIGGER refunds_approval_kept;
				UPDATE refunds SET requested_by = (SELECT id FROM users LIMIT 1) WHERE requested_by IS NULL`, "archive-log",
		},
		{
			"a note that is gone", `ALTER TABLE archived_months DISABLE TRIGGER USER; DELETE FROM archived_months;
				ALTER TABLE archived_months ENABLE TRIGGER USER`, "state-log",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			tx, err := w.db.BeginTx(t.Context(), nil)
			require.NoError(t, err)

			defer func() { _ = tx.Rollback() }()

			_, err = tx.ExecContext(t.Context(), c.sql)
			require.NoError(t, err)

			named := map[string]bool{}
			sum, err := inspect(t.Context(), tx, paymentsInAPart, func(d Difference) error {
				named[d.Rule] = true

				return nil
			})
			require.NoError(t, err)
			require.Empty(t, sum.Unseen)
			require.Equal(t, c.rule != "", named[c.rule], "%v", named)

			if c.rule == "" {
				require.Empty(t, named)
			}
		})
	}
}
