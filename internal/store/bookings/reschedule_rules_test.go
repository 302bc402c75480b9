package bookings_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// leaves puts the departure of the World's trip to another moment without moving the trip: time has passed.
func (b *books) leaves(t *testing.T, at time.Time) {
	t.Helper()

	b.Audit.Tampered(t, "the test has time pass by another departure, of which there is no move", "booking-moved")
	b.Exec(t, "UPDATE trips SET departure_at = $2, return_at = $2::timestamptz + interval '3 days' WHERE id = $1", b.Trip.ID, at)
}

// tryMove has the company move the World's trip.
func (b *books) tryMove(t *testing.T, to time.Time) error {
	t.Helper()

	_, err := b.Store.Bookings.UpdateTrip(t.Context(), bookstest.As(b.World, models.RoleProviderStaff), b.Trip.ID, func(x *models.Trip) error {
		x.DepartureAt, x.ReturnAt = to, to.AddDate(0, 0, 3)

		return nil
	}, time.Now())

	return err
}

// A company cannot give people who have travelled a right to all of their money by moving the trip that has left.
func TestATripThatHasLeftIsNotMoved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	next := time.Now().AddDate(0, 0, 30)

	b.leaves(t, time.Now().Add(-time.Minute))
	require.NoError(t, b.tryMove(t, next), "without customers it may leave another time")

	tx := b.Paid(t, 1)
	b.leaves(t, time.Now().Add(-time.Second))

	for _, to := range []time.Time{next, time.Now().Add(time.Minute), time.Now().Add(-time.Hour)} {
		bookstest.RequireCode(t, models.CodeInvalidState, b.tryMove(t, to))
	}

	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM trip_moves"))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'TRIP_MOVED'"))
	require.Nil(t, b.BookingNow(t, *tx.BookingID).RescheduledBy)
	require.NotEqual(t, models.PolicyRescheduled, b.quote(t, tx, time.Now()).Reason)

	// What does not move it can still be put right.
	_, err := b.Store.Bookings.UpdateTrip(t.Context(), bookstest.As(b.World, models.RoleProviderStaff), b.Trip.ID,
		func(x *models.Trip) error { x.Title = "Corrected"; return nil }, time.Now())
	require.NoError(t, err)

	// Until it leaves it may be late, by whatever it takes.
	b.leaves(t, time.Now().Add(time.Minute))
	require.NoError(t, b.tryMove(t, next))
	require.Equal(t, models.PolicyRescheduled, b.quote(t, tx, time.Now()).Reason)
}

// A company cannot end its customers' right to their money, which lasts until the trip leaves, by having it leave at once.
func TestASoldTripIsBroughtForwardWithNotice(t *testing.T) {
	t.Parallel()

	url := storetest.Database(t)
	s, db := storetest.OpenAt(t, url, models.DefaultPolicies())
	b := bundle(t, s, db)
	leaves := time.Now().Add(30 * time.Hour).Truncate(time.Second)

	b.leaves(t, leaves.Add(10*time.Hour))
	require.NoError(t, b.tryMove(t, time.Now().Add(time.Hour)), "without customers it may leave at any time")
	require.NoError(t, b.tryMove(t, leaves))

	tx := b.Paid(t, 1)

	for _, to := range []time.Time{time.Now().Add(6 * time.Second), time.Now().Add(24*time.Hour - time.Minute)} {
		err := b.tryMove(t, to)
		bookstest.RequireFields(t, models.CodeValidation, err, "departure_at")

		var why *models.Error

		require.ErrorAs(t, err, &why)
		require.Equal(t, []string{"must leave customers at least 24h when it is brought forward"}, why.EnglishDetails()["departure_at"])
	}

	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM trip_moves"))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications WHERE kind = 'TRIP_MOVED'"))
	require.Nil(t, b.BookingNow(t, *tx.BookingID).RescheduledBy)

	require.NoError(t, b.tryMove(t, time.Now().Add(24*time.Hour+time.Minute)))
	require.Equal(t, models.PolicyRescheduled, b.quote(t, tx, time.Now().Add(24*time.Hour)).Reason)

	// Where no notice is asked for, it still may.
	p := models.DefaultPolicies()
	p.RescheduleNotice = 0
	b.Store, _ = storetest.OpenAt(t, url, p)
	require.NoError(t, b.tryMove(t, time.Now().Add(time.Hour)))
}

// What a customer has to reckon with, a move within the tolerance and a delay, is possible on the day itself.
func TestASoldTripIsMovedOnItsDay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	leaves := time.Now().Add(10 * time.Hour).Truncate(time.Second)

	b.leaves(t, leaves)
	require.True(t, b.Book(t, b.Trip, 1).BookedDepartureAt.Equal(leaves), "seats that somebody may be paying for count, too")

	bookstest.RequireFields(t, models.CodeValidation, b.tryMove(t, leaves.Add(-3*time.Hour)), "departure_at")

	require.NoError(t, b.tryMove(t, leaves.Add(-time.Hour)))
	bookstest.RequireFields(t, models.CodeValidation, b.tryMove(t, leaves.Add(-2*time.Hour-time.Minute)), "departure_at")

	// Two moves within the tolerance are one beyond it.
	require.NoError(t, b.tryMove(t, leaves.Add(5*time.Hour)))
	bookstest.RequireFields(t, models.CodeValidation, b.tryMove(t, leaves), "departure_at")
}
