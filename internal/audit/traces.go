package audit

// traceChecks look for what every deed must leave behind: the note of who did it, and the word to the customer.
func traceChecks() []check {
	return []check{auditLog(), notifications()}
}

// auditLog takes an audit entry about several ledger entries for each one whose id it lists. Details are free text to the database: ids
// in them are compared as such.
func auditLog() check {
	return check{
		rules: []Rule{
			{"audit-actor", "An entry of the audit log about a refund that was asked for or approved, or about a payout, names a user of the " +
				"service."},
			{"audit-log", "Every refund that a person asked for, every payout of a ledger entry and every mark that was taken back is in the " +
				"audit log; those of archived months were counted."},
		},
		needs: archive,
		sql: `
SELECT 'audit-actor', 'entry', a.id, format('%s by %s (%s)', a.action, coalesce(a.actor_id::text, 'no one'), coalesce(u.role, 'unknown'))
FROM audit_log AS a LEFT JOIN users AS u ON u.id = a.actor_id
WHERE (a.action = 'REFUND_REQUESTED' OR a.action LIKE 'REFUND_PAYOUT%' OR a.action IN ('REFUND_APPROVED', 'REFUND_APPROVAL_REJECTED')
       OR a.action LIKE 'FINANCIAL_RECORD%TRANSFERRED'
       OR a.action = 'FINANCIAL_RECORD_TRANSFER_REVERTED') AND u.id IS NULL
UNION ALL
SELECT 'audit-log', 'refund', f.id, format('asked for by %s, without an entry', f.requested_by)
FROM refunds AS f
WHERE f.requested_by IS NOT NULL AND f.created_at >= ` + logArchivedUntil + ` AND NOT EXISTS (
    SELECT FROM audit_log AS a WHERE a.entity = 'refund' AND a.entity_id = f.id AND a.action = 'REFUND_REQUESTED')
UNION ALL
SELECT 'audit-log', 'record', v.record_id, format('mark taken back at %s, without an entry of who did', v.created_at)
FROM payout_reversals AS v
WHERE v.created_at >= ` + logArchivedUntil + ` AND NOT EXISTS (
    SELECT FROM audit_log AS a WHERE a.entity = 'financial_record' AND a.entity_id = v.record_id AND a.actor_id = v.reverted_by
        AND a.action = 'FINANCIAL_RECORD_TRANSFER_REVERTED' AND a.created_at = v.created_at)
UNION ALL
SELECT 'audit-log', 'record', r.id, format('transferred at %s, without an entry', r.transferred_at)
FROM financial_records AS r
LEFT JOIN financial_records AS o ON o.id = r.split_from
WHERE r.transferred_at >= ` + logArchivedUntil + ` AND (o.id IS NULL OR o.transferred_at IS NULL) AND NOT EXISTS (SELECT FROM (
    SELECT a.entity_id::text AS id FROM audit_log AS a
    WHERE a.entity = 'financial_record' AND a.entity_id IS NOT NULL AND a.action = 'FINANCIAL_RECORD_TRANSFERRED'
    UNION ALL
    SELECT lower(d) FROM audit_log AS a, jsonb_array_elements_text(
        CASE WHEN jsonb_typeof(a.details -> 'ids') = 'array' THEN a.details -> 'ids' ELSE '[]' END) AS d
    WHERE a.action LIKE 'FINANCIAL_RECORD%TRANSFERRED') AS noted WHERE noted.id = r.id::text)`,
	}
}

func notifications() check {
	return check{
		rules: []Rule{{"notification", "Each paid or refunded booking has its message on every channel on which its customer can be " +
			"reached."}},
		sql: `
WITH told AS (
    SELECT transaction_id AS id, bool_or(channel = 'EMAIL') AS mail, bool_or(channel = 'SMS') AS sms
    FROM notifications WHERE kind IN ('PAYMENT_SUCCEEDED', 'CAMPAIGN_PAID', 'REFUND_SUCCEEDED') GROUP BY transaction_id)
SELECT 'notification', 'payment', t.id, format('%s, told by %s', t.status,
       CASE WHEN n.mail THEN 'mail only' WHEN n.sms THEN 'SMS only' ELSE 'nothing' END)
FROM payment_transactions AS t
LEFT JOIN bookings AS b ON b.id = t.booking_id
LEFT JOIN told AS n ON n.id = t.id
WHERE (t.status = 'PAID' OR (t.kind = 'REFUND' AND t.booking_id IS NOT NULL))
  AND CASE WHEN t.booking_id IS NOT NULL
      THEN (b.contact_email <> '' AND n.mail IS NOT TRUE) OR (b.contact_phone <> '' AND n.sms IS NOT TRUE)
      ELSE n.id IS NULL END`,
	}
}
