package bookings_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

func TestCreateBooking(t *testing.T) {
	t.Parallel()

	t.Run("takes seats and computes the amount", func(t *testing.T) {
		t.Parallel()
		b := setup(t)

		booking := b.Book(t, b.Trip, 2)
		require.Equal(t, "230.00", booking.Amount.String())
		require.Equal(t, "30.00", booking.VATAmount.String())
		require.Equal(t, models.BookingPendingPayment, booking.Status)
		require.Equal(t, b.Provider.ID, booking.ProviderID)
		require.WithinDuration(t, booking.CreatedAt.Add(30*time.Minute), booking.HoldUntil, time.Second)

		read, err := b.Store.Bookings.BookingByID(t.Context(), booking.ID)
		require.NoError(t, err)
		require.Len(t, read.Passengers, 2)
		require.Equal(t, "D1", read.Passengers[0].DocumentNumber)

		trip, err := b.Store.Catalogue.CatalogueTrip(t.Context(), b.Trip.ID, time.Now())
		require.NoError(t, err)
		require.Equal(t, 38, trip.SeatsLeft())
	})

	t.Run("holds seats longer for a bill", func(t *testing.T) {
		t.Parallel()
		b := setup(t)

		n := b.Request(b.Trip, 1)
		n.Method, n.Locale = models.MethodBillPayment, ""
		booking, err := b.Store.Bookings.CreateBooking(t.Context(), n, time.Now())
		require.NoError(t, err)
		require.WithinDuration(t, booking.CreatedAt.Add(72*time.Hour), booking.HoldUntil, time.Second)
		require.Equal(t, models.LocaleArabic, booking.Locale)
	})

	t.Run("refuses", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.Audit.Tampered(t, "its trips have seats taken that nobody has booked", "trip-seats")

		past := time.Now().Add(-time.Hour)

		for name, c := range map[string]struct {
			edit func(*models.Trip)
			want models.Code
		}{
			"a draft":           {func(x *models.Trip) { x.Status = models.TripDraft }, models.CodeTripNotBookable},
			"a cancelled trip":  {func(x *models.Trip) { x.Status = models.TripCancelled }, models.CodeTripNotBookable},
			"a departed trip":   {func(x *models.Trip) { x.DepartureAt = past }, models.CodeTripNotBookable},
			"a deleted trip":    {func(x *models.Trip) { x.DeletedAt = &past }, models.CodeValidation},
			"a full trip":       {func(x *models.Trip) { x.SeatsTaken = 4 }, models.CodeTripCapacityReached},
			"an unknown trip":   {nil, models.CodeValidation},
			"more than is left": {func(x *models.Trip) { x.SeatsTaken = 3 }, models.CodeTripCapacityReached},
		} {
			trip := models.Trip{ID: models.NewID()}
			if c.edit != nil {
				trip = b.InsertTrip(t, 4, c.edit)
			}

			_, err := b.Store.Bookings.CreateBooking(t.Context(), b.Request(trip, 2), time.Now())
			require.Equal(t, c.want, models.CodeOf(err), name)
		}

		for _, passengers := range []int{0, 21} {
			_, err := b.Store.Bookings.CreateBooking(t.Context(), b.Request(b.Trip, passengers), time.Now())
			bookstest.RequireCode(t, models.CodeValidation, err)
		}

		b.Exec(t, "UPDATE providers SET status = 'INACTIVE'")
		_, err := b.Store.Bookings.CreateBooking(t.Context(), b.Request(b.Trip, 1), time.Now())
		bookstest.RequireCode(t, models.CodeValidation, err)

		require.Zero(t, b.Count(t, "SELECT count(*) FROM bookings"))
		require.Zero(t, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
	})
}

func TestCreateBookingInParallel(t *testing.T) {
	t.Parallel()

	t.Run("forty customers and five seats", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		trip := b.InsertTrip(t, 5, nil)

		var booked, full, other atomic.Int32

		bookstest.Parallel(40, func(int) {
			_, err := b.Store.Bookings.CreateBooking(t.Context(), b.Request(trip, 1), time.Now())

			switch {
			case err == nil:
				booked.Add(1)
			case models.CodeOf(err) == models.CodeTripCapacityReached:
				full.Add(1)
			default:
				other.Add(1)
			}
		})

		require.EqualValues(t, 5, booked.Load())
		require.EqualValues(t, 35, full.Load())
		require.Zero(t, other.Load())
		require.Equal(t, 5, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", trip.ID))
		require.Equal(t, 5, b.Count(t, "SELECT count(*) FROM bookings WHERE trip_id = $1", trip.ID))
	})
}

