package store_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// lapsed is a booking whose attempt has expired with its hold: PAYMENT_FAILED, seats free.
func (b *books) lapsed(t *testing.T, trip models.Trip, seats int) models.PaymentTransaction {
	t.Helper()

	booking := b.book(t, trip, seats)
	tx := b.open(t, booking, 1)
	_, err := b.s.EndPayment(t.Context(), tx.ID, models.FailureExpired, "", booking.HoldUntil)
	require.NoError(t, err)
	require.Equal(t, models.BookingPaymentFailed, b.bookingNow(t, booking.ID).Status)

	return tx
}

// requireOwed checks that the money of the attempt is a debt to its customer: captured, in an incident, no ledger line.
func (b *books) requireOwed(t *testing.T, tx models.PaymentTransaction, s models.Settled, why models.FailureCode) {
	t.Helper()

	require.Equal(t, models.Settled{Moved: true, Status: models.TransactionFailed, Failure: why, RefundOwed: true, NeedsReview: true}, s)
	require.NotNil(t, b.transaction(t, tx.ID).CapturedAt)
	require.Zero(t, b.count(t, "SELECT count(*) FROM financial_records WHERE payment_transaction_id = $1", tx.ID))
	require.Equal(t, 1, b.count(t, `SELECT count(*) FROM ledger_transfers WHERE transaction_id = $1 AND kind = 'LATE_CAPTURE'
		AND amount = $2 AND credit_account = 'customer:refunds'`, tx.ID, tx.Amount.String()))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM incidents WHERE payment_transaction_id = $1 AND kind = 'LATE_PAYMENT' AND status = 'OPEN'", tx.ID))
}

func TestLateSuccessWithinTheHold(t *testing.T) {
	t.Parallel()

	for _, why := range []models.FailureCode{models.FailureDeclined, models.FailureExpired, models.FailureCancelled, models.FailureGatewayRejected} {
		t.Run(string(why), func(t *testing.T) {
			t.Parallel()
			b := setupBooks(t)
			booking := b.book(t, b.Trip, 1)
			tx := b.open(t, booking, 1)
			_, err := b.s.EndPayment(t.Context(), tx.ID, why, "words", time.Now())
			require.NoError(t, err)

			stored := b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))
			require.True(t, stored.Deliver && stored.Ended, "another workflow has to deal with it")
			require.Equal(t, models.Settled{Moved: true, Status: models.TransactionPaid, Queued: 2}, b.settle(t, tx, time.Now()))
			require.Equal(t, models.BookingConfirmed, b.bookingNow(t, booking.ID).Status)
			require.Nil(t, b.transaction(t, tx.ID).FailureCode)
			require.Empty(t, b.transaction(t, tx.ID).FailureReason)
			require.Empty(t, b.incidents(t))
		})
	}
}

func TestLateSuccessRetakesTheSeats(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	trip := b.trip(t, 3, nil)
	tx := b.lapsed(t, trip, 3)
	require.Zero(t, b.count(t, "SELECT seats_taken FROM trips WHERE id = $1", trip.ID))

	b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))
	require.Equal(t, models.Settled{Moved: true, Status: models.TransactionPaid, Queued: 2}, b.settle(t, tx, time.Now()))
	require.Equal(t, models.BookingConfirmed, b.bookingNow(t, *tx.BookingID).Status)
	require.Equal(t, 3, b.count(t, "SELECT seats_taken FROM trips WHERE id = $1", trip.ID))
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
			b := setupBooks(t)
			trip := b.trip(t, 3, nil)
			tx := b.lapsed(t, trip, 2)
			b.exec(t, tt.because, trip.ID)

			e := word(tx, models.EventPaymentSucceeded, nil)
			b.deliver(t, e)
			b.requireOwed(t, tx, b.settle(t, tx, time.Now()), models.FailureExpired)
			require.Equal(t, "APPLIED", b.outcome(t, e))
			require.Equal(t, models.BookingPaymentFailed, b.bookingNow(t, *tx.BookingID).Status)

			// The same money reported again is no second debt; until it has gone back the refund stays owed.
			again := word(tx, models.EventPaymentSucceeded, nil)
			require.True(t, b.deliver(t, again).Duplicate)
			s := b.settle(t, tx, time.Now())
			require.True(t, s.RefundOwed)
			require.False(t, s.NeedsReview)
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM ledger_transfers"))
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
			b := setupBooks(t)
			today := models.DateIn(time.Now())
			campaign := b.campaign(t, today, today.AddDays(3))
			tx := b.openCampaign(t, campaign, 1)
			_, err := b.s.EndPayment(t.Context(), tx.ID, models.FailureDeclined, "", time.Now())
			require.NoError(t, err)
			b.exec(t, tt.because, campaign)

			b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))
			s := b.settle(t, tx, time.Now())

			if tt.confirmed {
				require.Equal(t, campaign, s.Campaign)
				require.Equal(t, 1, b.count(t, "SELECT count(*) FROM ad_campaigns WHERE id = $1 AND status = 'ACTIVE'", campaign))

				return
			}

			b.requireOwed(t, tx, s, models.FailureDeclined)
			require.Equal(t, 1, b.count(t, "SELECT count(*) FROM ad_campaigns WHERE id = $1 AND status = 'PAYMENT_FAILED'", campaign))
			b.requireIdentities(t)
		})
	}
}

