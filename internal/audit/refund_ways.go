package audit

// The tables that came with everything that the checks below read.
const (
	returned     = "refunds.returned_at"
	payoutsTable = "refund_payouts"
	movesTable   = "trip_moves"
	paidBy       = "payment_transactions.paid_by"
)

// refundPolicy recomputes the amount from what is kept with the refund, and from what the audit log says had gone back and
// was reserved before it. Money that came too late bought nothing that could be cancelled.
func refundPolicy() check {
	return check{
		needs: cancelledTable,
		rules: []Rule{{"refund-policy", "A refund by the cancellation policy is the percentage of what was paid that the policy kept with it " +
			"gives for its hours to departure, or all of it when the trip was moved or cancelled, half-up, less what had gone back or was " +
			"reserved before it; of one that cancels passengers, see cancellation-share."}},
		sql: `
SELECT 'refund-policy', 'refund', f.id,
       format('%s: %s %% of %s at %s hours by %s, after %s', f.amount, coalesce(f.policy_percent::text, 'no'), t.amount,
              coalesce(f.policy_hours::text, 'no'), coalesce(f.policy_schedule, 'nothing'), coalesce(f.policy_given::text, 'nobody knows'))
FROM refunds AS f
JOIN payment_transactions AS t ON t.id = f.payment_transaction_id
LEFT JOIN LATERAL (
    SELECT s.step[2]::numeric AS percent FROM regexp_matches(f.policy_schedule, '([0-9]+)h:([0-9]+)', 'g') AS s (step)
    WHERE s.step[1]::numeric <= f.policy_hours ORDER BY s.step[1]::numeric DESC LIMIT 1) AS tier ON true
LEFT JOIN audit_log AS a ON a.entity = 'refund' AND a.entity_id = f.id AND a.action = 'REFUND_REQUESTED'
    AND jsonb_typeof(a.details -> 'before') = 'object'
WHERE f.refund_type = 'POLICY'
  AND (f.policy_percent IS DISTINCT FROM
           CASE WHEN t.status = 'PAID' AND coalesce(f.policy_reason, 'POLICY') NOT IN ('RESCHEDULED', 'TRIP_CANCELLED')
                THEN coalesce(tier.percent, 0) ELSE 100 END
       OR (NOT EXISTS (SELECT FROM cancellations AS c WHERE c.refund_id = f.id)
           AND f.amount * 100 IS DISTINCT FROM div(2 * t.amount * 100 * f.policy_percent + 100, 200) - f.policy_given * 100)
       OR (a.id IS NOT NULL AND f.policy_given::text IS DISTINCT FROM
           ((a.details -> 'before' ->> 'refunded_amount')::numeric
            + (a.details -> 'before' ->> 'reserved_amount')::numeric
            + coalesce((a.details -> 'before' ->> 'outside_refunded_amount')::numeric, 0))::numeric(14, 2)::text))`,
	}
}

// refundTerms holds the terms of a refund by the policy against what the booking was made for. The hours to departure are those of
// the refund's moment, at which the trip may have stood elsewhere than it does now.
func refundTerms() check {
	return check{
		needs: movesTable,
		rules: []Rule{
			{"refund-terms", "A refund by the cancellation policy gives at least what the schedule of the booking gives for its hours; it goes " +
				"by the terms of the booking only where those differ, and gives all for a move only where the trip was moved."},
			{"booking-moved", "The right to a full refund is that of the first move of the booking's trip, after it was made, by more than the " +
				"tolerance; its departure is that of the trip when it was made."},
		},
		sql: `
SELECT 'refund-terms', 'refund', f.id,
       format('%s: %s %% at %s hours by %s; the booking was made for %s by %s, right to a full refund: %s',
              coalesce(f.policy_reason, 'POLICY'),
              f.policy_percent, f.policy_hours, f.policy_schedule, b.booked_departure_at, coalesce(b.booked_schedule, 'no schedule'),
              CASE WHEN b.rescheduled_by IS NULL THEN 'no' ELSE 'yes' END)
FROM refunds AS f
JOIN payment_transactions AS t ON t.id = f.payment_transaction_id
JOIN bookings AS b ON b.id = f.booking_id
LEFT JOIN LATERAL (
    SELECT s.step[2]::numeric AS percent FROM regexp_matches(b.booked_schedule, '([0-9]+)h:([0-9]+)', 'g') AS s (step)
    WHERE s.step[1]::numeric <= f.policy_hours ORDER BY s.step[1]::numeric DESC LIMIT 1) AS tier ON true
WHERE f.refund_type = 'POLICY' AND t.status = 'PAID' AND f.policy_reason IS NOT NULL
  AND (f.policy_percent < coalesce(tier.percent, 0)
       OR (f.policy_reason = 'RESCHEDULED' AND b.rescheduled_by IS NULL)
       OR (f.policy_reason = 'POLICY_AT_BOOKING' AND f.policy_schedule IS DISTINCT FROM b.booked_schedule
           AND NOT EXISTS (SELECT FROM trip_moves AS m WHERE m.trip_id = b.trip_id AND m.moved_at > b.created_at)))
UNION ALL
SELECT 'booking-moved', 'booking', b.id,
       format('made for %s, right by the move from %s to %s, tolerance %s', b.booked_departure_at, m.departure_from, m.departure_to,
              m.tolerance)
FROM bookings AS b LEFT JOIN trip_moves AS m ON m.id = b.rescheduled_by
WHERE b.rescheduled_by IS NOT NULL
  AND (m.trip_id <> b.trip_id OR m.moved_at < b.created_at
       OR greatest(m.departure_to - m.departure_from, m.departure_from - m.departure_to, m.departure_to - b.booked_departure_at,
                   b.booked_departure_at - m.departure_to) <= m.tolerance)
UNION ALL
SELECT 'booking-moved', 'booking', b.id, format('made for %s, and the trip left at %s then', b.booked_departure_at, m.departure_from)
FROM bookings AS b
JOIN LATERAL (
    SELECT departure_from FROM trip_moves WHERE trip_id = b.trip_id AND moved_at > b.created_at ORDER BY moved_at LIMIT 1) AS m ON true
WHERE m.departure_from <> b.booked_departure_at`,
	}
}

