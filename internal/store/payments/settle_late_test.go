package payments_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

func TestLateSuccessWithinTheHold(t *testing.T) {
	t.Parallel()

	for _, why := range []models.FailureCode{models.FailureDeclined, models.FailureExpired, models.FailureCancelled, models.FailureGatewayRejected} {
		t.Run(string(why), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			booking := b.Book(t, b.Trip, 1)
			tx := b.Open(t, booking, 1)
			_, err := b.Store.Payments.EndPayment(t.Context(), tx.ID, why, "words", time.Now())
			require.NoError(t, err)

			stored := b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
			require.True(t, stored.Deliver && stored.Ended, "another workflow has to deal with it")
			require.Equal(t, models.Settled{Moved: true, Status: models.TransactionPaid, Queued: 2}, b.Settle(t, tx, time.Now()))
			require.Equal(t, models.BookingConfirmed, b.BookingNow(t, booking.ID).Status)
			require.Nil(t, b.Transaction(t, tx.ID).FailureCode)
			require.Empty(t, b.Transaction(t, tx.ID).FailureReason)
			require.Empty(t, b.Incidents(t))
		})
	}
}

func TestLateSuccessRetakesTheSeats(t *testing.T) {
	t.Parallel()
	b := setup(t)
	trip := b.InsertTrip(t, 3, nil)
	tx := b.Lapsed(t, trip, 3)
	require.Zero(t, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", trip.ID))

	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	require.Equal(t, models.Settled{Moved: true, Status: models.TransactionPaid, Queued: 2}, b.Settle(t, tx, time.Now()))
	require.Equal(t, models.BookingConfirmed, b.BookingNow(t, *tx.BookingID).Status)
	require.Equal(t, 3, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", trip.ID))
}

func TestLateSuccessThatCannotBeConfirmed(t *testing.T) {
	t.Parallel()

	tests := []struct{ name, because string }{
		{"the seats are gone", "UPDATE trips SET capacity = 1 WHERE id = $1"},
		{"the trip is cancelled", "UPDATE trips SET status = 'CANCELLED' WHERE id = $1"},
		{"the trip is deleted", "UPDATE trips SET deleted_at = now() WHERE id = $1"},
		{"the trip has left", "UPDATE trips SET updated_at = now(), departure_at = now() - interval '1 minute' WHERE id = $1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			trip := b.InsertTrip(t, 3, nil)
			tx := b.Lapsed(t, trip, 2)
			b.Exec(t, tt.because, trip.ID)

			e := bookstest.Event(tx, models.EventPaymentSucceeded, nil)
			b.Deliver(t, e)
			b.RequireOwed(t, tx, b.Settle(t, tx, time.Now()), models.FailureExpired)
			require.Equal(t, "APPLIED", b.Outcome(t, e))
			require.Equal(t, models.BookingPaymentFailed, b.BookingNow(t, *tx.BookingID).Status)

			// The same money reported again is no second debt; until it has gone back the refund stays owed.
			again := bookstest.Event(tx, models.EventPaymentSucceeded, nil)
			require.True(t, b.Deliver(t, again).Duplicate)
			s := b.Settle(t, tx, time.Now())
			require.True(t, s.RefundOwed)
			require.False(t, s.NeedsReview)
			require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ledger_transfers"))
		})
	}
}

// A campaign can be edited after an attempt has failed: money that arrives late for that attempt starts it only if it is
// what the campaign costs now, and if there still is a trip to advertise.
func TestLateSuccessOfAnEditedCampaign(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, because string
		confirmed     bool
	}{
		{"the title is another", "UPDATE ad_campaigns SET title = 'Summer' WHERE id = $1", true},
		{"the price is another", "UPDATE ad_campaigns SET price = 5000 WHERE id = $1", false},
		{"the trip is deleted", "UPDATE trips SET deleted_at = now() WHERE id = (SELECT trip_id FROM ad_campaigns WHERE id = $1)", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			today := models.DateIn(time.Now())
			campaign := b.Campaign(t, today, today.AddDays(3))
			tx := b.OpenCampaign(t, campaign, 1)
			_, err := b.Store.Payments.EndPayment(t.Context(), tx.ID, models.FailureDeclined, "", time.Now())
			require.NoError(t, err)
			b.Exec(t, tt.because, campaign)

			b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
			s := b.Settle(t, tx, time.Now())

			if tt.confirmed {
				require.Equal(t, campaign, s.Campaign)
				require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ad_campaigns WHERE id = $1 AND status = 'ACTIVE'", campaign))

				return
			}

			b.RequireOwed(t, tx, s, models.FailureDeclined)
			require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ad_campaigns WHERE id = $1 AND status = 'PAYMENT_FAILED'", campaign))
		})
	}
}

