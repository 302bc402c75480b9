package audit

// outside came with what gateways gave back without an order.
const outside = "outside_refunds"

// outsideRefunds holds what gateways gave back without an order against the transfers, and against what counts of it.
func outsideRefunds() check {
	return check{
		needs: outside,
		rules: []Rule{
			{"outside-refund", "What a gateway gave back of a payment without an order is what its account outside_refunds holds for the " +
				"payment, by an unbroken trail of its words, and has an incident."},
			{"outside-refund-held", "So much of it counts against what is left of the payment as fits beside what was given back and reserved."},
		},
		sql: `
WITH said AS (
    SELECT o.payment_transaction_id AS id, count(*) AS n, max(o.n) AS last, (array_agg(o.total ORDER BY o.n DESC))[1] AS total,
           sum(o.total - o.total_before) AS steps
    FROM outside_refunds AS o JOIN payment_transactions AS t ON t.id = o.payment_transaction_id GROUP BY 1),
moved AS (
    SELECT transaction_id AS id, count(*) FILTER (WHERE kind LIKE 'OUTSIDE%') AS n,
           sum(CASE WHEN debit_account LIKE 'outside_refunds:%' THEN amount WHEN credit_account LIKE 'outside_refunds:%' THEN -amount
               ELSE 0 END) AS held
    FROM ledger_transfers GROUP BY 1),
x AS (
    SELECT t.id, t.outside_refunded_amount AS counted, coalesce(s.total, 0) AS total, coalesce(m.held, 0) AS held,
           s.id IS NOT NULL AS heard, coalesce(s.n, 0) = coalesce(m.n, 0) AND coalesce(s.n = s.last AND s.steps = s.total, true) AS whole,
           CASE WHEN t.suspense_at IS NOT NULL THEN t.captured_amount WHEN t.captured_at IS NOT NULL THEN t.amount ELSE 0 END
               - t.refunded_amount - t.refund_reserved_amount AS room
    FROM payment_transactions AS t LEFT JOIN said AS s ON s.id = t.id LEFT JOIN moved AS m ON m.id = t.id
    WHERE t.kind <> 'REFUND')
SELECT 'outside-refund', 'payment', x.id, format('the gateway gave back %s without an order, the transfers say %s', x.total, x.held)
FROM x
WHERE x.total <> x.held OR NOT x.whole OR (x.heard AND NOT EXISTS (
    SELECT FROM incidents AS i WHERE i.payment_transaction_id = x.id AND i.kind = 'OUTSIDE_REFUND'))
UNION ALL
SELECT 'outside-refund-held', 'payment', x.id, format('%s of %s counts, there is room for %s', x.counted, x.total, x.room)
FROM x WHERE x.counted <> least(x.total, x.room)
ORDER BY 1, 3`,
	}
}
