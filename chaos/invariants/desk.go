package invariants

import (
	"context"
	"fmt"
)

var aboutDesk = []Invariant{
	{
		"called-off-ends", "a trip that is called off ends CANCELLED with nothing live, or is PUBLISHED as a second person decided",
		rows(`SELECT format('the cancellation of trip %s is %s, the trip %s: %s seats taken, %s live bookings, %s live campaigns',
				t.id, c.status, t.status, t.seats_taken, b.n, a.n)
			FROM trip_cancellations AS c JOIN trips AS t ON t.id = c.trip_id
			CROSS JOIN LATERAL (SELECT count(*) AS n FROM bookings WHERE trip_id = t.id AND status IN ('PENDING_PAYMENT', 'CONFIRMED')) AS b
			CROSS JOIN LATERAL (SELECT count(*) AS n FROM ad_campaigns WHERE trip_id = t.id AND deleted_at IS NULL
				AND status NOT IN ('CANCELLED', 'ENDED', 'PAYMENT_FAILED')) AS a
			WHERE c.id = (SELECT id FROM trip_cancellations WHERE trip_id = t.id ORDER BY requested_at DESC LIMIT 1)
				AND NOT CASE c.status WHEN 'CANCELLED' THEN t.status = 'CANCELLED' AND t.seats_taken + b.n + a.n = 0
					WHEN 'REJECTED' THEN t.status = 'PUBLISHED' ELSE false END`),
	},
	{
		"called-off-gives-back",
		"of a trip that does not run every riyal goes back, less what earlier cancellations kept; refused refunds are named",
		rows(`SELECT format('payment %s of cancelled trip %s: %s taken, %s gone back, %s kept by cancellations, %s refused',
				p.id, p.trip_id, p.amount, p.back, p.kept, p.refused)
			FROM (SELECT t.id, b.trip_id, t.amount, t.refunded_amount + t.outside_refunded_amount AS back,
				coalesce((SELECT sum(ceil(paid_amount * (100 - percent)) / 100) FROM cancellations -- a halala may fall to either side
					WHERE payment_transaction_id = t.id AND status = 'DONE' AND cause <> 'TRIP_CANCELLED'), 0) AS kept,
				coalesce((SELECT sum(amount) FROM refunds WHERE payment_transaction_id = t.id AND status = 'FAILED'
					AND coalesce(failure_code, '') NOT LIKE 'APPROVAL%'), 0) AS refused
				FROM payment_transactions AS t JOIN bookings AS b ON b.id = t.booking_id JOIN trips AS tr ON tr.id = b.trip_id
				WHERE t.kind = 'PAYMENT' AND t.status = 'PAID' AND tr.status = 'CANCELLED') AS p
			WHERE p.amount - p.back NOT BETWEEN 0 AND p.kept + p.refused`),
	},
	{
		"called-off-is-told", "each customer of a trip that does not run hears of it once by mail and once by SMS",
		rows(`SELECT format('booking %s of cancelled trip %s: %s messages, %s of them mails', b.id, b.trip_id, count(n.id),
				count(n.id) FILTER (WHERE n.channel = 'EMAIL'))
			FROM bookings AS b JOIN trips AS t ON t.id = b.trip_id AND t.status = 'CANCELLED'
			JOIN cancellations AS c ON c.booking_id = b.id AND c.status = 'DONE' AND c.cause = 'TRIP_CANCELLED'
			LEFT JOIN notifications AS n ON n.kind = 'BOOKING_CANCELLED' AND n.data ->> 'trip_cancelled' = 'true'
				AND n.data ->> 'booking_id' = b.id::text
			GROUP BY b.id, b.trip_id HAVING count(n.id) <> 2 OR count(n.id) FILTER (WHERE n.channel = 'EMAIL') <> 1
			UNION ALL SELECT format('booking %s has %s messages by %s that its trip does not run', data ->> 'booking_id', count(*), channel)
			FROM notifications WHERE kind = 'BOOKING_CANCELLED' AND data ->> 'trip_cancelled' = 'true'
			GROUP BY data ->> 'booking_id', channel HAVING count(*) > 1`),
	},
	{"called-off-counts", "the progress of a called-off trip says what became of its bookings and refunds, to the halala", callOffCounts},
	{
		"checked-in-once", "a passenger whom a device was answered as checked in is so since the time that it was answered, and was paid for",
		rows(`SELECT format('passenger %s of booking %s was answered as checked in at %s, and is so since %s',
				g.position, g.booking, g.at, c.checked_in_at)
			FROM jsonb_to_recordset($1::jsonb) AS g(booking uuid, position int, at timestamptz)
			LEFT JOIN check_ins AS c ON c.booking_id = g.booking AND c.position = g.position
			WHERE c.checked_in_at IS DISTINCT FROM g.at
			UNION ALL SELECT format('passenger %s of booking %s is checked in, and was not paid for', c.position, c.booking_id)
			FROM check_ins AS c WHERE NOT EXISTS (SELECT FROM payment_transactions AS t WHERE t.booking_id = c.booking_id AND t.status = 'PAID')`,
			checkIns),
	},
}

func checkIns(s *Evidence) any {
	if s.Run.CheckIns == nil {
		return "[]"
	}

	return asJSON(s.Run.CheckIns)
}

// callOffCounts adds the refunds up by the bookings' payments, where the service goes by its cancellations.
func callOffCounts(ctx context.Context, s *Evidence) ([]string, error) {
	var found []string

	for trip, c := range s.Run.CallOffs(ctx) {
		if c.DoneAt == nil {
			continue // it was rejected
		}

		said := fmt.Sprintf("%d of %d cancelled, %d succeeded with %s, %d pending, %d failed, %d to be paid out", c.Cancelled, c.Bookings,
			c.RefundsSucceeded, c.RefundedTotal, c.RefundsPending, c.RefundsFailed, c.RefundsByHand)

		is, err := texts(ctx, s.Env.DB, `
			SELECT format('%1$s of %1$s cancelled, %2$s succeeded with %3$s, 0 pending, %4$s failed, 0 to be paid out', b.n,
				count(*) FILTER (WHERE r.status = 'SUCCEEDED'),
				coalesce(sum(r.amount) FILTER (WHERE r.status = 'SUCCEEDED'), 0)::numeric(14, 2), count(*) FILTER (WHERE r.status = 'FAILED'))
			FROM (SELECT count(DISTINCT b.id) AS n FROM bookings AS b JOIN cancellations AS c ON c.booking_id = b.id AND c.status = 'DONE'
				WHERE b.trip_id = $1 AND b.status = 'CANCELLED' AND c.done_at >= $2) AS b
			LEFT JOIN (SELECT r.* FROM refunds AS r JOIN bookings AS b ON b.id = r.booking_id
				WHERE b.trip_id = $1 AND EXISTS (SELECT FROM cancellations WHERE refund_id = r.id AND done_at >= $2)) AS r ON true
			GROUP BY b.n`, trip, c.RequestedAt)
		if err != nil {
			return nil, err
		}

		if len(is) != 1 || is[0] != said {
			found = append(found, fmt.Sprintf("trip %s: the API says %s; the books %v", trip, said, is))
		}
	}

	return found, nil
}