func TestSuccessForACancelledBooking(t *testing.T) {
	t.Parallel()
	b := setup(t)
	trip := b.InsertTrip(t, 3, nil)
	booking := b.Book(t, trip, 1)
	tx := b.Open(t, booking, 1)
	b.Exec(t, "UPDATE bookings SET status = 'CANCELLED', seats_held = false WHERE id = $1", booking.ID)
	b.Exec(t, "UPDATE trips SET seats_taken = 0 WHERE id = $1", trip.ID)

	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))
	b.RequireOwed(t, tx, b.Settle(t, tx, time.Now()), models.FailureCancelled)
	require.Equal(t, models.BookingCancelled, b.BookingNow(t, booking.ID).Status)
}

// Two attempts of one booking both take money: one pays for it, the other goes back.
func TestSuccessOfTwoAttempts(t *testing.T) {
	t.Parallel()

	t.Run("the first after the second", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		booking := b.Book(t, b.Trip, 1)
		first := b.Open(t, booking, 1)
		b.Report(t, first, models.EventPaymentFailed)
		b.Report(t, b.Open(t, booking, 2), models.EventPaymentSucceeded)

		b.Deliver(t, bookstest.Event(first, models.EventPaymentSucceeded, nil))
		b.RequireOwed(t, first, b.Settle(t, first, time.Now()), models.FailureDeclined)
	})

	t.Run("the first while the second is open", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		booking := b.Book(t, b.Trip, 1)
		first := b.Open(t, booking, 1)
		b.Report(t, first, models.EventPaymentFailed)
		second := b.Open(t, booking, 2)

		b.Report(t, first, models.EventPaymentSucceeded)
		require.Equal(t, models.BookingConfirmed, b.BookingNow(t, booking.ID).Status)

		b.Deliver(t, bookstest.Event(second, models.EventPaymentSucceeded, nil))
		b.RequireOwed(t, second, b.Settle(t, second, time.Now()), models.FailureCancelled)
	})

	t.Run("both at the same moment", func(t *testing.T) {
		t.Parallel()
		b := setup(t)

		for range 10 {
			booking := b.Book(t, b.Trip, 1)
			first := b.Open(t, booking, 1)
			b.Report(t, first, models.EventPaymentFailed)
			second := b.Open(t, booking, 2)

			var paid, owed, other atomic.Int32

			bookstest.Parallel(2, func(i int) {
				tx := []models.PaymentTransaction{first, second}[i]
				_, err := b.Store.Inbox.StoreEvent(t.Context(), bookstest.Event(tx, models.EventPaymentSucceeded, nil), time.Now())
				s, err2 := b.Store.Payments.SettlePayment(t.Context(), tx.ID, time.Now())

				switch {
				case err != nil || err2 != nil:
					other.Add(1)
				case s.Status == models.TransactionPaid:
					paid.Add(1)
				case s.RefundOwed:
					owed.Add(1)
				}
			})

			require.Zero(t, other.Load())
			require.EqualValues(t, 1, paid.Load())
			require.EqualValues(t, 1, owed.Load())
		}
	})
}

// Seats that went back are taken again by the late payer or a new customer, never both.
func TestLateSuccessAgainstNewBookings(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 10 {
		trip := b.InsertTrip(t, 1, nil)
		tx := b.Lapsed(t, trip, 1)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))

		var (
			settled            models.Settled
			settleErr, bookErr error
		)

		bookstest.Parallel(2, func(i int) {
			if i == 0 {
				settled, settleErr = b.Store.Payments.SettlePayment(t.Context(), tx.ID, time.Now())
			} else {
				_, bookErr = b.Store.Bookings.CreateBooking(t.Context(), b.Request(trip, 1), time.Now())
			}
		})

		require.NoError(t, settleErr)
		require.Equal(t, bookErr == nil, settled.RefundOwed)
		require.Equal(t, bookErr != nil, settled.Status == models.TransactionPaid)
		require.Equal(t, 1, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", trip.ID))
	}
}
