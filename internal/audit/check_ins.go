package audit

// checkIns allow for clocks: of devices, and of what waited for a lock.
func checkIns() check {
	return check{
		needs: "check_ins",
		rules: []Rule{
			{"check-in", "A check-in is of a passenger of a paid booking, on the trip that was booked, and not of one who had been cancelled."},
			{"check-in-moment", "A passenger was checked in before the device reported it, and not more than a day, by its clock, before the " +
				"booking was made."},
		},
		sql: `
SELECT 'check-in', 'booking', i.booking_id,
       format('passenger %s of %s on trip %s; %s, %s, cancelled at %s', i.position, jsonb_array_length(b.passengers), i.trip_id, b.status,
              b.trip_id, c.done_at)
FROM check_ins AS i JOIN bookings AS b ON b.id = i.booking_id
LEFT JOIN cancelled_passengers AS p ON p.booking_id = i.booking_id AND p.position = i.position
LEFT JOIN cancellations AS c ON c.id = p.cancellation_id
WHERE i.trip_id <> b.trip_id OR i.position > jsonb_array_length(b.passengers) OR b.status NOT IN ('CONFIRMED', 'CANCELLED')
   OR c.done_at < i.created_at - interval '1 hour'
UNION ALL
SELECT 'check-in-moment', 'booking', i.booking_id,
       format('booked %s, checked in %s, reported %s', b.created_at, i.checked_in_at, i.created_at)
FROM check_ins AS i JOIN bookings AS b ON b.id = i.booking_id
WHERE i.checked_in_at < b.created_at - interval '24 hours' OR i.checked_in_at > i.created_at`,
	}
}
