package bookings_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookings"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// TestCreatedBookingIsTheStoredOne: what the statement is given is what is written, in every column, for every way to ask.
func TestCreatedBookingIsTheStoredOne(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for _, edit := range []func(*bookings.NewBooking){
		func(*bookings.NewBooking) {},
		func(n *bookings.NewBooking) { n.Method, n.ContactPhone = "", "none" },
		func(n *bookings.NewBooking) { n.Method = models.MethodBillPayment },
		func(n *bookings.NewBooking) {
			n.ReturnURL, n.ReturnBase, n.Locale = "https://app.test/?a=b", "https://api.test", models.LocaleEnglish
			n.Passengers[0].Name, n.ContactName = `O'Neill "سارة" \ $1`, "@id ? $2"
		},
	} {
		n := b.Request(b.Trip, 2)
		edit(&n)

		made, err := b.Store.Bookings.CreateBooking(t.Context(), n, time.Now())
		require.NoError(t, err)

		read, err := b.Store.Bookings.BookingByID(t.Context(), made.ID)
		require.NoError(t, err)

		for _, at := range []struct{ of, in *time.Time }{
			{&made.CreatedAt, &read.CreatedAt},
			{&made.UpdatedAt, &read.UpdatedAt},
			{&made.HoldUntil, &read.HoldUntil},
			{&made.BookedDepartureAt, &read.BookedDepartureAt},
		} {
			require.WithinDuration(t, *at.in, *at.of, time.Microsecond)
			*at.of = *at.in
		}

		require.True(t, read.VATRate.Equal(made.VATRate))
		made.VATRate = read.VATRate // 0.1500 and 0.15

		require.Equal(t, read, made)

		shown, err := b.Store.Bookings.ShowBooking(t.Context(), made.ID)
		require.NoError(t, err)
		require.Equal(t, read, shown.Booking)
		require.Nil(t, shown.Attempt())
		require.WithinDuration(t, b.Trip.DepartureAt, shown.Departure, time.Microsecond)
	}
}

// TestShowBookingHasTheAttemptThatCounts as LatestAttempt says.
func TestShowBookingHasTheAttemptThatCounts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)

	for n := 1; n <= 2; n++ {
		tx := b.Open(t, booking, n)

		latest, err := b.Store.Bookings.LatestAttempt(t.Context(), booking.ID)
		require.NoError(t, err)

		shown, err := b.Store.Bookings.ShowBooking(t.Context(), booking.ID)
		require.NoError(t, err)

		got := shown.Attempt()
		require.Equal(t, tx.ID, got.ID)
		require.Equal(t, latest.Reference, got.Reference)
		require.Equal(t, latest.Status, got.Status)
		require.Equal(t, latest.CheckoutURL, got.CheckoutURL)
		require.True(t, latest.ExpiresAt.Equal(got.ExpiresAt))

		b.Report(t, tx, models.EventPaymentFailed)
	}

	_, err := b.Store.Bookings.ShowBooking(t.Context(), models.NewID())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

// TestPaymentOfABookingFlushesIt: a booking's commit does not wait for the disk. The row of its payment, before which no customer is
// answered, does so for both.
func TestPaymentOfABookingFlushesIt(t *testing.T) {
	t.Parallel()

	url := storetest.Database(t)
	s, conn := storetest.OpenAt(t, url, models.DefaultPolicies())
	booking := bundle(t, s, conn)
	made := booking.Book(t, booking.Trip, 1)

	var written, name string
	require.NoError(t, conn.QueryRowContext(t.Context(), "SELECT pg_current_wal_insert_lsn()::text, current_database()").Scan(&written, &name))
	booking.Exec(t, `ALTER DATABASE "`+name+`" SET synchronous_commit = on`) // which is off on the tests' server

	s, conn = storetest.OpenAt(t, url, models.DefaultPolicies())
	_, _, err := s.Payments.OpenPayment(t.Context(), booking.Attempt(made, 1, models.MethodCreditCard), time.Now)
	require.NoError(t, err)

	var flushed bool
	require.NoError(t, conn.QueryRowContext(t.Context(), "SELECT pg_current_wal_flush_lsn() >= $1::pg_lsn", written).Scan(&flushed))
	require.True(t, flushed)
}
