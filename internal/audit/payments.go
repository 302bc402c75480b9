package audit

// paymentChecks hold the state of each payment against what the gateway said (rules: payments.states, settling.compare).
func paymentChecks() []check {
	return []check{
		transactionAmount(), paymentProof(), paymentMoment(), paymentMethod(), eventOutcome(), eventBody(), stateLog(), secondDebits(),
	}
}

// transactionAmount uses whole halalas and ten-thousandths, so that the only rounding is the one by integer division.
func transactionAmount() check {
	return check{
		rules: []Rule{{"transaction-vat", "The VAT of a payment is what the rate copied into it makes of its amount: contained in a booking's, " +
			"added to a campaign's; a booking's payment is of the booking's amount."}},
		sql: `
SELECT 'transaction-vat', 'payment', t.id, format('VAT %s of %s at %s', t.vat_amount, t.amount, t.vat_rate)
FROM payment_transactions AS t LEFT JOIN bookings AS b ON b.id = t.booking_id
WHERE t.kind = 'PAYMENT'
  AND (CASE WHEN t.booking_id IS NOT NULL
       THEN b.id IS NULL OR b.amount <> t.amount OR b.vat_rate <> t.vat_rate OR b.vat_amount <> t.vat_amount
            OR b.provider_id <> t.provider_id
            OR t.vat_amount * 100 <> div(2 * t.amount * 100 * t.vat_rate * 10000 + 10000 + t.vat_rate * 10000,
                                         nullif(2 * (10000 + t.vat_rate * 10000), 0))
       ELSE t.vat_amount * 100 <> div(2 * (t.amount - t.vat_amount) * 100 * t.vat_rate * 10000 + 10000, 20000) END)`,
	}
}

// paymentProof: the gateway's answer to a poll is stored as an event too, so every capture has one.
func paymentProof() check {
	return check{
		rules: []Rule{{"payment-proof", "A payment was captured exactly when one success of the gateway, of the same amount, currency and " +
			"checkout, was applied to it; a PAID one was captured."}},
		sql: `
WITH proof AS (
    SELECT e.transaction_id AS id, count(*) AS n, min(e.amount) AS amount, min(e.currency) AS currency,
           min(e.checkout_id) AS checkout, min(e.merchant_reference) AS reference
    FROM webhook_events AS e
    WHERE e.type = 'payment.succeeded' AND e.outcome = 'APPLIED' AND e.processed_at IS NOT NULL AND e.transaction_id IS NOT NULL
    GROUP BY e.transaction_id)
SELECT 'payment-proof', 'payment', t.id,
       format('%s, captured %s, amount %s; %s applied successes, amount %s %s', t.status, coalesce(t.captured_at::text, 'never'),
              t.amount, coalesce(p.n, 0), coalesce(p.amount, 0), p.currency)
FROM payment_transactions AS t LEFT JOIN proof AS p ON p.id = t.id
WHERE (t.captured_at IS NOT NULL) <> (p.id IS NOT NULL)
   OR (t.status = 'PAID' AND t.captured_at IS NULL)
   OR (t.captured_at IS NOT NULL AND t.status NOT IN ('PAID', 'FAILED'))
   OR p.n > 1 OR p.amount IS DISTINCT FROM CASE WHEN p.id IS NOT NULL THEN t.amount END OR upper(p.currency) <> t.currency
   OR p.reference <> CASE t.kind WHEN 'SECOND_DEBIT' THEN t.parent_id ELSE t.id END::text OR p.checkout <> t.reference`,
	}
}

// paymentMethod: what was settled before the migration 0049, or by a worker of an earlier version, need not have it.
func paymentMethod() check {
	return check{
		needs: paidBy,
		rules: []Rule{{"payment-method", "A payment is noted as paid by another method than was chosen only where the gateway's success says " +
			"that method."}},
		sql: `
SELECT 'payment-method', 'payment', t.id, format('chosen %s, paid by %s, which no success of the gateway says', t.payment_method, t.paid_by)
FROM payment_transactions AS t
WHERE t.kind <> 'REFUND' AND t.paid_by IS NOT NULL
  AND NOT EXISTS (SELECT FROM webhook_events AS e WHERE e.transaction_id = t.id AND e.type = 'payment.succeeded'
                  AND e.outcome IN ('APPLIED', 'INCIDENT') AND e.payment_method = t.paid_by)`,
	}
}

