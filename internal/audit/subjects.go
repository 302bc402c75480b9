package audit

// subjectChecks compare rows that name each other: the payer, the subject, the recipient, and the payout of an entry.
func subjectChecks() []check {
	return []check{paymentSubject(), refundParent(), refundSubject(), recordPayout()}
}

// paymentSubject: admins may pay for others, and of companies only their own staff.
func paymentSubject() check {
	return check{
		rules: []Rule{{"payment-subject", "A payment is of its booking's customer, or of its campaign's company at the campaign's price, " +
			"unless an admin made it, and goes to the gateway of its method."}},
		sql: `
SELECT 'payment-subject', 'payment', t.id,
       format('%s by user %s (%s) at %s with %s; booking %s of user %s; campaign %s of provider %s for %s', t.amount, t.user_id,
              coalesce(u.role, 'unknown'), t.gateway, t.payment_method, coalesce(b.id::text, 'none'), coalesce(b.user_id::text, 'none'),
              coalesce(c.id::text, 'none'), coalesce(c.provider_id::text, 'none'), coalesce(c.price, 0))
FROM payment_transactions AS t
LEFT JOIN users AS u ON u.id = t.user_id
LEFT JOIN bookings AS b ON b.id = t.booking_id
LEFT JOIN ad_campaigns AS c ON c.id = t.ad_campaign_id
WHERE t.kind <> 'REFUND'
  AND (u.id IS NULL
       OR (b.id IS NULL AND c.id IS NULL)
       OR t.gateway <> CASE t.payment_method WHEN 'wallet_b' THEN 'wallet_b' ELSE 'gateway_a' END
       OR (b.id IS NOT NULL AND t.user_id <> b.user_id AND u.role IN ('END_USER', 'PROVIDER_STAFF', 'PROVIDER_ADMIN'))
       OR (c.id IS NOT NULL AND (u.provider_id <> c.provider_id OR t.provider_id <> c.provider_id
                                 OR (t.status = 'PAID' AND t.amount - t.vat_amount <> c.price))))`,
	}
}

// refundParent: a transaction that a worker of an earlier version has written does not say what its payment was paid by.
func refundParent() check {
	return check{
		rules: []Rule{{"refund-parent", "A refund's transaction is of the same booking or campaign, company, customer, gateway, channel, " +
			"method chosen and paid by, VAT rate and currency as the payment whose money it gives back."}},
		needs: paidBy,
		sql: `
SELECT 'refund-parent', 'payment', a.id,
       format('booking %s, campaign %s, provider %s, user %s, %s with %s, VAT at %s, %s; not as payment %s',
              coalesce(a.booking_id::text, 'none'), coalesce(a.ad_campaign_id::text, 'none'), a.provider_id, a.user_id, a.gateway,
              a.payment_method, a.vat_rate, a.currency, coalesce(a.parent_id::text, 'none'))
FROM payment_transactions AS a
LEFT JOIN payment_transactions AS t ON t.id = a.parent_id AND t.kind <> 'REFUND'
WHERE a.kind = 'REFUND'
  AND (a.booking_id, a.ad_campaign_id, a.provider_id, a.user_id, a.gateway, a.channel, a.payment_method,
       coalesce(a.paid_by, t.paid_by), a.vat_rate, a.currency, a.attempt)
      IS DISTINCT FROM
      (t.booking_id, t.ad_campaign_id, t.provider_id, t.user_id, t.gateway, t.channel, t.payment_method, t.paid_by, t.vat_rate,
       coalesce(t.captured_currency, t.currency), t.attempt)`,
	}
}

// refundSubject: the entry that names the requester is written with the refund, and no refund has a requester without it.
func refundSubject() check {
	return check{
		rules: []Rule{{"refund-subject", "A refund names a payment, and that payment's booking or campaign, and the same requester as the " +
			"audit log does; one that is paid out instead of another has the requester of that one."}},
		needs: "refunds.instead_of",
		sql: `
WITH asked AS (SELECT entity_id AS id, actor_id FROM audit_log WHERE entity = 'refund' AND action = 'REFUND_REQUESTED')
SELECT 'refund-subject', 'refund', f.id,
       format('%s of payment %s (%s), booking %s, campaign %s, asked for by %s (%s)', f.amount, f.payment_transaction_id,
              coalesce(t.kind, 'unknown'), coalesce(f.booking_id::text, 'none'), coalesce(f.ad_campaign_id::text, 'none'),
              coalesce(f.requested_by::text, 'no account'), coalesce(u.role, 'unknown'))
FROM refunds AS f
LEFT JOIN payment_transactions AS t ON t.id = f.payment_transaction_id AND t.kind <> 'REFUND'
LEFT JOIN users AS u ON u.id = f.requested_by
LEFT JOIN asked AS a ON a.id = coalesce(f.instead_of, f.id)
WHERE t.id IS NULL OR f.currency <> coalesce(t.captured_currency, t.currency)
   OR f.booking_id IS DISTINCT FROM t.booking_id OR f.ad_campaign_id IS DISTINCT FROM t.ad_campaign_id
   OR (u.id IS NULL) <> (f.requested_by IS NULL)
   OR (a.id IS NOT NULL AND a.actor_id IS DISTINCT FROM f.requested_by)`,
	}
}

