package invariants

// outsideTotal is the SQL of what the gateway has given back of the payment t without an order, by its last word.
const outsideTotal = `SELECT coalesce((SELECT total FROM outside_refunds WHERE payment_transaction_id = t.id
	ORDER BY n DESC LIMIT 1), 0) AS total`

var aboutRefunds = []Invariant{
	{
		"refund-cap", "no payment is refunded beyond what was taken, here or at the gateway",
		rows(`SELECT format('checkout %s: %s paid, %s given back', id, amount, refunded_amount) FROM `+gatewayCheckouts+`
			WHERE refunded_amount > coalesce(claimed_amount, amount)
			UNION ALL SELECT format('payment %s: %s taken, %s given back, %s reserved', id, amount, refunded_amount, refund_reserved_amount)
			FROM payment_transactions WHERE refunded_amount + refund_reserved_amount > coalesce(captured_amount, amount)`, checkouts),
	},
	{
		"refund-agrees", "every refund has the same amount and outcome here and at the gateway",
		rows(`SELECT format('refund %s: here %s %s, at the gateway %s %s', coalesce(r.id, g.merchant_reference),
				r.status, r.amount, g.status, g.amount)
			FROM `+gatewayRefundsAs+` FULL JOIN refunds AS r ON r.id = g.merchant_reference
			WHERE CASE
				WHEN r.id IS NULL THEN true
				WHEN r.channel = 'MANUAL' THEN g.id IS NOT NULL AND (r.turned_manual_at IS NULL OR g.status <> 'failed')
				WHEN g.id IS NULL THEN r.status <> 'FAILED' -- refused before there was one
				WHEN r.returned_at IS NOT NULL THEN g.status <> 'failed' OR g.amount <> r.amount -- it had succeeded, and came back
				ELSE upper(g.status) <> r.status OR g.amount <> r.amount END`, gatewayRefunds),
	},
	{
		"refused-by-gateway", "a refund or attempt recorded as refused was refused by the gateway: a missing answer is no refusal",
		rows(`SELECT format('refund %s of %s is FAILED (%s), and the gateway has not refused it', r.id, r.amount, r.failure_code)
			FROM refunds AS r LEFT JOIN `+gatewayRefundsAs+` ON g.merchant_reference = r.id
			JOIN payment_transactions AS t ON t.id = r.payment_transaction_id
			WHERE r.status = 'FAILED' AND r.channel = 'GATEWAY' AND r.failure_code NOT LIKE 'APPROVAL%'
				AND (r.sends > 0 OR t.outside_refunded_amount = 0) -- else it did not fit, and was never sent
				AND g.id IS NULL AND NOT $2::jsonb ?| ARRAY[r.id::text, t.reference]
			UNION ALL SELECT format('attempt %s is GATEWAY_REJECTED, and the gateway has not refused it', id)
			FROM payment_transactions WHERE failure_code = 'GATEWAY_REJECTED' AND NOT $2::jsonb ? id::text`, gatewayRefunds, refusedByGateway),
	},
	{
		"refund-once", "the gateway has at most one refund for each refund here",
		rows(`SELECT format('refund %s was made %s times', merchant_reference, count(*)) FROM `+gatewayRefundsAs+`
			GROUP BY merchant_reference HAVING count(*) > 1`, gatewayRefunds),
	},
	{
		"refund-adds-up", "the refunded amount of a payment equals the sum of its refunds, and the gateway's",
		rows(`SELECT format('payment %s says %s went back, its refunds %s, its refund transactions %s, the gateway %s, %s of it outside',
				t.id, t.refunded_amount, r.amount, rt.amount, g.refunded_amount, o.total)
			FROM payment_transactions AS t
			CROSS JOIN LATERAL (SELECT coalesce(sum(amount), 0) AS amount,
					coalesce(sum(amount) FILTER (WHERE channel = 'GATEWAY' AND returned_at IS NULL), 0) AS by_gateway
				FROM refunds WHERE payment_transaction_id = t.id AND status = 'SUCCEEDED') AS r
			CROSS JOIN LATERAL (SELECT coalesce(sum(amount), 0) AS amount FROM payment_transactions
				WHERE kind = 'REFUND' AND parent_id = t.id) AS rt
			CROSS JOIN LATERAL (`+outsideTotal+`) AS o
			LEFT JOIN `+gatewayCheckouts+` ON g.merchant_reference = t.id
			WHERE t.kind = 'PAYMENT' AND (t.refunded_amount <> r.amount OR t.refunded_amount <> rt.amount
				OR r.by_gateway + o.total <> coalesce(g.refunded_amount, 0))`, checkouts),
	},
	{
		"outside-refund-known",
		"refunds made in the gateway's dashboard are recorded to the halala, count as far as they fit, and have an incident",
		rows(`SELECT format('%s of checkout %s went back in the dashboard; payment %s says %s, and counts %s of it', d.amount, d.checkout_id,
				t.id, o.total, t.outside_refunded_amount)
			FROM (SELECT checkout_id, sum(amount) AS amount FROM jsonb_to_recordset($1::jsonb)
				AS g(checkout_id text, amount numeric) GROUP BY 1) AS d
			FULL JOIN (SELECT * FROM payment_transactions AS t WHERE kind = 'PAYMENT'
				AND EXISTS (SELECT FROM outside_refunds WHERE payment_transaction_id = t.id)) AS t ON t.reference = d.checkout_id
			LEFT JOIN LATERAL (`+outsideTotal+`) AS o ON true
			WHERE t.id IS NULL OR o.total IS DISTINCT FROM d.amount
				OR t.outside_refunded_amount <> least(o.total, t.amount - t.refunded_amount - t.refund_reserved_amount)
				OR NOT EXISTS (SELECT FROM incidents AS i WHERE i.payment_transaction_id = t.id AND i.kind = 'OUTSIDE_REFUND')`, outsideRefunds),
	},
	{
		"cancelled-is-decided", "cancellation requests are decided and their workflows ended; what was approved is cancelled and refunded",
		rows(`SELECT format('request %s of booking %s is %s, its workflow ended at %s; passengers %s of %s, refund %s', c.id, c.booking_id,
				c.status, c.closed_at, n.positions, c.positions, f.status)
			FROM cancellation_requests AS c LEFT JOIN cancellations AS n ON n.id = c.cancellation_id LEFT JOIN refunds AS f ON f.id = n.refund_id
			WHERE c.status = 'REQUESTED' OR c.closed_at IS NULL
				OR c.status = 'APPROVED' AND (n.positions IS DISTINCT FROM c.positions OR n.status = 'PENDING' OR f.status = 'PENDING')`),
	},
	{
		"paid-by-hand", "manual payouts ended as finance staff decided, and refunds that came back were paid out",
		rows(`SELECT format('manual payout %s is %s, %s %s', r.id, r.status, p.decision, p.payout_reference)
			FROM refunds AS r LEFT JOIN refund_payouts AS p ON p.refund_id = r.id
			WHERE r.channel = 'MANUAL' AND coalesce(r.failure_code, '') NOT LIKE 'APPROVAL%' AND r.status IS DISTINCT FROM
				CASE p.decision WHEN 'PAID_OUT' THEN 'SUCCEEDED' WHEN 'REJECTED' THEN 'FAILED' END
				OR r.channel <> 'MANUAL' AND p.decision IS DISTINCT FROM CASE WHEN r.returned_at IS NOT NULL THEN 'PAID_OUT' END`),
	},
	{
		"two-people", "one person alone refunds no more of a payment than the limit, and nothing unapproved went back",
		rows(`SELECT format('%s of payment %s went back on one person''s word', sum(r.amount), r.payment_transaction_id)
			FROM refunds AS r
			WHERE r.requested_by IS NOT NULL AND r.status <> 'FAILED' AND NOT EXISTS (SELECT FROM refund_approvals AS d
				WHERE d.refund_id = coalesce(r.instead_of, r.id) AND d.decision = 'APPROVED' AND d.decided_by <> r.requested_by)
				AND NOT (r.instead_of IS NOT NULL AND EXISTS (SELECT FROM refund_payouts AS p
					WHERE p.refund_id = r.id AND p.decided_by <> r.requested_by)) -- the payer is the second person
			GROUP BY r.payment_transaction_id HAVING sum(r.amount) > $2::numeric
			UNION ALL SELECT format('refund %s was not approved (%s), is %s, and %s at the gateway', r.id, d.decision, r.status,
				coalesce(g.status, 'not there'))
			FROM refund_approvals AS d JOIN refunds AS r ON r.id = d.refund_id LEFT JOIN `+gatewayRefundsAs+` ON g.merchant_reference = r.id
			WHERE d.decision <> 'APPROVED' AND (r.status <> 'FAILED' OR g.id IS NOT NULL
				OR EXISTS (SELECT FROM refund_payouts AS p WHERE p.refund_id = r.id))`, gatewayRefunds, approvalLimit),
	},
	{
		"late-money-goes-back", "a late payment has an incident, and a full refund unless the gateway refused it",
		rows(`SELECT format('payment %s came too late: %s of %s went back', t.id, t.refunded_amount, t.amount)
			FROM payment_transactions AS t WHERE t.kind <> 'REFUND' AND t.status = 'FAILED' AND t.captured_at IS NOT NULL
				AND (NOT EXISTS (SELECT FROM incidents AS i WHERE i.payment_transaction_id = t.id AND i.kind = 'LATE_PAYMENT')
				OR t.refunded_amount <> t.amount AND NOT EXISTS (SELECT FROM incidents AS i
					WHERE i.payment_transaction_id = t.id AND i.kind = 'REFUND_FAILED'))`),
	},
	{
		"paid-twice-goes-back", "a second payment of a checkout is recorded once and refunded from the payment that took it",
		rows(`SELECT format('second payment %s of %s for %s, %s of it went back; here %s of %s for %s, %s by the gateway', d.id, d.amount,
				d.reference, d.refunded_amount, t.id, t.amount, t.parent_id, r.amount)
			FROM (SELECT s.*, g.merchant_reference AS reference FROM `+gatewayCheckouts+`
				CROSS JOIN LATERAL jsonb_to_recordset(coalesce(nullif(g.second_debits, 'null'), '[]'))
					AS s(id text, amount numeric, refunded_amount numeric)) AS d
			FULL JOIN (SELECT id, parent_id, amount, replace(gateway_payment_id, '-', '') AS debit FROM payment_transactions
				WHERE kind = 'SECOND_DEBIT') AS t ON t.debit = d.id
			CROSS JOIN LATERAL (SELECT coalesce(sum(amount), 0) AS amount FROM refunds WHERE payment_transaction_id = t.id
				AND status = 'SUCCEEDED' AND channel = 'GATEWAY' AND returned_at IS NULL) AS r
			WHERE (t.parent_id, t.amount, r.amount) IS DISTINCT FROM (d.reference, d.amount, d.refunded_amount)`, checkouts),
	},
}