func TestDiscardBooking(t *testing.T) {
	t.Parallel()
	b := setup(t)

	booking := b.Book(t, b.Trip, 2)
	discarded, err := b.Store.Bookings.DiscardBooking(t.Context(), booking.ID)
	require.NoError(t, err)
	require.True(t, discarded)

	_, err = b.Store.Bookings.BookingByID(t.Context(), booking.ID)
	bookstest.RequireCode(t, models.CodeNotFound, err)
	require.Zero(t, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))

	discarded, err = b.Store.Bookings.DiscardBooking(t.Context(), booking.ID)
	require.NoError(t, err)
	require.False(t, discarded, "it is gone already")

	paying := b.Book(t, b.Trip, 2)
	b.Open(t, paying, 1)
	discarded, err = b.Store.Bookings.DiscardBooking(t.Context(), paying.ID)
	require.NoError(t, err)
	require.False(t, discarded, "an attempt has started")
	require.Equal(t, 2, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))

	late := b.Book(t, b.Trip, 3)
	released, err := b.Store.Payments.ReleaseExpiredHolds(t.Context(), 10, late.HoldUntil.Add(time.Second))
	require.NoError(t, err)
	require.Equal(t, 1, released)

	discarded, err = b.Store.Bookings.DiscardBooking(t.Context(), late.ID)
	require.NoError(t, err)
	require.True(t, discarded, "its hold is over, and nobody has heard of it")
	require.Equal(t, 2, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID), "its seats are freed once")
}

func TestDiscardBookingWhileAnAttemptOpens(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 10 {
		booking := b.Book(t, b.Trip, 1)
		a := models.Attempt{BookingID: booking.ID, Number: 1, UserID: booking.UserID, Method: models.MethodCreditCard}

		var (
			discarded           bool
			openErr, discardErr error
		)

		bookstest.Parallel(2, func(i int) {
			if i == 0 {
				_, _, openErr = b.Store.Payments.OpenPayment(t.Context(), a, time.Now)
			} else {
				discarded, discardErr = b.Store.Bookings.DiscardBooking(t.Context(), booking.ID)
			}
		})

		require.NoError(t, discardErr)

		if discarded {
			bookstest.RequireCode(t, models.CodeNotFound, openErr)
		} else {
			require.NoError(t, openErr)
		}
	}

	require.Equal(t, b.Count(t, "SELECT count(*) FROM bookings"),
		b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
}

func TestMyBookings(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Audit.Tampered(t, "it confirms a booking by SQL", "booking-status")

	first, second := b.Book(t, b.Trip, 1), b.Book(t, b.Trip, 1)
	other := b.Request(b.Trip, 1)
	other.UserID = b.Users[models.RoleAdmin].ID
	_, err := b.Store.Bookings.CreateBooking(t.Context(), other, time.Now())
	require.NoError(t, err)
	b.Exec(t, "UPDATE bookings SET status = 'CONFIRMED' WHERE id = $1", first.ID)

	all, err := b.Store.Bookings.MyBookings(t.Context(), b.Customer.ID, "", db.Page{})
	require.NoError(t, err)
	require.EqualValues(t, 2, all.Total)
	require.Equal(t, second.ID, all.Items[0].ID, "newest first")

	confirmed, err := b.Store.Bookings.MyBookings(t.Context(), b.Customer.ID, models.BookingConfirmed, db.Page{})
	require.NoError(t, err)
	require.Len(t, confirmed.Items, 1)
	require.Equal(t, first.ID, confirmed.Items[0].ID)
}

func TestLatestAttempt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)

	none, err := b.Store.Bookings.LatestAttempt(t.Context(), booking.ID)
	require.NoError(t, err)
	require.Nil(t, none)

	b.Report(t, b.Open(t, booking, 1), models.EventPaymentFailed)
	second := b.Open(t, booking, 2)

	latest, err := b.Store.Bookings.LatestAttempt(t.Context(), booking.ID)
	require.NoError(t, err)
	require.Equal(t, second.ID, latest.ID)
}