// recordPayout: the entry of the audit log is written in the SQL transaction of the payout, and has what it set. Of earlier marks
// the migration 0017, and of versions that ran on beside it, not every one names a person.
func recordPayout() check {
	return check{
		rules: []Rule{{"record-payout", "The payout of a ledger entry has the reference, the day, the moment and the person that the audit log " +
			"has; a ledger entry that was not paid out has none. A mark that was taken back has those of the audit log, too, and its " +
			"reason."}},
		needs: "payout_reversals",
		sql: `
SELECT 'record-payout', 'record', r.id,
       format('paid out as %s on %s at %s by %s; the audit log: %s', coalesce(r.payout_reference, 'none'),
              coalesce(r.payout_date::text, 'no day'), coalesce(r.transferred_at::text, 'no time'),
              coalesce(r.transferred_by::text, 'no account'),
              coalesce(format('%s on %s at %s by %s', coalesce(a.details -> 'after' ->> 'payout_reference', 'none'),
                              coalesce(a.details -> 'after' ->> 'payout_date', 'no day'), a.created_at,
                              coalesce(a.actor_id::text, 'no account')), 'nothing'))
FROM financial_records AS r
LEFT JOIN audit_log AS a ON a.entity = 'financial_record' AND a.entity_id = r.id AND a.action = 'FINANCIAL_RECORD_TRANSFERRED'
    AND jsonb_typeof(a.details -> 'after') = 'object'
    AND NOT EXISTS (SELECT FROM payout_reversals AS v WHERE v.record_id = r.id AND v.transferred_at = a.created_at)
WHERE (r.transferred_at IS NULL AND num_nonnulls(r.payout_reference, r.payout_date, r.transferred_by) > 0)
   OR (a.id IS NOT NULL
       AND ((r.payout_reference, r.payout_date::text) IS DISTINCT FROM
            (a.details -> 'after' ->> 'payout_reference', a.details -> 'after' ->> 'payout_date')
            OR r.transferred_at IS DISTINCT FROM a.created_at
            OR (r.transferred_by IS DISTINCT FROM a.actor_id AND (r.transferred_by IS NOT NULL OR a.created_at >=
                (SELECT m.migrated_at + interval '1 day' FROM bun_migrations AS m WHERE m.name = '0017')))))
UNION ALL
SELECT 'record-payout', 'record', v.record_id,
       format('taken back: %s on %s by %s; the audit log: %s', coalesce(v.payout_reference, 'none'),
              coalesce(v.payout_date::text, 'no day'),
              coalesce(v.transferred_by::text, 'no account'), a.details -> 'after')
FROM payout_reversals AS v
JOIN audit_log AS a ON a.entity = 'financial_record' AND a.entity_id = v.record_id AND a.action = 'FINANCIAL_RECORD_TRANSFERRED'
    AND a.created_at = v.transferred_at
WHERE (v.payout_reference, v.payout_date::text, v.transferred_by) IS DISTINCT FROM
      (a.details -> 'after' ->> 'payout_reference', a.details -> 'after' ->> 'payout_date', a.actor_id)
UNION ALL
SELECT 'record-payout', 'record', v.record_id,
       format('mark taken back at %s because of "%s"; the audit log: %s', v.created_at, v.reason, a.details ->> 'reason')
FROM payout_reversals AS v
JOIN audit_log AS a ON a.entity = 'financial_record' AND a.entity_id = v.record_id AND a.action = 'FINANCIAL_RECORD_TRANSFER_REVERTED'
    AND a.created_at = v.created_at
WHERE a.details ->> 'reason' IS DISTINCT FROM v.reason`,
	}
}
