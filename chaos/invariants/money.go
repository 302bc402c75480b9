package invariants

// The gateway's checkouts and refunds as tables.
const (
	gatewayCheckouts = `jsonb_to_recordset($1::jsonb)
		AS g(id text, merchant_reference uuid, status text, amount numeric, claimed_amount numeric,
			refunded_amount numeric, paid_at timestamptz, second_debits jsonb)`
	gatewayRefundsAs = `jsonb_to_recordset($1::jsonb) AS g(id text, checkout_id text, merchant_reference uuid, amount numeric, status text)`
)

var aboutMoney = []Invariant{
	{
		"webhook-kept", "every webhook answered with 200 is stored once and was processed",
		rows(`SELECT format('webhook %s of %s: %s times stored, %s of them processed', t.id, t.channel, count(e.id), count(e.processed_at))
			FROM jsonb_to_recordset($1::jsonb) AS t(channel text, id text)
			LEFT JOIN webhook_events AS e ON e.channel = t.channel AND e.webhook_id = t.id
			GROUP BY t.channel, t.id HAVING count(e.id) <> 1 OR count(e.processed_at) <> 1`, takenWebhooks),
	},
	{
		"webhook-forged", "nothing is stored that the gateway did not sign",
		rows(`SELECT 'webhook ' || webhook_id || ' is stored' FROM webhook_events WHERE webhook_id LIKE 'evt\_forged\_%'`),
	},
	{
		"unknown-is-shown", "a signed webhook about an unknown payment is stored and has an incident",
		rows(`SELECT format('webhook %s was answered with 404: %s times stored, %s incidents', u.id, e.n, i.n)
			FROM jsonb_array_elements_text($1::jsonb) AS u (id)
			CROSS JOIN LATERAL (SELECT count(*) AS n FROM webhook_events AS e WHERE e.webhook_id = u.id AND e.transaction_id IS NULL) AS e
			CROSS JOIN LATERAL (SELECT count(*) AS n FROM incidents AS i WHERE i.kind = 'UNKNOWN_REFERENCE'
				AND EXISTS (SELECT FROM jsonb_array_elements(i.details -> 'events') AS d WHERE d ->> 'webhook_id' = u.id)) AS i
			WHERE e.n <> 1 OR i.n <> 1`, unknownWebhooks),
	},
	{
		"charge-has-its-place", "every amount the gateway took belongs to a confirmed booking or campaign, went back, or has an incident",
		rows(`SELECT format('checkout %s of %s is paid; payment %s is %s %s, captured %s, refunded %s', g.id, g.amount, t.id,
				coalesce(t.status, 'missing'), t.failure_code, t.captured_at, t.refunded_amount)
			FROM `+gatewayCheckouts+` LEFT JOIN payment_transactions AS t ON t.id = g.merchant_reference
			LEFT JOIN bookings AS b ON b.id = t.booking_id LEFT JOIN ad_campaigns AS c ON c.id = t.ad_campaign_id
			WHERE g.status = 'paid' AND (t.id IS NULL OR NOT (
				t.status = 'PAID' AND t.amount = g.amount AND b.status = 'CONFIRMED' AND t.refunded_amount < t.amount
				OR t.status = 'PAID' AND t.amount = g.amount AND b.status = 'CANCELLED'
					AND (t.refunded_amount + t.outside_refunded_amount = t.amount OR (SELECT count(*) FROM cancelled_passengers AS p
						WHERE p.booking_id = b.id) = jsonb_array_length(b.passengers))
				OR t.status = 'PAID' AND t.amount = g.amount AND c.status IN ('ACTIVE', 'SCHEDULED')
				OR t.status = 'FAILED' AND t.captured_at IS NOT NULL AND t.refunded_amount = t.amount
				OR EXISTS (SELECT FROM incidents AS i WHERE i.payment_transaction_id = t.id
					AND i.kind IN ('AMOUNT_MISMATCH', 'CURRENCY_MISMATCH', 'REFUND_FAILED')
					AND (t.status = 'FAILED' OR i.kind <> 'REFUND_FAILED'))))`, checkouts),
	},
	{
		"suspense-decided-or-shown", "money of another amount or currency was refunded, or is in suspense with an open incident",
		rows(`SELECT format('payment %s: said %s %s; took %s %s, %s of it went back, %s in suspense, %s open incidents',
				t.id, e.amount, e.currency, t.captured_amount, t.captured_currency, t.refunded_amount, l.held, i.open)
			FROM (SELECT DISTINCT ON (transaction_id) * FROM webhook_events WHERE type = 'payment.succeeded' AND outcome = 'INCIDENT'
				ORDER BY transaction_id, processed_at, received_at, id) AS e
			JOIN payment_transactions AS t ON t.id = e.transaction_id AND t.status = 'FAILED' AND t.captured_at IS NULL
			CROSS JOIN LATERAL (SELECT coalesce(sum(CASE WHEN credit_account LIKE 'suspense:%' THEN amount
				WHEN debit_account LIKE 'suspense:%' THEN -amount END), 0) AS held FROM ledger_transfers WHERE transaction_id = t.id) AS l
			CROSS JOIN LATERAL (SELECT count(*) AS open FROM incidents WHERE payment_transaction_id = t.id AND status = 'OPEN'
				AND kind IN ('AMOUNT_MISMATCH', 'CURRENCY_MISMATCH')) AS i
			WHERE (t.captured_amount, t.captured_currency) IS DISTINCT FROM (e.amount, e.currency)
				OR l.held <> t.captured_amount - t.refunded_amount OR l.held > 0 AND i.open <> 1`),
	},
	{
		"declined-is-declined", "an attempt declined at the gateway is FAILED as DECLINED, or was cancelled before",
		rows(`SELECT format('checkout %s was declined; payment %s is %s %s', g.id, t.id, t.status, t.failure_code)
			FROM `+gatewayCheckouts+` JOIN payment_transactions AS t ON t.id = g.merchant_reference
			WHERE g.status = 'failed' AND (t.status <> 'FAILED' OR t.failure_code NOT IN ('DECLINED', 'CANCELLED'))`, checkouts),
	},
	{
		"paid-was-charged", "every PAID payment was paid at the gateway, with the same amount",
		rows(`SELECT format('payment %s of %s is %s, its checkout %s is %s %s', t.id, t.amount, t.status, t.reference, g.status, g.amount)
			FROM payment_transactions AS t LEFT JOIN `+gatewayCheckouts+` ON g.merchant_reference = t.id
			WHERE t.kind = 'PAYMENT' AND (t.status = 'PAID' OR t.captured_at IS NOT NULL)
				AND (g.id IS NULL OR g.status <> 'paid' OR g.amount <> t.amount OR g.id IS DISTINCT FROM t.reference)`, checkouts),
	},
	{
		"day-of-payment", "a ledger entry has the day on which the gateway took the money, whichever process was down",
		rows(`SELECT format('payment %s: taken at %s, captured at %s, its record is of %s', t.id, g.paid_at, t.captured_at, r.record_date)
			FROM payment_transactions AS t JOIN `+gatewayCheckouts+` ON g.merchant_reference = t.id
			LEFT JOIN financial_records AS r ON r.payment_transaction_id = t.id AND r.kind IN ('SALE', 'ADVERTISING')
			WHERE t.kind = 'PAYMENT' AND t.captured_at IS NOT NULL AND (
				abs(extract(epoch FROM t.captured_at - greatest(g.paid_at, t.created_at))) > $2
				OR r.record_date <> (g.paid_at AT TIME ZONE 'Asia/Riyadh')::date)`, checkouts, precision),
	},
	{
		"one-checkout", "an attempt that the gateway did not refuse has one checkout there, and every checkout has an attempt",
		rows(`SELECT format('attempt %s has %s checkouts', g.merchant_reference, count(*)) FROM `+gatewayCheckouts+`
			LEFT JOIN payment_transactions AS t ON t.id = g.merchant_reference
			GROUP BY g.merchant_reference, t.id HAVING count(*) <> 1 OR t.id IS NULL
				OR t.failure_code = 'GATEWAY_REJECTED' AND t.reference IS NULL`, checkouts),
	},
	{
		"nothing-pending", "no attempt or refund is PENDING, and no booking waits beyond its hold",
		rows(unsettled),
	},
}

