package audit

// approvalsTable came with everything that the checks of approvals read.
const approvalsTable = "refund_approvals"

// refundApprovals: a day is far longer than a decision takes to be taken up. The limit is not recomputed from settings: each refund has
// kept its own, and is held against what had gone before it. One that was ordered while there was no limit has none, and counts for
// those after it; that there was none is in the settings alone.
func refundApprovals() check {
	return check{
		needs: approvalsTable,
		rules: []Rule{
			{"refund-approval", "A refund that needs an approval was sent, paid out and SUCCEEDED only when a user had approved it in time who is " +
				"neither its requester nor has paid or booked; rejected, or not decided in time, it FAILED within a day; the audit log has " +
				"the same decision of the same person."},
			{"refund-unapproved", "Of one payment at most the limit of its time goes back by refunds that persons ordered without an " +
				"approval."},
		},
		sql: `
WITH x AS (
    SELECT f.*, t.user_id AS payer, b.user_id AS booker, d.decision, d.decided_by, d.decided_at, d.note
    FROM refunds AS f
    LEFT JOIN payment_transactions AS t ON t.id = f.payment_transaction_id
    LEFT JOIN bookings AS b ON b.id = f.booking_id
    LEFT JOIN refund_approvals AS d ON d.refund_id = f.id
    WHERE f.approval_until IS NOT NULL OR f.approval_pending OR d.refund_id IS NOT NULL OR f.failure_code LIKE 'APPROVAL%')
SELECT 'refund-approval', 'refund', x.id,
       format('%s (%s), sent %s times, asked for by %s, to be approved until %s; %s by %s at %s', x.status,
              coalesce(x.failure_code, 'no failure'), x.sends, coalesce(x.requested_by::text, 'no account'),
              coalesce(x.approval_until::text, 'no time'),
              coalesce(x.decision, 'not decided'), coalesce(x.decided_by::text, 'no account'), coalesce(x.decided_at::text, 'no time'))
FROM x
WHERE x.approval_until IS NULL
   OR (x.decision IS DISTINCT FROM 'APPROVED'
       AND (x.sends > 0 OR x.status = 'SUCCEEDED' OR (x.status = 'PENDING' AND NOT x.approval_pending)
            OR (x.status = 'FAILED' AND x.failure_code IS DISTINCT FROM 'APPROVAL_' || x.decision)
            OR EXISTS (SELECT FROM refund_payouts AS p WHERE p.refund_id = x.id)))
   OR (x.decision = 'APPROVED' AND (x.failure_code LIKE 'APPROVAL%' OR x.decided_by IS NULL
            OR x.decided_by IN (x.requested_by, x.payer, x.booker)))
   OR (x.approval_pending AND (x.status <> 'PENDING' OR coalesce(x.decided_at, x.approval_until) < now() - interval '1 day'))
   OR (x.decision = 'EXPIRED') <> (x.decided_at >= x.approval_until)
   OR (x.decided_at >= ` + logArchivedUntil + ` AND NOT EXISTS (
       SELECT FROM audit_log AS a
       WHERE a.entity = 'refund' AND a.entity_id = x.id AND a.actor_id IS NOT DISTINCT FROM x.decided_by
         AND a.action = ` + approvalAction + ` AND a.details -> 'after' ->> 'note' = x.note))
UNION ALL
SELECT 'refund-unapproved', 'payment', f.payment_transaction_id,
       format('%s without an approval, at a limit of %s', max(f.alone), min(f.approval_above))
FROM (
    SELECT payment_transaction_id, approval_above, sum(amount) OVER (PARTITION BY payment_transaction_id ORDER BY created_at, id) AS alone
    FROM refunds WHERE requested_by IS NOT NULL AND approval_until IS NULL AND status <> 'FAILED') AS f
WHERE f.alone > f.approval_above
GROUP BY f.payment_transaction_id`,
	}
}

// approvalAction is the entry of the audit log about a decision.
const approvalAction = `CASE decision WHEN 'APPROVED' THEN 'REFUND_APPROVED' WHEN 'REJECTED' THEN 'REFUND_APPROVAL_REJECTED'
    ELSE 'REFUND_APPROVAL_EXPIRED' END`

// refundsAlone: each refund has kept the limit per person of its moment, and is held against what its requester had ordered within the 24
// hours before it. What has FAILED or was paid out by another person had no part in it, or has none any more.
func refundsAlone() check {
	return check{
		needs: "refunds.alone_above",
		reach: everything,
		rules: []Rule{
			{"refund-alone", "Of one person at most the limit of its time goes back within 24 hours by refunds of any payments that they " +
				"ordered without an approval."},
		},
		sql: `
SELECT 'refund-alone', 'refund', f.id,
       format('%s ordered %s within 24 hours without an approval, at a limit of %s', f.requested_by, f.alone, f.alone_above)
FROM (
    SELECT r.id, r.requested_by, r.alone_above, sum(r.amount) OVER (
        PARTITION BY r.requested_by ORDER BY r.created_at
        RANGE BETWEEN interval '24 hours' PRECEDING AND CURRENT ROW) AS alone
    FROM refunds AS r
    WHERE r.alone_above IS NOT NULL AND r.approval_until IS NULL AND r.status <> 'FAILED'
      AND NOT EXISTS (SELECT FROM refund_payouts AS p WHERE p.refund_id = r.id AND p.decision = 'PAID_OUT')) AS f
WHERE f.alone > f.alone_above`,
	}
}
