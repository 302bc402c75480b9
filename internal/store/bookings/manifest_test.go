package bookings_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// TestManifest: the passengers who travel, with whole document numbers, in its time alone, and noted.
func TestManifest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	staff := bookstest.As(b.World, models.RoleProviderStaff)
	id := *b.Paid(t, 3).BookingID
	b.Book(t, b.Trip, 1)
	b.cancelOne(t, id, 2)

	open := b.Trip.DepartureAt.Add(-48 * time.Hour)
	b.checkIn(t, staff, open, boarded(id, 3, "a", open))

	trip, all, err := b.Store.Bookings.Manifest(t.Context(), staff, b.Trip.ID, open)
	require.NoError(t, err)
	require.Equal(t, b.Trip.ID, trip.ID)
	require.Len(t, all, 2)
	require.Equal(t, models.Passenger{Name: "Passenger", DocumentNumber: "D1"}, all[0].Passenger)
	require.Equal(t, []int{1, 3}, []int{all[0].Position, all[1].Position})
	require.Equal(t, models.PassengerID(id, 3), all[1].ID)
	require.Nil(t, all[0].CheckedInAt)
	require.True(t, open.Equal(*all[1].CheckedInAt))
	require.Equal(t, "+966500000000", all[0].ContactPhone)

	const noted = "SELECT count(*) FROM audit_log WHERE action = 'TRIP_MANIFEST_READ' AND entity_id = $1 AND details = '{\"passengers\": 2}'"
	require.Equal(t, 1, b.Count(t, noted, b.Trip.ID))

	_, _, err = b.Store.Bookings.Manifest(t.Context(), staff, b.Trip.ID, b.Trip.ReturnAt.Add(48*time.Hour))
	require.NoError(t, err)

	for name, now := range map[string]time.Time{
		"too early": open.Add(-time.Second), "too late": b.Trip.ReturnAt.Add(48*time.Hour + time.Second),
	} {
		_, _, err = b.Store.Bookings.Manifest(t.Context(), staff, b.Trip.ID, now)
		require.Equal(t, models.CodeInvalidState, models.CodeOf(err), name)
	}

	company := storetest.Fixture(t, b.Store)

	_, _, err = b.Store.Bookings.Manifest(t.Context(), bookstest.As(company, models.RoleProviderAdmin), b.Trip.ID, open)
	require.Equal(t, models.CodeNotFound, models.CodeOf(err))

	_, _, err = b.Store.Bookings.Manifest(t.Context(), bookstest.As(b.World, models.RoleSupportAgent), b.Trip.ID, open)
	require.Equal(t, models.CodeForbidden, models.CodeOf(err))
}

func TestTicketed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := *b.Paid(t, 2).BookingID
	b.cancelOne(t, id, 1)

	read, err := b.Store.Bookings.Ticketed(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, []int{2}, read.Booking.LivePositions())

	b1, err := b.Store.Bookings.BookingByID(t.Context(), id)
	require.NoError(t, err)

	b1.CancelledPositions = []int{1}
	require.Equal(t, b1, read.Booking)

	trip := models.Trip{ID: b.Trip.ID, ProviderName: read.Trip.ProviderName}
	require.NoError(t, b.Store.DB.NewSelect().Model(&trip).WherePK().Scan(t.Context()))
	require.Equal(t, trip, read.Trip, "all of it, under its own names")
	require.Equal(t, "Test Tours", read.Trip.ProviderName)
	require.Equal(t, "+966500000000", read.CompanyPhone)

	_, err = b.Store.Bookings.Ticketed(t.Context(), b.Trip.ID)
	require.Equal(t, models.CodeNotFound, models.CodeOf(err))
}
