package invariants

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"rihla/models"
)

var aboutSubjects = []Invariant{
	{
		"room-for-all", "a trip with seats for all who asked is never answered as sold out, and a late payment still buys them",
		roomForAll,
	},
	{
		"customer-is-told",
		"each confirmed booking and each refund has one email and one SMS in the outbox",
		rows(`SELECT format('payment %s: %s messages', t.id, count(n.id)) FROM payment_transactions AS t
			LEFT JOIN notifications AS n ON n.transaction_id = t.id AND n.kind = 'PAYMENT_SUCCEEDED'
			WHERE t.status = 'PAID' AND t.booking_id IS NOT NULL GROUP BY t.id HAVING count(n.id) <> 2
			UNION ALL SELECT format('refund %s: %s messages', r.id, count(n.id)) FROM refunds AS r
			LEFT JOIN notifications AS n ON n.transaction_id = r.refund_transaction_id AND n.kind = 'REFUND_SUCCEEDED'
			WHERE r.status = 'SUCCEEDED' AND r.booking_id IS NOT NULL GROUP BY r.id HAVING count(n.id) <> 2`),
	},
	{"message-delivered", "every message that is SENT was delivered to the mail server or SMS service", delivered},
	{
		"incident-has-a-cause", "every fault at the gateway that needs a person has an incident, and there is no other",
		rows(`SELECT format('incident %s (%s) of payment %s: %s', i.id, i.kind, i.payment_transaction_id, i.message) FROM incidents AS i
			LEFT JOIN payment_transactions AS t ON t.id = i.payment_transaction_id LEFT JOIN refunds AS r ON r.id = i.refund_id
			WHERE NOT CASE i.kind
				WHEN 'AMOUNT_MISMATCH' THEN EXISTS (SELECT FROM webhook_events AS e WHERE e.transaction_id = t.id AND e.amount <> t.amount)
				WHEN 'CURRENCY_MISMATCH' THEN EXISTS (SELECT FROM webhook_events AS e WHERE e.transaction_id = t.id AND e.currency <> 'SAR')
				WHEN 'LATE_PAYMENT' THEN t.status = 'FAILED' AND t.captured_at IS NOT NULL
				WHEN 'REFUND_FAILED' THEN r.status = 'FAILED' OR r.returned_at IS NOT NULL OR r.turned_manual_at IS NOT NULL
				WHEN 'OUTSIDE_REFUND' THEN EXISTS (SELECT FROM jsonb_to_recordset($2::jsonb) AS d(checkout_id text)
					WHERE d.checkout_id = t.reference)
				WHEN 'TRIP_CANCELLATION_BLOCKED' THEN EXISTS (SELECT FROM trip_cancellations AS o
					LEFT JOIN bookings AS b ON b.trip_id = o.trip_id AND b.id = i.booking_id
					LEFT JOIN ad_campaigns AS a ON a.trip_id = o.trip_id AND a.id = i.ad_campaign_id
					JOIN payment_transactions AS p ON p.booking_id = b.id OR p.ad_campaign_id = a.id
					JOIN refunds AS f ON f.payment_transaction_id = p.id AND (f.cause <> 'TRIP_CANCELLED' OR f.requested_by IS NOT NULL))
				WHEN 'UNKNOWN_REFERENCE' THEN EXISTS (SELECT FROM jsonb_array_elements(i.details -> 'events') AS d
					WHERE $1::jsonb ? (d ->> 'webhook_id'))
				ELSE false END
			UNION ALL SELECT format('event %s of the gateway (checkout %s) belongs to nothing here', webhook_id, checkout_id)
			FROM webhook_events WHERE transaction_id IS NULL AND NOT $1::jsonb ? webhook_id`, madeUp, outsideRefunds),
	},
}

// delivered looks for the file that every message has become.
func delivered(ctx context.Context, s *Evidence) ([]string, error) {
	found, err := s.Env.DB.QueryContext(ctx, "SELECT id, channel FROM notifications WHERE status = 'SENT'")
	if err != nil {
		return nil, err
	}
	defer found.Close()

	var missing []string

	for found.Next() {
		var (
			id      uuid.UUID
			channel models.NotificationChannel
		)

		if err := found.Scan(&id, &channel); err != nil {
			return nil, err
		}

		name := id.String() + ".eml"
		if channel == models.NotifySMS {
			name = id.String() + ".sms.txt"
		}

		if _, err := os.Stat(filepath.Join(s.Env.Outbox(), name)); err != nil {
			missing = append(missing, fmt.Sprintf("%s %s is SENT: %v", channel, id, err))
		}
	}

	return missing, found.Err()
}

// roomForAll goes by what the schedule says of a trip, and not by what the service has kept of it.
func roomForAll(ctx context.Context, s *Evidence) ([]string, error) {
	var found []string

	for _, customer := range s.Run.SoldOut {
		if trip := s.Run.TripOf(customer); s.Run.TripsWithRoom()[trip] {
			found = append(found, fmt.Sprintf("customer %d was told that trip %s is sold out", customer+1, trip))
		}
	}

	for trip := range s.Run.TripsWithRoom() {
		refused, err := texts(ctx, s.Env.DB, `SELECT format('booking %s is %s, although payment %s of it was taken', b.id, b.status, t.id)
			FROM bookings AS b JOIN payment_transactions AS t ON t.booking_id = b.id AND t.status = 'FAILED' AND t.captured_at IS NOT NULL
			WHERE b.trip_id = $1 AND b.status = 'PAYMENT_FAILED'`, trip)
		if err != nil {
			return nil, err
		}

		found = append(found, refused...)
	}

	return found, nil
}
