package invariants

var aboutMoves = []Invariant{
	{
		"bought-is-kept", "a booking keeps the departure with which it was answered, however its trip moves",
		rows(`SELECT format('booking %s was answered with departure %s, and says %s now', b.id, g.leaves, b.booked_departure_at)
			FROM jsonb_to_recordset($1::jsonb) AS g(id uuid, leaves timestamptz) JOIN bookings AS b ON b.id = g.id
			WHERE b.booked_departure_at <> g.leaves`, bookedDepartures),
	},
	{
		"moved-is-told",
		"the last message about a confirmed booking has the present departure; unpaid bookings get none",
		rows(`SELECT format('trip %s was moved to %s; booking %s has %s messages of that, and was told %s when it was paid',
				m.trip_id, m.departure_to, b.id, told.n, paid.departures)
			FROM (SELECT DISTINCT ON (trip_id) * FROM trip_moves ORDER BY trip_id, moved_at DESC) AS m
			JOIN bookings AS b ON b.trip_id = m.trip_id AND b.status = 'CONFIRMED'
			JOIN payment_transactions AS t ON t.booking_id = b.id AND t.status = 'PAID'
			CROSS JOIN LATERAL (SELECT count(*) AS n FROM notifications AS n
				WHERE n.transaction_id = t.id AND n.kind = 'TRIP_MOVED' AND n.cause = m.id::text) AS told
			CROSS JOIN LATERAL (SELECT array_agg(DISTINCT (n.data ->> 'departure_at')::timestamptz) AS departures FROM notifications AS n
				WHERE n.transaction_id = t.id AND n.kind = 'PAYMENT_SUCCEEDED') AS paid
			WHERE told.n <> CASE WHEN paid.departures = ARRAY[m.departure_to] THEN told.n ELSE 2 END OR told.n NOT IN (0, 2)
			UNION ALL SELECT format('message %s about a move is for payment %s, which is %s', n.id, t.id, t.status)
			FROM notifications AS n JOIN payment_transactions AS t ON t.id = n.transaction_id
			WHERE n.kind = 'TRIP_MOVED' AND t.status <> 'PAID'`),
	},
	{
		"policy-of-the-booking", "a customer who booked weeks before departure gets a full refund by the policy, however the trip moved",
		rows(`SELECT format('refund %s by the policy is %s %% (%s) of a trip that left at %s when it was booked at %s',
				r.id, r.policy_percent, r.policy_reason, b.booked_departure_at, b.created_at)
			FROM refunds AS r JOIN bookings AS b ON b.id = r.booking_id
			WHERE r.refund_type = 'POLICY' AND b.booked_departure_at > r.created_at + interval '72 h' AND r.policy_percent <> 100`),
	},
}

// bookedDepartures are those of the bookings that were answered.
func bookedDepartures(s *Evidence) any {
	all := []map[string]any{}

	for _, b := range s.Run.Bookings {
		if b != nil {
			all = append(all, map[string]any{"id": b.ID, "leaves": b.DepartureAtBooking})
		}
	}

	return asJSON(all)
}
