package audit

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/internal/store/seed"
	"rihla/internal/store/tripcancel"
	"rihla/models"
)

// callOff sells a seat of another trip, which two people call off then.
func (w *world) callOff(t *testing.T) {
	t.Helper()

	trip, was := w.NewTrip("Called off", 10), w.Trip
	trip.PricePerSeat = models.MustMoney("25000.00")
	require.NoError(t, seed.Of(w.s).InsertDemo(t.Context(), seed.DemoData{Trips: []models.Trip{trip}}))

	w.Trip = trip
	w.calledOff = w.paid(t)
	w.Trip = was

	company := db.Actor{
		UserID: w.Users[models.RoleProviderAdmin].ID, Role: models.RoleProviderAdmin, ProviderID: w.Provider.ID, RequestID: "req-4",
	}
	_, err := w.s.TripCancellations.Order(t.Context(), company, tripcancel.Order{
		TripID: trip.ID, Reason: "The bus broke down", Expected: w.calledOff.Amount,
	}, time.Now())
	require.NoError(t, err)

	c, err := w.s.TripCancellations.Decide(t.Context(), w.finance, tripcancel.Decision{TripID: trip.ID, Approve: true}, time.Now())
	require.NoError(t, err)

	done, err := w.s.TripCancellations.CancelBooking(t.Context(), c.ID, *w.calledOff.BookingID, time.Now())
	require.NoError(t, err)

	r, err := w.s.Refunds.RefundByID(t.Context(), done.Refund.ID)
	require.NoError(t, err)
	w.settle(t, r, models.RefundSucceeded)

	ended, err := w.s.TripCancellations.Finish(t.Context(), c.ID, time.Now())
	require.NoError(t, err)
	require.True(t, ended)

	w.tripOff = trip.ID
}

// tripTamperings are about trips that are called off.
func tripTamperings(w *world) []tampering {
	changed := func(rule, name, what string, others ...string) tampering {
		return tampering{rule, name, "UPDATE trip_cancellations SET " + what + " WHERE trip_id = $1", []any{w.tripOff}, of(w.tripOff), others}
	}
	booking := func(*testing.T) uuid.UUID { return *w.calledOff.BookingID }

	return []tampering{
		{"trip-cancellation", "a trip that runs", "UPDATE trips SET status = 'PUBLISHED' WHERE id = $1", []any{w.tripOff}, of(w.tripOff), nil},
		{
			"trip-cancellation", "a booking that is live", "UPDATE bookings SET status = 'PENDING_PAYMENT', seats_held = true WHERE id = $1",
			[]any{w.calledOff.BookingID},
			of(w.tripOff),
			[]string{"booking-status", "trip-seats"},
		},
		changed("trip-cancellation", "one that goes on", "status = 'CANCELLING', done_at = NULL"),
		changed("trip-cancellation-approval", "on one person's word", "decided_by = requested_by"),
		changed("trip-cancellation-approval", "without an approval", "approval_until = NULL, decided_by = NULL, decided_at = NULL"),
		{
			"refund-payout", "paid out by who called the trip off", `WITH p AS (
				UPDATE refunds SET booking_id = $2, requested_by = NULL, cause = 'TRIP_CANCELLED' WHERE id = $1)
			UPDATE trip_cancellations SET requested_by = (SELECT decided_by FROM refund_payouts WHERE refund_id = $1) WHERE trip_id = $3`,
			[]any{w.byHand.ID, w.calledOff.BookingID, w.tripOff},
			of(w.byHand.ID),
			[]string{"refund-subject"},
		},
		{
			"trip-cancellation-refund", "before anybody approved it", "UPDATE trip_cancellations SET decided_at = decided_at + interval '1 day' WHERE trip_id = $1",
			[]any{w.tripOff},
			booking,
			nil,
		},
	}
}
