package audit

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/models"
)

// TestABookingWhileItsTripIsMoved lets a customer book after the transaction of a move has begun and before it has locked the
// trip: the trip's updated_at is then earlier than the booking, which is of the departure before the move all the same.
func TestABookingWhileItsTripIsMoved(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	staff := db.Actor{
		UserID: w.Users[models.RoleProviderAdmin].ID, Role: models.RoleProviderAdmin, ProviderID: w.Trip.ProviderID, RequestID: "req-1",
	}

	var booked models.Booking

	trip, err := w.s.Bookings.UpdateTrip(t.Context(), staff, w.Trip.ID, func(trip *models.Trip) error {
		if booked.ID == uuid.Nil {
			booked = w.book(t)
		}

		trip.DepartureAt = w.Trip.DepartureAt.Add(time.Hour)

		return nil
	}, time.Now())
	require.NoError(t, err)
	require.True(t, trip.UpdatedAt.Before(booked.CreatedAt), "the move began before the booking")
	require.False(t, trip.DepartureAt.Equal(booked.BookedDepartureAt))

	sum, err := Run(t.Context(), w.db, func(d Difference) error {
		t.Errorf("%s", d)

		return nil
	})
	require.NoError(t, err)
	require.Empty(t, sum.Unseen)
}