// paymentMoment: payments that were settled before the migration 0015 are of the moment at which they were processed.
func paymentMoment() check {
	return check{
		needs: "financial_records.commission_rate", // of the same migration
		rules: []Rule{{"payment-moment", "A payment was captured when the gateway says that it took the money, but not before the attempt " +
			"was opened nor after the service was told."}},
		sql: `
SELECT 'payment-moment', 'payment', t.id,
       format('captured at %s; opened %s, taken %s, told %s', t.captured_at, t.created_at, e.occurred_at, e.received_at)
FROM payment_transactions AS t
JOIN webhook_events AS e ON e.transaction_id = t.id AND e.type = 'payment.succeeded' AND e.outcome = 'APPLIED'
WHERE t.captured_at <> greatest(t.created_at, least(e.occurred_at, e.received_at))
  AND NOT (t.captured_at = e.processed_at
           AND e.processed_at < (SELECT m.migrated_at + interval '1 minute' FROM bun_migrations AS m WHERE m.name = '0015'))`,
	}
}

func eventOutcome() check {
	return check{
		needs: cancelledTable,
		rules: []Rule{{"event-outcome", "What became of each event is what its payment, its refund or its incident shows."}},
		sql: `
WITH e AS (
    SELECT e.*, (e.type LIKE 'refund.%') AS of_refund
    FROM webhook_events AS e WHERE e.processed_at IS NOT NULL OR e.outcome <> ''),
told AS (
    SELECT DISTINCT d ->> 'webhook_id' AS webhook_id
    FROM incidents AS i, jsonb_array_elements(CASE WHEN jsonb_typeof(i.details -> 'events') = 'array' THEN i.details -> 'events' ELSE
       '[]' END) AS d)
SELECT 'event-outcome', 'event', e.id,
       format('%s %s of payment %s (%s), refund %s (%s)', e.type, coalesce(nullif(e.outcome, ''), 'without outcome'),
              coalesce(e.transaction_id::text, 'unknown'), coalesce(t.status, ''), coalesce(e.refund_id::text, 'none'),
       coalesce(f.status, ''))
FROM e
LEFT JOIN payment_transactions AS t ON t.id = e.transaction_id
LEFT JOIN refunds AS f ON f.id = e.refund_id
LEFT JOIN told ON e.outcome = 'INCIDENT' AND told.webhook_id = e.webhook_id
WHERE e.processed_at IS NULL OR e.outcome NOT IN ('APPLIED', 'DUPLICATE', 'IGNORED', 'INCIDENT')
   OR (e.outcome = 'INCIDENT' AND told.webhook_id IS NULL)
   OR (e.outcome IN ('APPLIED', 'DUPLICATE') AND NOT coalesce(CASE e.type
       WHEN 'payment.succeeded' THEN t.captured_at IS NOT NULL
       WHEN 'payment.failed' THEN t.status <> 'PENDING'
       WHEN 'payment.expired' THEN t.status <> 'PENDING'
       WHEN 'refund.succeeded' THEN f.status = 'SUCCEEDED'
       WHEN 'refund.failed' THEN f.status = 'FAILED' OR f.turned_manual_at IS NOT NULL -- the money is owed all the same
       ELSE false END, false))`,
	}
}

