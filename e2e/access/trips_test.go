package access_test

import (
	"net/http"
	"testing"

	"rihla/models"
)

// aboutTrips makes the requests by which trips are called off.
func (w *world) aboutTrips(t *testing.T, c cell) request {
	t.Helper()

	switch c.operation {
	case "PreviewReschedule":
		return request{ids: w.of(t, c, "Trip", false), query: "?departure_at=2099-01-01T05:00:00Z"}
	case "PreviewTripCancellation":
		return request{ids: w.of(t, c, "Trip", false)}
	case "CancelTrip":
		return request{ids: w.published(t, c), body: object{"reason": "The bus broke down", "expected_refund_total": 0}}
	case "GetTripCancellation":
		return request{ids: w.calledOff(t, c, w.of(t, c, "Trip", c.want == http.StatusOK))}
	case "ApproveTripCancellation":
		return request{ids: w.calledOff(t, c, w.pendingTrip(t, c)), body: object{}}
	case "RejectTripCancellation":
		return request{ids: w.calledOff(t, c, w.pendingTrip(t, c)), body: object{"note": "It runs after all"}}
	default:
		return w.aboutBookings(t, c)
	}
}

// published is a trip that can be called off.
func (w *world) published(t *testing.T, c cell) []string {
	t.Helper()

	ids := w.of(t, c, "Trip", c.want == http.StatusAccepted)
	if c.want == http.StatusAccepted {
		w.exec(t, "UPDATE trips SET status = 'PUBLISHED' WHERE id = $1", ids[0])
	}

	return ids
}

func (w *world) pendingTrip(t *testing.T, c cell) []string {
	t.Helper()

	if c.want == http.StatusOK {
		return []string{w.make(t, "Trip", "A").String()}
	}

	return kept(c, w.shared["Trip A"])
}

// calledOff has the company's admin call the trip off, which waits for a second person, for requests that succeed.
func (w *world) calledOff(t *testing.T, c cell, ids []string) []string {
	t.Helper()

	if c.want == http.StatusOK {
		w.exec(t, "UPDATE trips SET status = 'CANCELLING' WHERE id = $1", ids[0])
		w.exec(t, `INSERT INTO trip_cancellations (id, trip_id, reason, bookings, seats, refund_total, clawback_total, open_checkouts,
				campaigns, requested_by, requested_at, approval_above, approval_until, approval_pending)
			VALUES (gen_random_uuid(), $1, 'The bus broke down', 1, 1, 115, 0, 0, 0, $2, now(), 100, now() + interval '1 day', true)`,
			ids[0], w.companies["A"].World.Users[models.RoleProviderAdmin].ID)
	}

	return ids
}
