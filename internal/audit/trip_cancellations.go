package audit

// tripCancellations allow for clocks of different machines where moments are compared.
func tripCancellations() check {
	return check{
		needs: "trip_cancellations",
		rules: []Rule{
			{"trip-cancellation", "A trip is CANCELLING exactly while its cancellation is, and no booking of it is live once that is CANCELLED."},
			{"trip-cancellation-approval", "A trip whose refunds came to more than the limit of then is cancelled on the word of two people."},
			{"trip-cancellation-refund", "What the service gives back because a trip does not run is of a trip whose cancellation was under way."},
		},
		sql: `
SELECT 'trip-cancellation', 'trip', t.id, format('%s; cancellation %s; %s booked', t.status, coalesce(c.status, 'none'), b.booked)
FROM trips AS t LEFT JOIN trip_cancellations AS c ON c.trip_id = t.id AND c.status IN ('CANCELLING', 'CANCELLED')
CROSS JOIN LATERAL (SELECT count(*) AS booked FROM bookings
    WHERE trip_id = t.id AND c.status = 'CANCELLED' AND status IN ('PENDING_PAYMENT', 'CONFIRMED')) AS b
WHERE (t.status = 'CANCELLING') <> (coalesce(c.status, '') = 'CANCELLING')
   OR (c.status = 'CANCELLED' AND (t.status <> 'CANCELLED' OR b.booked > 0))
UNION ALL
SELECT 'trip-cancellation-approval', 'trip', c.trip_id,
       format('%s of at most %s; asked by %s, %s by %s', c.refund_total, c.approval_above, c.requested_by, c.status, c.decided_by)
FROM trip_cancellations AS c
WHERE c.refund_total > c.approval_above
  AND (c.approval_until IS NULL OR c.status IN ('CANCELLING', 'CANCELLED') AND NOT c.approval_pending
       AND (c.decided_by IS NULL OR c.decided_by = c.requested_by))
UNION ALL
SELECT 'trip-cancellation-refund', 'booking', n.booking_id, format('%s of %s', n.refund_amount, n.created_at)
FROM cancellations AS n JOIN bookings AS b ON b.id = n.booking_id
WHERE n.cancelled_by IS NULL AND n.cause = 'TRIP_CANCELLED' AND n.refund_by = 'FULL' AND NOT EXISTS (
    SELECT FROM trip_cancellations AS c WHERE c.trip_id = b.trip_id AND c.status IN ('CANCELLING', 'CANCELLED')
        AND NOT c.approval_pending AND coalesce(c.decided_at, c.requested_at) <= n.created_at + interval '1 hour')`,
	}
}