// stateLog: the trail is written by the database itself; a state that is not where it ends was changed around it. A trail
// has one beginning, at most one entry per step, and no step that the one before does not lead to: so the numbers of its
// entries say whether it is whole, and where it ends.
func stateLog() check {
	return check{
		rules: []Rule{{"state-log", "The state of each transaction is where its trail ends, and the trail goes, without a gap and once, " +
			"from PENDING to PAID or FAILED, and from FAILED to PAID by late money; a second payment begins FAILED. Only what began in an " +
			"archived month lacks its beginning."}},
		needs: archive,
		sql: `
WITH trail AS (
    SELECT transaction_id AS id, count(*) AS n,
           count(*) FILTER (WHERE from_status IS NULL AND to_status = 'PENDING') AS opened,
           count(*) FILTER (WHERE from_status IS NULL AND to_status = 'FAILED') AS debited,
           count(*) FILTER (WHERE from_status IS NULL AND to_status = 'REFUNDED') AS refunded,
           count(*) FILTER (WHERE from_status IS NULL AND to_status = 'PARTIAL_REFUND') AS part,
           count(*) FILTER (WHERE from_status = 'PENDING' AND to_status = 'PAID') AS paid,
           count(*) FILTER (WHERE from_status = 'PENDING' AND to_status = 'FAILED') AS failed,
           count(*) FILTER (WHERE from_status = 'FAILED' AND to_status = 'PAID') AS late
    FROM transaction_state_changes GROUP BY transaction_id),
read AS (
    SELECT trail.*, CASE
        WHEN n <> opened + debited + refunded + part + paid + failed + late THEN 'a state that cannot be'
        WHEN n = debited THEN CASE WHEN n = 1 THEN 'FAILED' ELSE 'a beginning twice' END
        WHEN debited > 0 THEN 'a state after it has ended'
        WHEN (opened, refunded, part, paid, failed, late) = (1, 0, 0, 0, 0, 0) THEN 'PENDING'
        WHEN (opened, refunded, part, paid, failed, late) IN ((1, 0, 0, 1, 0, 0), (1, 0, 0, 0, 1, 1)) THEN 'PAID'
        WHEN (opened, refunded, part, paid, failed, late) = (1, 0, 0, 0, 1, 0) THEN 'FAILED'
        WHEN (opened, refunded, part, paid, failed, late) = (0, 1, 0, 0, 0, 0) THEN 'REFUNDED'
        WHEN (opened, refunded, part, paid, failed, late) = (0, 0, 1, 0, 0, 0) THEN 'PARTIAL_REFUND'
        ELSE 'no state: it has gaps, or steps twice' END AS ends,
        CASE WHEN n <> paid + failed + late THEN NULL
        WHEN (paid, failed, late) IN ((1, 0, 0), (0, 1, 1), (0, 0, 1)) THEN 'PAID'
        WHEN (paid, failed, late) = (0, 1, 0) THEN 'FAILED' END AS rest_ends -- of a trail whose beginning is archived
    FROM trail),
archived AS (SELECT max(until) AS until FROM archived_months WHERE table_name = 'transaction_state_changes')
SELECT 'state-log', 'payment', coalesce(t.id, r.id),
       format('%s, but its trail of %s entries leads to %s', coalesce(t.status, 'no such payment'), coalesce(r.n, 0),
              coalesce(r.ends, 'nothing'))
FROM payment_transactions AS t FULL JOIN read AS r ON r.id = t.id
WHERE (t.status IS DISTINCT FROM r.ends OR (r.debited > 0) <> (t.kind = 'SECOND_DEBIT'))
  AND NOT coalesce(t.created_at < (SELECT until FROM archived) AND (r.id IS NULL OR t.status = r.rest_ends), false)`,
	}
}

// secondDebits: what was taken, given back and told of them is held by the rules of money that came too late.
func secondDebits() check {
	return check{
		needs: outside, // of a time when the gateway's id was kept
		rules: []Rule{{"second-debit", "A second payment is of a payment whose money was taken, for the same purchase, customer, company and " +
			"checkout; the gateway has said it once, by another id than the payment's, and there is no VAT in it."}},
		sql: `
SELECT 'second-debit', 'payment', d.id,
       format('%s of %s for checkout %s, by the gateway %s; payment %s (%s), checkout %s, by the gateway %s', d.status, d.amount,
              d.reference, coalesce(d.gateway_payment_id, 'without an id'), coalesce(t.id::text, 'none'), t.status,
              t.reference, t.gateway_payment_id)
FROM payment_transactions AS d
LEFT JOIN payment_transactions AS t ON t.id = d.parent_id AND t.kind = 'PAYMENT'
WHERE d.kind = 'SECOND_DEBIT'
  AND ((d.booking_id, d.ad_campaign_id, d.provider_id, d.user_id, d.gateway, d.channel, d.payment_method, d.reference, d.attempt)
       IS DISTINCT FROM
       (t.booking_id, t.ad_campaign_id, t.provider_id, t.user_id, t.gateway, t.channel, t.payment_method, t.reference, t.attempt)
       OR d.vat_amount <> 0 OR d.status <> 'FAILED' OR d.gateway_payment_id IS NOT DISTINCT FROM t.gateway_payment_id
       OR num_nonnulls(t.captured_at, t.suspense_at) <> 1
       OR (SELECT count(*) FROM webhook_events AS e
           WHERE e.transaction_id = d.id AND e.type = 'payment.succeeded' AND e.merchant_reference = d.parent_id::text
             AND e.outcome = CASE WHEN d.suspense_at IS NULL THEN 'APPLIED' ELSE 'INCIDENT' END
             AND e.amount = CASE WHEN d.suspense_at IS NULL THEN d.amount ELSE d.captured_amount END
             AND e.currency = coalesce(d.captured_currency, d.currency)) <> 1)`,
	}
}
