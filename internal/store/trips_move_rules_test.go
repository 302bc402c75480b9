package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// leaves puts the departure of the World's trip to another moment without moving the trip: time has passed.
func (b *books) leaves(t *testing.T, at time.Time) {
	t.Helper()

	b.books.Tampered(t, "the test has time pass by another departure, of which there is no move", "booking-moved")
	b.exec(t, "UPDATE trips SET departure_at = $2, return_at = $2::timestamptz + interval '3 days' WHERE id = $1", b.Trip.ID, at)
}

// tryMove has the company move the World's trip.
func (b *books) tryMove(t *testing.T, to time.Time) error {
	t.Helper()

	_, err := b.s.UpdateTrip(t.Context(), b.Trip.ID, func(x *models.Trip) error {
		x.DepartureAt, x.ReturnAt = to, to.AddDate(0, 0, 3)

		return nil
	}, as(b.World, models.RoleProviderStaff))

	return err
}

// A company cannot give people who have travelled a right to all of their money by moving the trip that has left.
func TestATripThatHasLeftIsNotMoved(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	next := time.Now().AddDate(0, 0, 30)

	b.leaves(t, time.Now().Add(-time.Minute))
	require.NoError(t, b.tryMove(t, next), "without customers it may leave another time")

	tx := b.paid(t, 1)
	b.leaves(t, time.Now().Add(-time.Second))

	for _, to := range []time.Time{next, time.Now().Add(time.Minute), time.Now().Add(-time.Hour)} {
		requireCode(t, models.CodeInvalidState, b.tryMove(t, to))
	}

	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM trip_moves"))
	require.Zero(t, b.count(t, "SELECT count(*) FROM notifications WHERE kind = 'TRIP_MOVED'"))
	require.Nil(t, b.bookingNow(t, *tx.BookingID).RescheduledBy)
	require.NotEqual(t, models.PolicyRescheduled, b.quote(t, tx, time.Now()).Reason)

	// What does not move it can still be put right.
	_, err := b.s.UpdateTrip(t.Context(), b.Trip.ID, func(x *models.Trip) error { x.Title = "Corrected"; return nil },
		as(b.World, models.RoleProviderStaff))
	require.NoError(t, err)

	// Until it leaves it may be late, by whatever it takes.
	b.leaves(t, time.Now().Add(time.Minute))
	require.NoError(t, b.tryMove(t, next))
	require.Equal(t, models.PolicyRescheduled, b.quote(t, tx, time.Now()).Reason)
}
