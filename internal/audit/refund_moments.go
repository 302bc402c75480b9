package audit

// refundMoments: the service writes each of these facts twice in one SQL transaction, the moments as the same microsecond. Refunds from
// before migration 14 were ordered by a workflow, some time after their entry. Entries that predate migration 22 name
// neither the end nor the reason, and are not compared in it.
func refundMoments() check {
	return check{
		needs: archive,
		rules: []Rule{
			{"refund-end", "A refund ended at the moment that its transaction, its gateway's event and the audit log have, and has the id " +
				"that the gateway named then."},
			{"refund-order", "A refund was ordered at the moment, and for the reason, that the audit log has, and before it was sent."},
		},
		sql: `
WITH said AS (
    SELECT refund_id AS id, min(processed_at) FILTER (WHERE outcome = 'APPLIED') AS first,
           max(processed_at) FILTER (WHERE outcome = 'APPLIED') AS last,
           array_agg(gateway_refund_id) FILTER (WHERE gateway_refund_id <> '') AS names
    FROM webhook_events WHERE refund_id IS NOT NULL GROUP BY refund_id),
ended AS (
    SELECT entity_id AS id, details -> 'after' ->> 'completed_at' AS completed_at, details ->> 'ordered_at' AS ordered_at,
           details -> 'after' ->> 'gateway_refund_id' AS named
    FROM audit_log WHERE entity = 'refund' AND action IN ('REFUND_SUCCEEDED', 'REFUND_FAILED')),
asked AS (
    SELECT entity_id AS id, created_at, details ->> 'reason_sha256' AS reason
    FROM audit_log WHERE entity = 'refund' AND action = 'REFUND_REQUESTED')
SELECT 'refund-end', 'refund', f.id,
       format('%s at %s as %s; its transaction %s as %s, its events %s as %s, the audit log %s', f.status, f.completed_at,
              coalesce(f.gateway_refund_id, 'nothing'), a.expires_at, coalesce(a.reference, 'nothing'), s.last, s.names, d.completed_at)
FROM refunds AS f
LEFT JOIN payment_transactions AS a ON a.id = f.refund_transaction_id
LEFT JOIN said AS s ON s.id = f.id
LEFT JOIN ended AS d ON d.id = f.id
WHERE f.completed_at <> a.expires_at OR least(f.turned_manual_at, f.completed_at) <> s.first
   OR least(f.turned_manual_at, f.completed_at) <> s.last -- the gateway had its last word before finance staff
   OR d.completed_at <> to_char(f.completed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
   OR (a.reference IS NOT NULL AND a.reference IS DISTINCT FROM f.gateway_refund_id)
   OR (d.named IS NOT NULL AND d.named IS DISTINCT FROM f.gateway_refund_id)
   OR (f.gateway_refund_id IS NOT NULL AND f.gateway_refund_id <> ALL (s.names))
   OR (f.gateway_refund_id IS NULL AND f.status = 'SUCCEEDED' AND f.turned_manual_at IS NULL AND s.names IS NOT NULL)
UNION ALL
SELECT 'refund-order', 'refund', f.id,
       format('ordered at %s, sent at %s; the audit log: asked for at %s, ordered at %s, %s reason', f.created_at, f.sent_at, q.created_at,
              d.ordered_at, CASE WHEN q.reason = encode(sha256(convert_to(f.reason, 'UTF8')), 'hex') THEN 'the same' ELSE 'another' END)
FROM refunds AS f
LEFT JOIN asked AS q ON q.id = f.id
LEFT JOIN ended AS d ON d.id = f.id
WHERE f.sent_at < f.created_at
   OR (q.created_at <> f.created_at
       AND q.created_at >= (SELECT m.migrated_at + interval '1 day' FROM bun_migrations AS m WHERE m.name = '0014'))
   OR d.ordered_at <> to_char(f.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
   OR q.reason <> encode(sha256(convert_to(f.reason, 'UTF8')), 'hex')
   OR (f.requested_by IS NULL AND q.id IS NULL AND f.reason <> '' AND f.created_at >= ` + logArchivedUntil + `)
ORDER BY 1, 3`,
	}
}