func TestSuccessForACancelledBooking(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	trip := b.trip(t, 3, nil)
	booking := b.book(t, trip, 1)
	tx := b.open(t, booking, 1)
	b.exec(t, "UPDATE bookings SET status = 'CANCELLED', seats_held = false WHERE id = $1", booking.ID)
	b.exec(t, "UPDATE trips SET seats_taken = 0 WHERE id = $1", trip.ID)

	b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))
	b.requireOwed(t, tx, b.settle(t, tx, time.Now()), models.FailureCancelled)
	require.Equal(t, models.BookingCancelled, b.bookingNow(t, booking.ID).Status)
}

// Two attempts of one booking both take money: one pays for it, the other goes back.
func TestSuccessOfTwoAttempts(t *testing.T) {
	t.Parallel()

	t.Run("the first after the second", func(t *testing.T) {
		t.Parallel()
		b := setupBooks(t)
		booking := b.book(t, b.Trip, 1)
		first := b.open(t, booking, 1)
		b.report(t, first, models.EventPaymentFailed)
		b.report(t, b.open(t, booking, 2), models.EventPaymentSucceeded)

		b.deliver(t, word(first, models.EventPaymentSucceeded, nil))
		b.requireOwed(t, first, b.settle(t, first, time.Now()), models.FailureDeclined)
	})

	t.Run("the first while the second is open", func(t *testing.T) {
		t.Parallel()
		b := setupBooks(t)
		booking := b.book(t, b.Trip, 1)
		first := b.open(t, booking, 1)
		b.report(t, first, models.EventPaymentFailed)
		second := b.open(t, booking, 2)

		b.report(t, first, models.EventPaymentSucceeded)
		require.Equal(t, models.BookingConfirmed, b.bookingNow(t, booking.ID).Status)

		b.deliver(t, word(second, models.EventPaymentSucceeded, nil))
		b.requireOwed(t, second, b.settle(t, second, time.Now()), models.FailureCancelled)
	})

	t.Run("both at the same moment", func(t *testing.T) {
		t.Parallel()
		b := setupBooks(t)

		for range 10 {
			booking := b.book(t, b.Trip, 1)
			first := b.open(t, booking, 1)
			b.report(t, first, models.EventPaymentFailed)
			second := b.open(t, booking, 2)

			var paid, owed, other atomic.Int32

			parallel(2, func(i int) {
				tx := []models.PaymentTransaction{first, second}[i]
				_, err := b.s.StoreEvent(t.Context(), word(tx, models.EventPaymentSucceeded, nil), time.Now())
				s, err2 := b.s.SettlePayment(t.Context(), tx.ID, time.Now())

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

// Seats that went back are taken again by whoever comes first: the late payer or a new customer, never both.
func TestLateSuccessAgainstNewBookings(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	for range 10 {
		trip := b.trip(t, 1, nil)
		tx := b.lapsed(t, trip, 1)
		b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))

		var (
			settled            models.Settled
			settleErr, bookErr error
		)

		parallel(2, func(i int) {
			if i == 0 {
				settled, settleErr = b.s.SettlePayment(t.Context(), tx.ID, time.Now())
			} else {
				_, bookErr = b.s.CreateBooking(t.Context(), b.request(trip, 1))
			}
		})

		require.NoError(t, settleErr)
		require.Equal(t, bookErr == nil, settled.RefundOwed)
		require.Equal(t, bookErr != nil, settled.Status == models.TransactionPaid)
		require.Equal(t, 1, b.count(t, "SELECT seats_taken FROM trips WHERE id = $1", trip.ID))
	}
}
