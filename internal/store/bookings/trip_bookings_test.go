package bookings_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookings"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// TestTripBookings: the list has the trip's bookings and no other's, by state and page by page, each as its company may see it.
func TestTripBookings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := b.InsertTrip(t, 40, nil)
	b.Book(t, other, 1)

	paid := b.Paid(t, 2)
	unpaid := b.Book(t, b.Trip, 1)

	trip, staff := b.Trip, bookstest.As(b.World, models.RoleProviderStaff)

	list := func(f bookings.TripBookingFilter, now time.Time) db.Listed[models.Booking] {
		t.Helper()

		found, err := b.Store.Bookings.TripBookings(t.Context(), staff, trip.ID, f, now)
		require.NoError(t, err)

		return found
	}

	all := list(bookings.TripBookingFilter{}, time.Now())
	require.EqualValues(t, 2, all.Total)
	require.Equal(t, []uuid.UUID{*paid.BookingID, unpaid.ID}, []uuid.UUID{all.Items[0].ID, all.Items[1].ID}, "oldest first")
	require.Equal(t, "+966500000000", all.Items[0].ContactPhone)
	require.Empty(t, all.Items[1].ContactPhone, "not paid")

	for _, booking := range all.Items {
		require.Empty(t, booking.ContactEmail+booking.ContactName)

		for _, p := range booking.Passengers {
			require.Equal(t, models.Passenger{Name: "Passenger", DocumentNumber: "****"}, p)
		}
	}

	confirmed := list(bookings.TripBookingFilter{Status: models.BookingConfirmed}, trip.ReturnAt.Add(48*time.Hour))
	require.Len(t, confirmed.Items, 1)
	require.Empty(t, confirmed.Items[0].ContactPhone, "two days after the end")

	first := list(bookings.TripBookingFilter{Page: db.Page{PerPage: 1, Sort: []db.Sort{{Field: "booking_number"}}}}, time.Now())
	second := list(bookings.TripBookingFilter{Page: db.Page{PerPage: 1, Cursor: first.Next}}, time.Now())
	require.Less(t, first.Items[0].Number, second.Items[0].Number)
	require.Empty(t, second.Next)

	company := storetest.Fixture(t, b.Store)
	foreign := bookstest.As(company, models.RoleProviderStaff)

	for name, c := range map[string]struct {
		by   db.Actor
		trip uuid.UUID
		page db.Page
		code models.Code
	}{
		"another company's trip": {foreign, trip.ID, db.Page{}, models.CodeNotFound},
		"no trip":                {staff, uuid.New(), db.Page{}, models.CodeNotFound},
		"a customer":             {bookstest.As(b.World, models.RoleEndUser), trip.ID, db.Page{}, models.CodeForbidden},
		"an order":               {staff, trip.ID, db.Page{Sort: []db.Sort{{Field: "contact_phone"}}}, models.CodeValidation},
		"a cursor":               {foreign, trip.ID, db.Page{Cursor: "-"}, models.CodeValidation},
	} {
		_, err := b.Store.Bookings.TripBookings(t.Context(), c.by, c.trip, bookings.TripBookingFilter{Page: c.page}, time.Now())
		require.Equal(t, c.code, models.CodeOf(err), "%s: %v", name, err)
	}

	admin, err := b.Store.Bookings.TripBookings(
		t.Context(), bookstest.As(company, models.RoleAdmin), trip.ID, bookings.TripBookingFilter{}, time.Now())
	require.NoError(t, err)
	require.Len(t, admin.Items, 2)
	require.Equal(t, "****", admin.Items[0].Passengers[0].DocumentNumber)
}
