package audit

// archive is the table that tells what months had when they left their tables, and logArchivedUntil when those of the audit log end.
const (
	archive          = "archived_months"
	logArchivedUntil = "(SELECT coalesce(max(until), '-infinity') FROM archived_months WHERE table_name = 'audit_log')"
)

// archiveChecks compare what was counted of archived months with what is still there of the same facts. Rows of archived months
// cannot be looked at one by one; a state, a refund or a payout that was changed, made or taken away around the service since then
// makes the numbers differ.
func archiveChecks() []check {
	return []check{{
		rules: []Rule{
			{"archive", "Archived months follow each other from the beginning of their table, and none of their rows is in it; what was counted " +
				"of a trail adds up to its rows."},
			{"archive-log", "The archived entries of the audit log are at least as many as the refunds that people had asked for until then, " +
				"the decisions about approvals and payouts, the payouts, and the marks taken back."},
			{"archive-states", "As many transactions are in a state as entries of trails, archived or not, lead to it and do not lead on."},
		},
		needs: approvalsTable, // which came after the archive
		reach: everything,
		sql: `
WITH archived AS (SELECT table_name, max(until) AS until FROM archived_months GROUP BY table_name),
noted AS (
    SELECT s.key AS action, sum(s.value::bigint) AS n
    FROM archived_months AS m, jsonb_each_text(m.sums) AS s WHERE m.table_name = 'audit_log' GROUP BY 1),
due AS (
    SELECT 'refund' AS subject, 'REFUND_REQUESTED' AS action, f.created_at AS at FROM refunds AS f WHERE f.requested_by IS NOT NULL
    UNION ALL
    SELECT 'payout', CASE decision WHEN 'PAID_OUT' THEN 'REFUND_PAYOUT_CONFIRMED' ELSE 'REFUND_PAYOUT_REJECTED' END, decided_at
    FROM refund_payouts
    UNION ALL
    SELECT 'approval', ` + approvalAction + `, decided_at FROM refund_approvals
    UNION ALL
    SELECT 'reversal', 'FINANCIAL_RECORD_TRANSFER_REVERTED', created_at FROM payout_reversals
    UNION ALL
    SELECT 'record', 'FINANCIAL_RECORD%TRANSFERRED', r.transferred_at
    FROM financial_records AS r LEFT JOIN financial_records AS o ON o.id = r.split_from
    WHERE r.transferred_at IS NOT NULL AND (o.id IS NULL OR o.transferred_at IS NULL)),
moves AS (
    SELECT from_status, to_status, count(*) AS n FROM transaction_state_changes GROUP BY 1, 2
    UNION ALL
    SELECT nullif(split_part(s.key, '>', 1), ''), split_part(s.key, '>', 2), s.value::bigint
    FROM archived_months AS m, jsonb_each_text(m.sums) AS s WHERE m.table_name = 'transaction_state_changes'),
led AS (
    SELECT status, sum(n) AS n FROM (
        SELECT to_status AS status, n FROM moves UNION ALL SELECT from_status, -n FROM moves WHERE from_status IS NOT NULL) AS steps
    GROUP BY 1),
found AS (SELECT status, count(*) AS n FROM payment_transactions GROUP BY 1)
SELECT 'archive' AS rule, 'month', m.table_name || ' ' || m.until,
       format('begins at %s, the one before it ends at %s', coalesce(m.since::text, 'the beginning'), coalesce(m.before::text, 'none'))
FROM (SELECT *, lag(until) OVER (PARTITION BY table_name ORDER BY until) AS before FROM archived_months) AS m
WHERE m.since IS DISTINCT FROM m.before
UNION ALL
SELECT 'archive', 'month', m.table_name || ' ' || m.until, format('%s rows, and steps of %s', m.rows, s.n)
FROM archived_months AS m, LATERAL (SELECT coalesce(sum(value::bigint), 0) AS n FROM jsonb_each_text(m.sums)) AS s
WHERE m.table_name = 'transaction_state_changes' AND s.n <> m.rows
UNION ALL
SELECT 'archive', 'entry', l.id::text, format('of %s, which is archived', l.created_at)
FROM audit_log AS l WHERE l.created_at < (SELECT until FROM archived WHERE table_name = 'audit_log')
UNION ALL
SELECT 'archive', 'payment', c.transaction_id::text, format('an entry of %s in its trail, which is archived', c.changed_at)
FROM transaction_state_changes AS c
WHERE c.changed_at < (SELECT until FROM archived WHERE table_name = 'transaction_state_changes')
UNION ALL
SELECT 'archive-log', d.subject, d.action,
       format('%s until the end of the last archived month, and %s entries in the archive', d.n, d.noted)
FROM (SELECT due.subject, due.action, count(*) AS n,
             (SELECT coalesce(sum(noted.n), 0) FROM noted WHERE noted.action LIKE due.action) AS noted
      FROM due WHERE due.at < (SELECT until FROM archived WHERE table_name = 'audit_log') GROUP BY 1, 2) AS d
WHERE d.n > d.noted
UNION ALL
SELECT 'archive-states', 'state', coalesce(l.status, f.status),
       format('%s transactions; their trails lead %s to it', coalesce(f.n, 0), coalesce(l.n, 0))
FROM led AS l FULL JOIN found AS f ON f.status = l.status
WHERE EXISTS (SELECT FROM archived WHERE table_name = 'transaction_state_changes') AND coalesce(l.n, 0) <> coalesce(f.n, 0)
ORDER BY 1, 3`,
	}}
}
