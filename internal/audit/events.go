package audit

// eventBody compares the stored event of a webhook with the body that was signed. The casts are safe: a body with the digest of
// its receipt was read then. It does without regular expressions, which cost more than all the rest. A fraction of a second
// beyond microseconds is cut off by the service and rounded here. Signatures are not verified: the secrets are the API's, and
// those of old signatures have been replaced. What companies write in forms of their own, one of them encrypted, is held to its digest
// alone.
func eventBody() check {
	return check{
		needs: "webhook_events.digest",
		rules: []Rule{{"event-body", "What is kept of an event is what was received, to the byte; a webhook has its body and signature, and " +
			"was received when it was signed; type, amount, currency, checkout, reference and moment are those of the body."}},
		sql: `
SELECT 'event-body', 'event', e.id, w.what
FROM webhook_events AS e
CROSS JOIN LATERAL (SELECT e.digest = sha256(convert_to(json_build_array(e.id, e.channel, e.webhook_id, e.type, e.checkout_id,
        e.merchant_reference, e.amount, e.currency, e.payment_method, e.result_code, e.failure_reason, e.gateway_refund_id,
        (extract(epoch FROM e.occurred_at) * 1000000)::bigint, (extract(epoch FROM e.received_at) * 1000000)::bigint,
        e.body, e.signature)::text, 'UTF8')) AS whole,
    -- The API makes the id, and the time is in it.
    CASE WHEN substr(e.id::text, 15, 1) = '7'
         THEN to_timestamp(('x0000' || translate(left(e.id::text, 13), '-', ''))::bit(64)::bigint / 1000.0) END AS named_at OFFSET 0) AS d
CROSS JOIN LATERAL (SELECT CASE WHEN d.whole AND e.signature LIKE 'webhook-timestamp: %' THEN e.body::jsonb END AS said,
    CASE WHEN d.whole AND e.signature LIKE E'webhook-timestamp: %\nwebhook-signature: %v1,___________________________________________=%'
         THEN to_timestamp(substr(split_part(e.signature, E'\n', 1), 20)::bigint) END AS signed_at OFFSET 0) AS b
CROSS JOIN LATERAL (SELECT b.said -> 'data' AS data, b.said ->> 'timestamp' AS moment OFFSET 0) AS s
CROSS JOIN LATERAL (SELECT CASE
    WHEN d.whole IS NOT TRUE THEN format('%s received at %s is not what was received', e.type, e.received_at)
    WHEN (e.body IS NULL) <> (e.signature IS NULL) THEN 'a body without a signature, or a signature without a body'
    WHEN abs(extract(epoch FROM e.received_at - d.named_at)) > 3600
        THEN format('received at %s, and named at %s', e.received_at, d.named_at)
    WHEN e.body IS NULL THEN
        CASE WHEN e.webhook_id NOT LIKE 'status-query:%' AND coalesce(d.named_at, e.received_at) >=
            (SELECT m.migrated_at + interval '1 day' FROM bun_migrations AS m WHERE m.name = '0015') THEN 'a webhook without its body' END
    WHEN starts_with(e.signature, 'stripe-signature: ') OR starts_with(e.signature, 'secret_token: ')
        OR starts_with(e.signature, 'x-initialization-vector: ') THEN NULL
    WHEN b.signed_at IS NULL THEN 'a signature of a form that the audit does not know'
    WHEN abs(extract(epoch FROM e.received_at - b.signed_at)) > 3600
        THEN format('received at %s, and signed at %s', e.received_at, b.signed_at)
    WHEN b.said ->> 'type' IS DISTINCT FROM e.type THEN format('%s, the body: %s', e.type, coalesce(b.said ->> 'type', 'no type'))
    WHEN e.type NOT IN ('payment.succeeded', 'payment.failed', 'payment.expired', 'refund.succeeded', 'refund.failed') THEN NULL
    WHEN (e.checkout_id, e.merchant_reference, e.amount, e.currency, e.payment_method, e.result_code, e.failure_reason,
          e.gateway_refund_id) IS DISTINCT FROM
         (s.data ->> 'checkout_id', lower(s.data ->> 'merchant_reference'), (s.data ->> 'amount')::numeric, upper(s.data ->> 'currency'),
          s.data ->> 'payment_method', s.data ->> 'result_code', coalesce(s.data ->> 'failure_reason', ''),
          coalesce(s.data ->> 'refund_id', ''))
        THEN format('%s %s of checkout %s for %s; the body: %s %s of checkout %s for %s', e.amount, e.currency, e.checkout_id,
                    e.merchant_reference, s.data ->> 'amount', s.data ->> 'currency', s.data ->> 'checkout_id',
                    s.data ->> 'merchant_reference')
    WHEN left(s.moment, 4) <> '0000' AND abs(extract(epoch FROM e.occurred_at - (
             (CASE right(s.moment, 1) WHEN 'Z' THEN replace(left(s.moment, -1), ',', '.')::timestamp
              ELSE replace(left(s.moment, -6), ',', '.')::timestamp - right(s.moment, 6)::interval END) AT TIME ZONE 'UTC'))) > 0.000001
        THEN format('of %s, the body: of %s', e.occurred_at, s.moment)
    END AS what) AS w
WHERE w.what IS NOT NULL`,
	}
}
