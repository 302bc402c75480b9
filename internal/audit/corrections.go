package audit

// passengerNames follows each corrected name from its first correction to what the booking says now. There are few corrections: all are
// looked at, with their entries of the audit log, however old.
func passengerNames() check {
	return check{
		needs: "passenger_renames", reach: besides,
		rules: []Rule{{"passenger-name", "The corrections of a passenger's name follow from each other, each with an entry of the audit log, " +
			"and the booking has the name of the last one."}},
		sql: `
WITH r AS (
    SELECT *, row_number() OVER w AS k, lag(after_digest) OVER w AS earlier,
           count(*) OVER (PARTITION BY booking_id, position) AS of
    FROM passenger_renames WINDOW w AS (PARTITION BY booking_id, position ORDER BY n))
SELECT 'passenger-name', 'booking', r.booking_id, format('passenger %s, correction %s of %s', r.position, r.n, r.of)
FROM r JOIN bookings AS b ON b.id = r.booking_id
WHERE r.n <> r.k OR r.earlier <> r.before_digest
   OR (r.k = r.of AND r.after_digest IS DISTINCT FROM
       sha256(convert_to(b.id::text || ':' || (b.passengers -> (r.position - 1) ->> 'name'), 'UTF8')))
   OR (r.created_at >= ` + logArchivedUntil + ` AND NOT EXISTS (
       SELECT FROM audit_log AS a WHERE a.entity = 'booking' AND a.entity_id = r.booking_id AND a.action = 'BOOKING_CORRECTED'
           AND a.actor_id = r.renamed_by AND a.created_at = r.created_at))`,
	}
}
