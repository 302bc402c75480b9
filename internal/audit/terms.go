package audit

// bookingTerms: a trip that has been changed since the booking was made may have been moved, which booking-moved looks at. Both
// times are needed: trips.updated_at is the beginning of a transaction, which may have waited for the booking, and moved_at is taken
// under the trip's lock, as the booking's created_at is, but only while the trip is on sale.
func bookingTerms() check {
	return check{
		needs: "bookings.terms_digest",
		rules: []Rule{{"booking-terms", "The departure and the schedule of a booking are those that it was made with; the departure is that " +
			"of its trip, where the trip has not been changed since."}},
		sql: `
SELECT 'booking-terms', 'booking', b.id,
       format('made at %s for %s by %s; its trip, changed at %s, leaves at %s', b.created_at, b.booked_departure_at,
              coalesce(b.booked_schedule, 'no schedule'), t.updated_at, t.departure_at)
FROM bookings AS b JOIN trips AS t ON t.id = b.trip_id
WHERE b.terms_digest IS DISTINCT FROM sha256(convert_to(json_build_array(b.id, b.trip_id,
          (extract(epoch FROM b.created_at) * 1000000)::bigint, (extract(epoch FROM b.booked_departure_at) * 1000000)::bigint,
          b.booked_schedule)::text, 'UTF8'))
   OR (t.updated_at < b.created_at AND t.departure_at <> b.booked_departure_at
       AND NOT EXISTS (SELECT FROM trip_moves AS m WHERE m.trip_id = b.trip_id AND m.moved_at > b.created_at))
   OR (b.booked_schedule IS NULL
       AND b.created_at >= (SELECT m.migrated_at + interval '1 day' FROM bun_migrations AS m WHERE m.name = '0016'))`,
	}
}
