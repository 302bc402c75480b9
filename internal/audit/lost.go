package audit

// lostMoneyChecks look for money that a gateway has reported and that no attempt, refund or decision accounts for
// (rules: late.return). A day is far longer than any automatic processing takes.
func lostMoneyChecks() []check {
	return []check{lostEvents(), suspenseProof(), lateMoney(), refusedRefunds()}
}

func lostEvents() check {
	return check{
		rules: []Rule{
			{"event-lost", "A success that a gateway reported is never ignored, and no event of a known payment or refund waits " +
				"for more than a day."},
			{"mismatch-event", "A payment that failed by its amount or currency has the event that shows it, and an incident."},
		},
		sql: `
SELECT 'event-lost', 'event', e.id,
       format('%s of payment %s, received at %s: %s', e.type, e.transaction_id, e.received_at,
              CASE WHEN e.processed_at IS NULL THEN 'it still waits' ELSE e.outcome END)
FROM webhook_events AS e
WHERE e.transaction_id IS NOT NULL
  AND ((e.type = 'payment.succeeded' AND e.outcome = 'IGNORED') OR (e.processed_at IS NULL AND e.received_at < now() - interval '1 day'))
UNION ALL
SELECT 'mismatch-event', 'payment', t.id, format('%s %s, without its event', t.status, t.failure_code)
FROM payment_transactions AS t
WHERE t.failure_code IN ('AMOUNT_MISMATCH', 'CURRENCY_MISMATCH')
  AND NOT EXISTS (SELECT FROM webhook_events AS e WHERE e.transaction_id = t.id AND e.outcome = 'INCIDENT')`,
	}
}

// suspenseProof: mismatches that predate migration 18 are in no account.
func suspenseProof() check {
	return check{
		needs: "payment_transactions.suspense_at",
		rules: []Rule{{"suspense-proof", "Money is in suspense exactly when a success of another amount or currency than was asked for " +
			"failed its payment; amount, currency and moment are those of that event, and an incident asks for a decision."}},
		sql: `
WITH said AS (
    SELECT DISTINCT ON (e.transaction_id) e.transaction_id AS id, e.amount, upper(e.currency) AS currency, e.processed_at,
           greatest(t.created_at, least(e.occurred_at, e.received_at)) AS taken_at
    FROM webhook_events AS e JOIN payment_transactions AS t ON t.id = e.transaction_id
    WHERE e.type = 'payment.succeeded' AND e.outcome = 'INCIDENT' AND e.amount > 0 AND t.captured_at IS NULL
      AND NOT EXISTS (SELECT FROM public.payment_transactions AS o
          WHERE o.gateway = t.gateway AND o.reference = e.checkout_id AND o.id <> t.id AND o.kind = 'PAYMENT')
    ORDER BY e.transaction_id, e.processed_at, e.received_at, e.id)
SELECT 'suspense-proof', 'payment', t.id,
       format('%s %s in suspense since %s, the gateway took %s %s at %s', coalesce(t.captured_amount::text, 'nothing'), t.captured_currency,
              t.suspense_at, coalesce(s.amount::text, 'nothing'), s.currency, s.taken_at)
FROM payment_transactions AS t LEFT JOIN said AS s ON s.id = t.id
WHERE t.kind = 'PAYMENT' AND t.failure_code IN ('AMOUNT_MISMATCH', 'CURRENCY_MISMATCH')
  AND CASE WHEN t.suspense_at IS NULL
      THEN s.processed_at >= (SELECT m.migrated_at FROM bun_migrations AS m WHERE m.name = '0018')
      ELSE (t.captured_amount, t.captured_currency, t.suspense_at) IS DISTINCT FROM (s.amount, s.currency, s.taken_at)
           OR NOT EXISTS (SELECT FROM incidents AS i WHERE i.payment_transaction_id = t.id AND i.kind = t.failure_code) END`,
	}
}

// lateMoney: the incident comes with the capture, the refund by a workflow of its own.
func lateMoney() check {
	return check{
		needs: outside,
		rules: []Rule{
			{"late-incident", "Money that came too late has opened an incident LATE_PAYMENT."},
			{"late-refund", "Money that came too late has a refund, a day after it was noticed at the latest, unless the gateway gave " +
				"all of it back without an order."},
		},
		sql: `
WITH late AS (
    SELECT t.*, (SELECT max(e.processed_at) FROM webhook_events AS e
                 WHERE e.transaction_id = t.id AND e.type = 'payment.succeeded' AND e.outcome = 'APPLIED') AS owed_at
    FROM payment_transactions AS t WHERE t.kind <> 'REFUND' AND t.status = 'FAILED' AND t.captured_at IS NOT NULL)
SELECT 'late-incident', 'payment', t.id, format('%s captured at %s, without an incident', t.amount, t.captured_at)
FROM late AS t
WHERE NOT EXISTS (SELECT FROM incidents AS i WHERE i.payment_transaction_id = t.id AND i.kind = 'LATE_PAYMENT')
UNION ALL
SELECT 'late-refund', 'payment', t.id, format('%s captured at %s, without a refund', t.amount, t.captured_at)
FROM late AS t
WHERE coalesce(t.owed_at, t.captured_at) < now() - interval '1 day' AND t.outside_refunded_amount < t.amount
  AND NOT EXISTS (SELECT FROM refunds AS f WHERE f.payment_transaction_id = t.id)`,
	}
}

func refusedRefunds() check {
	return check{
		rules: []Rule{{"refund-incident", "A refund that the gateway refused, that was not approved in time, or that people ended although it " +
			"is owed, has opened an incident REFUND_FAILED."}},
		sql: `
SELECT 'refund-incident', 'refund', f.id, format('%s of %s, without an incident', f.status, f.amount)
FROM refunds AS f JOIN payment_transactions AS t ON t.id = f.payment_transaction_id
WHERE f.status = 'FAILED' AND (f.failure_code NOT IN ('PAYOUT_REJECTED', 'APPROVAL_REJECTED') OR t.status <> 'PAID')
  AND NOT EXISTS (SELECT FROM incidents AS i WHERE i.refund_id = f.id AND i.kind = 'REFUND_FAILED')`,
	}
}