// unsettled is what has still to come to its end when everything is up. A message about a move is replaced by that about the next one.
const unsettled = `
	SELECT format('payment %s is PENDING, and expired at %s', id, expires_at) FROM payment_transactions WHERE status = 'PENDING'
	UNION ALL SELECT format('refund %s is PENDING since %s', id, created_at) FROM refunds WHERE status = 'PENDING'
	UNION ALL SELECT format('the gateway is to be asked what it took of payment %s', id) FROM payment_transactions
		WHERE recheck_at IS NOT NULL
	UNION ALL SELECT format('something of second payment %s is not ordered to go back', id) FROM payment_transactions AS t
		WHERE kind = 'SECOND_DEBIT' AND refunded_amount + refund_reserved_amount + outside_refunded_amount < amount
			AND NOT EXISTS (SELECT FROM refunds WHERE payment_transaction_id = t.id AND status = 'FAILED')
	UNION ALL SELECT format('refund %s came back and is not paid out', id) FROM refunds WHERE returned_at IS NOT NULL
		AND NOT EXISTS (SELECT FROM refund_payouts WHERE refund_id = refunds.id)
	UNION ALL SELECT format('%s is reserved for refunds of payment %s', refund_reserved_amount, id) FROM payment_transactions
		WHERE refund_reserved_amount <> 0
	UNION ALL SELECT format('trip %s is being cancelled since %s', trip_id, requested_at) FROM trip_cancellations
		WHERE status = 'CANCELLING'
	UNION ALL SELECT format('request %s to cancel is %s since %s, and its workflow has not seen it', id, status, decided_at)
		FROM cancellation_requests WHERE status <> 'REQUESTED' AND closed_at IS NULL
	UNION ALL SELECT format('booking %s is PENDING_PAYMENT, its hold ended at %s', id, hold_until) FROM bookings
		WHERE status = 'PENDING_PAYMENT'
	UNION ALL SELECT format('event %s (%s) of payment %s is not processed', id, type, transaction_id) FROM webhook_events
		WHERE processed_at IS NULL
	UNION ALL SELECT format('%s %s of payment %s is %s after %s tries: %s', channel, kind, transaction_id, status, attempts, last_error)
		FROM notifications AS n WHERE status <> 'SENT' AND NOT (kind = 'TRIP_MOVED' AND status = 'FAILED' AND EXISTS (
			SELECT FROM trip_moves AS a JOIN trip_moves AS z ON z.trip_id = a.trip_id AND z.moved_at > a.moved_at
			JOIN notifications AS newer ON newer.cause = z.id::text AND newer.transaction_id = n.transaction_id
				AND newer.kind = n.kind AND newer.channel = n.channel AND newer.status = 'SENT'
			WHERE a.id::text = n.cause))`
