package audit

// transfers looks at each transfer in itself: its accounts, its purpose, and its time. Transfers of one SQL
// transaction have the same moment, to the microsecond.
func transfers() check {
	return check{
		rules: []Rule{
			{"transfer-accounts", "A transfer moves money between the accounts that its kind names, of its own payment's gateway and " +
				"provider, for its own payment's entry and refund."},
			{"transfer-cause", "A sale and a payout name their entry, a refund its refund and the entry that it closed, and none of them " +
				"anything else; money that came too late, is in suspense or was given back without an order has no entry."},
			{"transfer-moment", "A transfer is of the moment at which its entry, its refund's transaction, its payout, its incident or the " +
				"gateway's answer came; money in suspense may have come later than the first event of its incident."},
		},
		needs:   outside,
		sql:     transfersSQL,
		inParts: true,
	}
}

// The transaction of a refund has another id than its payment, so that it may be in another part; it is looked up by its key.
const transfersSQL = `
WITH x AS (
    SELECT l.id, l.kind, l.debit_account AS debit, l.credit_account AS credit, l.amount, l.record_id, l.refund_id, l.created_at,
           'gateway:' || t.gateway || foreign_part AS gateway, 'suspense:' || t.gateway || foreign_part AS suspense,
           'outside_refunds:' || t.gateway || foreign_part AS outside,
           'platform:bank' || foreign_part AS bank,
           'provider:' || t.provider_id || ':payable' AS payable,
           'provider:' || t.provider_id || ':paid_out' AS paid_out,
           t.suspense_at IS NOT NULL AS suspended,
           t.kind <> 'REFUND' AND (r.id IS NULL) = (l.record_id IS NULL) AND (r.id IS NULL OR r.payment_transaction_id = t.id)
               AND (f.id IS NULL) = (l.refund_id IS NULL) AND (f.id IS NULL OR f.payment_transaction_id = t.id) AS own,
           CASE WHEN l.kind IN ('SALE_NET', 'SALE_COMMISSION')
                THEN r.kind = 'SALE' AND r.split_from IS NULL AND l.refund_id IS NULL
                WHEN l.kind IN ('ADVERTISING', 'ADVERTISING_VAT')
                THEN r.kind = 'ADVERTISING' AND r.split_from IS NULL AND l.refund_id IS NULL
                WHEN l.kind IN ('PAYOUT', 'PAYOUT_REVERSAL')
                THEN r.id IS NOT NULL
                 AND l.refund_id IS NOT DISTINCT FROM CASE WHEN r.kind NOT IN ('SALE', 'ADVERTISING') THEN r.refund_id END
                WHEN l.kind = 'ADJUSTMENT' THEN r.kind = 'ADJUSTMENT' AND r.refund_id = l.refund_id
                WHEN l.kind IN ('LATE_CAPTURE', 'SUSPENSE_CAPTURE') THEN l.record_id IS NULL AND l.refund_id IS NULL
                WHEN l.kind IN ('OUTSIDE_REFUND', 'OUTSIDE_REFUND_RETURNED') THEN l.record_id IS NULL AND l.refund_id IS NULL
                WHEN l.kind IN ('REFUND_RETURNED', 'REFUND_REPAID') THEN l.record_id IS NULL AND l.refund_id IS NOT NULL
                WHEN l.kind = 'REFUND_PAID' AND t.status <> 'PAID' THEN l.record_id IS NULL AND l.refund_id IS NOT NULL
                ELSE l.refund_id IS NOT NULL AND r.refund_id = l.refund_id AND r.kind IN ('SALE', 'ADVERTISING') END AS caused,
           CASE WHEN l.kind = 'PAYOUT'
                THEN coalesce((SELECT v.transferred_at FROM payout_reversals AS v
                               WHERE v.record_id = r.id AND v.transferred_at = l.created_at),
                              r.transferred_at, CASE WHEN r.id IS NOT NULL THEN timestamptz 'infinity' END)
                WHEN l.kind = 'PAYOUT_REVERSAL'
                THEN coalesce((SELECT v.created_at FROM payout_reversals AS v
                               WHERE v.record_id = r.id AND v.created_at = l.created_at),
                              CASE WHEN r.id IS NOT NULL THEN timestamptz 'infinity' END)
                WHEN l.kind = 'LATE_CAPTURE'
                THEN (SELECT min(i.created_at) FROM incidents AS i WHERE i.payment_transaction_id = t.id AND i.kind = 'LATE_PAYMENT')
                WHEN l.kind = 'SUSPENSE_CAPTURE'
                THEN (SELECT min(greatest(i.created_at, CASE WHEN jsonb_array_length(i.details -> 'events') > 1 THEN l.created_at END))
                      FROM incidents AS i WHERE i.payment_transaction_id = t.id AND i.kind = t.failure_code)
                WHEN l.kind IN ('OUTSIDE_REFUND', 'OUTSIDE_REFUND_RETURNED')
                THEN coalesce((SELECT o.seen_at FROM outside_refunds AS o
                               WHERE o.payment_transaction_id = t.id AND o.seen_at = l.created_at
                                   AND abs(o.total - o.total_before) = l.amount),
                              timestamptz 'infinity')
                WHEN l.kind = 'REFUND_RETURNED' THEN coalesce(f.returned_at, timestamptz 'infinity')
                WHEN l.kind = 'REFUND_REPAID' THEN CASE WHEN f.repaid THEN l.created_at ELSE timestamptz 'infinity' END
                WHEN l.kind LIKE 'REFUND%' THEN f.at
                ELSE r.created_at END AS moment
    FROM ledger_transfers AS l
    LEFT JOIN payment_transactions AS t ON t.id = l.transaction_id
    CROSS JOIN LATERAL (SELECT CASE WHEN t.captured_currency <> 'SAR' THEN ':' || t.captured_currency ELSE '' END) AS c (foreign_part)
    LEFT JOIN financial_records AS r ON r.id = l.record_id
    LEFT JOIN (
        SELECT f.id, f.payment_transaction_id, f.returned_at,
               (SELECT a.created_at FROM public.payment_transactions AS a WHERE a.id = f.refund_transaction_id) AS at,
               EXISTS (SELECT FROM refund_payouts AS p WHERE p.refund_id = f.id AND f.returned_at IS NOT NULL) AS repaid
        FROM refunds AS f) AS f ON f.id = l.refund_id),
judged AS (
    SELECT x.*, x.own IS NOT TRUE OR x.amount <= 0 OR NOT CASE x.kind
        WHEN 'SALE_NET' THEN x.debit = x.gateway AND x.credit = x.payable
        WHEN 'SALE_COMMISSION' THEN x.debit = x.gateway AND x.credit = 'platform:commission'
        WHEN 'ADVERTISING' THEN x.debit = x.gateway AND x.credit = 'platform:advertising'
        WHEN 'ADVERTISING_VAT' THEN x.debit = x.gateway AND x.credit = 'tax:vat'
        WHEN 'REFUND_NET' THEN x.debit = x.payable AND x.credit = 'customer:refunds'
        WHEN 'REFUND_COMMISSION' THEN x.debit = 'platform:commission' AND x.credit = 'customer:refunds'
        WHEN 'REFUND_ADVERTISING' THEN x.debit = 'platform:advertising' AND x.credit = 'customer:refunds'
        WHEN 'REFUND_ADVERTISING_VAT' THEN x.debit = 'tax:vat' AND x.credit = 'customer:refunds'
        WHEN 'REFUND_PAID' THEN x.debit = CASE WHEN x.suspended THEN x.suspense ELSE 'customer:refunds' END
                                AND x.credit IN (x.gateway, x.bank)
        WHEN 'ADJUSTMENT' THEN (x.debit, x.credit) IN (('platform:goodwill', x.payable), (x.payable, 'platform:commission'))
        WHEN 'REFUND_RETURNED' THEN x.debit = x.gateway AND x.credit = 'customer:refunds'
        WHEN 'REFUND_REPAID' THEN x.debit = 'customer:refunds' AND x.credit = x.bank
        WHEN 'OUTSIDE_REFUND' THEN x.debit = x.outside AND x.credit = x.gateway
        WHEN 'OUTSIDE_REFUND_RETURNED' THEN x.debit = x.gateway AND x.credit = x.outside
        WHEN 'SUSPENSE_CAPTURE' THEN x.suspended AND x.debit = x.gateway AND x.credit = x.suspense
        WHEN 'LATE_CAPTURE' THEN x.debit = x.gateway AND x.credit = 'customer:refunds'
        WHEN 'PAYOUT' THEN (x.debit, x.credit) IN ((x.payable, x.paid_out), (x.paid_out, x.payable))
        WHEN 'PAYOUT_REVERSAL' THEN (x.debit, x.credit) IN ((x.payable, x.paid_out), (x.paid_out, x.payable))
        ELSE false END AS astray
    FROM x)
SELECT v.rule, 'transfer', j.id, v.what
FROM judged AS j CROSS JOIN LATERAL (VALUES
    ('transfer-accounts', j.astray, format('%s of %s from %s to %s', j.kind, j.amount, j.debit, j.credit)),
    ('transfer-cause', j.caused IS NOT TRUE,
     format('%s for record %s and refund %s', j.kind, coalesce(j.record_id::text, 'none'), coalesce(j.refund_id::text, 'none'))),
    ('transfer-moment', j.created_at <> j.moment, format('%s at %s, what caused it at %s', j.kind, j.created_at, j.moment))
) AS v (rule, wrong, what)
WHERE (j.astray OR j.caused IS NOT TRUE OR j.created_at <> j.moment) AND v.wrong
ORDER BY 1, 3`
