package store_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/models"
)

func TestReleaseExpiredHolds(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	idle := b.book(t, b.Trip, 2)
	declined := b.book(t, b.Trip, 3)
	b.report(t, b.open(t, declined, 1), models.EventPaymentFailed)

	paying := b.book(t, b.Trip, 4)
	b.open(t, paying, 1)
	b.paid(t, 5)

	bill := b.book(t, b.Trip, 1)
	tx, _, err := b.s.OpenPayment(t.Context(), b.attempt(bill, 1, models.MethodBillPayment), time.Now)
	require.NoError(t, err)
	_, err = b.s.EndPayment(t.Context(), tx.ID, models.FailureCancelled, "", time.Now())
	require.NoError(t, err)

	n, err := b.s.ReleaseExpiredHolds(t.Context(), 100, time.Now())
	require.NoError(t, err)
	require.Zero(t, n, "no hold has ended")

	after := paying.HoldUntil.Add(time.Second)
	n, err = b.s.ReleaseExpiredHolds(t.Context(), 1, after)
	require.NoError(t, err)
	require.Equal(t, 1, n, "no more than asked for")
	n, err = b.s.ReleaseExpiredHolds(t.Context(), 100, after)
	require.NoError(t, err)
	require.Equal(t, 1, n)

	require.Equal(t, models.BookingPaymentFailed, b.bookingNow(t, idle.ID).Status)
	require.Equal(t, models.BookingPaymentFailed, b.bookingNow(t, declined.ID).Status)
	require.Equal(t, models.BookingPendingPayment, b.bookingNow(t, paying.ID).Status, "its workflow asks the gateway first")
	require.Equal(t, models.BookingPendingPayment, b.bookingNow(t, bill.ID).Status, "72 hours for a bill")
	require.Equal(t, 10, b.count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))

	n, err = b.s.ReleaseExpiredHolds(t.Context(), 100, after)
	require.NoError(t, err)
	require.Zero(t, n)
}

// A payment that the gateway has reported and nobody has settled yet keeps the seats: after an outage of the orchestrator the
// sweep comes to the hold before the workflow comes to the payment, and the next customer would have taken them.
func TestReleaseExpiredHoldsWithAPaymentReported(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	booking := b.book(t, b.Trip, 2)
	tx := b.open(t, booking, 1)
	b.report(t, tx, models.EventPaymentFailed)
	b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))

	n, err := b.s.ReleaseExpiredHolds(t.Context(), 100, booking.HoldUntil)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, models.TransactionPaid, b.settle(t, tx, booking.HoldUntil).Status)
	require.Equal(t, models.BookingConfirmed, b.bookingNow(t, booking.ID).Status)
}

func TestReleaseExpiredHoldsInParallel(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	var last models.Booking
	for range 20 {
		last = b.book(t, b.Trip, 1)
	}

	var released, failed atomic.Int32

	parallel(4, func(int) {
		for range 5 {
			n, err := b.s.ReleaseExpiredHolds(t.Context(), 7, last.HoldUntil)
			if err != nil {
				t.Log(err)
				failed.Add(1)
			}

			released.Add(int32(n))
		}
	})

	require.Zero(t, failed.Load())
	require.EqualValues(t, 20, released.Load())
	require.Zero(t, b.count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
}

// A payment that arrives in the moment its hold is given up is either confirmed or owed, and the seats are counted
// once.
func TestReleaseAgainstALateSuccess(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	for range 10 {
		booking := b.book(t, b.Trip, 1)
		tx := b.open(t, booking, 1)
		b.report(t, tx, models.EventPaymentFailed)
		b.deliver(t, word(tx, models.EventPaymentSucceeded, nil))

		var settleErr, releaseErr error

		parallel(2, func(i int) {
			if i == 0 {
				_, settleErr = b.s.SettlePayment(t.Context(), tx.ID, booking.HoldUntil)
			} else {
				_, releaseErr = b.s.ReleaseExpiredHolds(t.Context(), 10, booking.HoldUntil)
			}
		})

		require.NoError(t, settleErr)
		require.NoError(t, releaseErr)
		require.Equal(t, models.BookingConfirmed, b.bookingNow(t, booking.ID).Status)
		b.requireIdentities(t)
	}
}

func TestStalePayments(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	open := b.open(t, b.book(t, b.Trip, 1), 1)
	b.report(t, b.open(t, b.book(t, b.Trip, 1), 1), models.EventPaymentFailed)
	b.paid(t, 1)

	for _, tt := range []struct {
		at   time.Duration
		want int
	}{{-time.Minute, 0}, {time.Minute, 0}, {119 * time.Second, 0}, {121 * time.Second, 1}} {
		rows, _, err := b.s.StalePayments(t.Context(), 2*time.Minute, store.Turn{}, 10, open.ExpiresAt.Add(tt.at))
		require.NoError(t, err)
		require.Len(t, rows, tt.want, tt.at)
	}
}

func TestStaleRefunds(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	tx := b.paid(t, 1)
	pending := b.ask(tx, "5.00")
	b.reserve(t, pending)
	b.giveBack(t, tx, "6.00")

	rows, _, err := b.s.StaleRefunds(t.Context(), 2*time.Minute, 2*time.Minute, store.Turn{}, 10, time.Now())
	require.NoError(t, err)
	require.Empty(t, rows)

	rows, _, err = b.s.StaleRefunds(t.Context(), 2*time.Minute, 2*time.Minute, store.Turn{}, 10, time.Now().Add(3*time.Minute))
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, pending.ID, rows[0].ID)
	require.Equal(t, "5.00", rows[0].Amount.String())
}