// refundWays: a day is far longer than a decision takes to be applied.
func refundWays() check {
	return check{
		needs: "trip_cancellations",
		rules: []Rule{
			{"refund-channel", "A manual payout is of money that was paid as a bill, of money in another currency, of the amount of a refund " +
				"through the gateway that FAILED, or of a cancellation whose refund the gateway did not make; the platform's bank pays it; any " +
				"other is paid by its gateway."},
			{"refund-payout", "A manual payout SUCCEEDED when another user than its requester, or than who called its trip off, confirmed the " +
				"payout, and FAILED when it " +
				"was rejected, or not approved before that, within a day; one that came back from the customer's bank can only be paid out; the " +
				"audit log has the same decision of the same person."},
		},
		sql: `
WITH paid AS (
    SELECT refund_id AS id, bool_or(credit_account LIKE 'platform:bank%') AS by_hand,
           bool_or(credit_account NOT LIKE 'platform:bank%') AS by_gateway
    FROM ledger_transfers WHERE kind = 'REFUND_PAID' GROUP BY refund_id)
SELECT 'refund-channel', 'refund', f.id,
       format('%s of a payment by %s, known as %s; paid manually: %s, by the gateway: %s', f.channel,
              coalesce(t.paid_by, t.payment_method),
              coalesce(f.gateway_refund_id, 'nothing'), coalesce(p.by_hand, false), coalesce(p.by_gateway, false))
FROM refunds AS f
JOIN payment_transactions AS t ON t.id = f.payment_transaction_id
LEFT JOIN paid AS p ON p.id = f.id
WHERE CASE f.channel
      WHEN 'MANUAL' THEN CASE WHEN f.instead_of IS NULL
              THEN coalesce(t.paid_by, t.payment_method) <> 'bill_payment' AND coalesce(t.captured_currency, 'SAR') = 'SAR'
                  AND NOT (f.turned_manual_at IS NOT NULL AND EXISTS (SELECT FROM cancellations AS c WHERE c.refund_id = f.id))
              ELSE NOT EXISTS (SELECT FROM refunds AS o WHERE o.id = f.instead_of AND o.status = 'FAILED' AND o.channel = 'GATEWAY'
                  AND (o.payment_transaction_id, o.amount, o.currency) = (f.payment_transaction_id, f.amount, f.currency)) END
          OR f.gateway_refund_id IS NOT NULL AND f.turned_manual_at IS NULL OR coalesce(p.by_gateway, false)
      ELSE coalesce(p.by_hand, false) END
UNION ALL
SELECT 'refund-payout', 'refund', coalesce(f.id, d.refund_id),
       format('%s, asked for by %s; %s by %s at %s', coalesce(f.status, 'no manual payout'), coalesce(f.requested_by::text, 'no account'),
              coalesce(d.decision, 'decided'), coalesce(d.decided_by::text, 'no account'), coalesce(d.decided_at::text, 'no time'))
FROM (SELECT * FROM refunds AS r
      WHERE channel = 'MANUAL' AND coalesce(failure_code, '') NOT LIKE 'APPROVAL%'
         OR returned_at IS NOT NULL AND EXISTS (SELECT FROM refund_payouts WHERE refund_id = r.id)) AS f
FULL JOIN refund_payouts AS d ON d.refund_id = f.id
WHERE f.id IS NULL
   OR d.decision IS DISTINCT FROM CASE f.status WHEN 'SUCCEEDED' THEN 'PAID_OUT' WHEN 'FAILED' THEN 'REJECTED' ELSE d.decision END
   OR (f.status = 'PENDING' AND d.decided_at < now() - interval '1 day')
   OR (d.decision = 'PAID_OUT' AND d.decided_by = f.requested_by)
   OR (d.decision = 'PAID_OUT' AND f.requested_by IS NULL AND f.cause = 'TRIP_CANCELLED' AND EXISTS (
       SELECT FROM trip_cancellations AS o LEFT JOIN bookings AS b ON b.trip_id = o.trip_id AND b.id = f.booking_id
       LEFT JOIN ad_campaigns AS c ON c.trip_id = o.trip_id AND c.id = f.ad_campaign_id
       WHERE o.done_at IS NOT NULL AND o.requested_by = d.decided_by AND coalesce(b.id, c.id) IS NOT NULL))
   OR (d.decided_at >= ` + logArchivedUntil + ` AND NOT EXISTS (
       SELECT FROM audit_log AS a
       WHERE a.entity = 'refund' AND a.entity_id = d.refund_id AND a.actor_id = d.decided_by
         AND a.action = CASE d.decision WHEN 'PAID_OUT' THEN 'REFUND_PAYOUT_CONFIRMED' ELSE 'REFUND_PAYOUT_REJECTED' END
         AND (a.details -> 'after' ->> 'payout_reference', a.details -> 'after' ->> 'paid_out_on')
             IS NOT DISTINCT FROM (d.payout_reference, d.paid_out_on::text)))`,
	}
}
