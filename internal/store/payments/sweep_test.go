package payments_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

func TestReleaseExpiredHolds(t *testing.T) {
	t.Parallel()
	b := setup(t)

	idle := b.Book(t, b.Trip, 2)
	declined := b.Book(t, b.Trip, 3)
	b.Report(t, b.Open(t, declined, 1), models.EventPaymentFailed)

	paying := b.Book(t, b.Trip, 4)
	b.Open(t, paying, 1)
	b.Paid(t, 5)

	bill := b.Book(t, b.Trip, 1)
	tx, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(bill, 1, models.MethodBillPayment), time.Now)
	require.NoError(t, err)
	_, err = b.Store.Payments.EndPayment(t.Context(), tx.ID, models.FailureCancelled, "", time.Now())
	require.NoError(t, err)

	n, err := b.Store.Payments.ReleaseExpiredHolds(t.Context(), 100, time.Now())
	require.NoError(t, err)
	require.Zero(t, n, "no hold has ended")

	after := paying.HoldUntil.Add(time.Second)
	n, err = b.Store.Payments.ReleaseExpiredHolds(t.Context(), 1, after)
	require.NoError(t, err)
	require.Equal(t, 1, n, "no more than asked for")
	n, err = b.Store.Payments.ReleaseExpiredHolds(t.Context(), 100, after)
	require.NoError(t, err)
	require.Equal(t, 1, n)

	require.Equal(t, models.BookingPaymentFailed, b.BookingNow(t, idle.ID).Status)
	require.Equal(t, models.BookingPaymentFailed, b.BookingNow(t, declined.ID).Status)
	require.Equal(t, models.BookingPendingPayment, b.BookingNow(t, paying.ID).Status, "its workflow asks the gateway first")
	require.Equal(t, models.BookingPendingPayment, b.BookingNow(t, bill.ID).Status, "72 hours for a bill")
	require.Equal(t, 10, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))

	n, err = b.Store.Payments.ReleaseExpiredHolds(t.Context(), 100, after)
	require.NoError(t, err)
	require.Zero(t, n)
}

// A payment that the gateway has reported and that is not settled yet keeps the seats: after an outage of the orchestrator the
// sweep comes to the hold before the workflow comes to the payment, and the next customer would have taken them.
func TestReleaseExpiredHoldsWithAPaymentReported(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 2)
	tx := b.Open(t, booking, 1)
	b.Report(t, tx, models.EventPaymentFailed)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))

	n, err := b.Store.Payments.ReleaseExpiredHolds(t.Context(), 100, booking.HoldUntil)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, models.TransactionPaid, b.Settle(t, tx, booking.HoldUntil).Status)
	require.Equal(t, models.BookingConfirmed, b.BookingNow(t, booking.ID).Status)
}

func TestReleaseExpiredHoldsInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)

	var last models.Booking
	for range 20 {
		last = b.Book(t, b.Trip, 1)
	}

	var released, failed atomic.Int32

	bookstest.Parallel(4, func(int) {
		for range 5 {
			n, err := b.Store.Payments.ReleaseExpiredHolds(t.Context(), 7, last.HoldUntil)
			if err != nil {
				t.Log(err)
				failed.Add(1)
			}

			released.Add(int32(n))
		}
	})

	require.Zero(t, failed.Load())
	require.EqualValues(t, 20, released.Load())
	require.Zero(t, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
}

// A payment that arrives in the moment its hold is given up is either confirmed or owed, and the seats are counted
// once.
func TestReleaseAgainstALateSuccess(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 10 {
		booking := b.Book(t, b.Trip, 1)
		tx := b.Open(t, booking, 1)
		b.Report(t, tx, models.EventPaymentFailed)
		b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))

		var settleErr, releaseErr error

		bookstest.Parallel(2, func(i int) {
			if i == 0 {
				_, settleErr = b.Store.Payments.SettlePayment(t.Context(), tx.ID, booking.HoldUntil)
			} else {
				_, releaseErr = b.Store.Payments.ReleaseExpiredHolds(t.Context(), 10, booking.HoldUntil)
			}
		})

		require.NoError(t, settleErr)
		require.NoError(t, releaseErr)
		require.Equal(t, models.BookingConfirmed, b.BookingNow(t, booking.ID).Status)
	}
}

func TestStalePayments(t *testing.T) {
	t.Parallel()
	b := setup(t)
	open := b.Open(t, b.Book(t, b.Trip, 1), 1)
	b.Report(t, b.Open(t, b.Book(t, b.Trip, 1), 1), models.EventPaymentFailed)
	b.Paid(t, 1)

	for _, tt := range []struct {
		at   time.Duration
		want int
	}{{-time.Minute, 0}, {time.Minute, 0}, {119 * time.Second, 0}, {121 * time.Second, 1}} {
		rows, _, err := b.Store.Payments.StalePayments(t.Context(), 2*time.Minute, db.SweepCursor{}, 10, open.ExpiresAt.Add(tt.at))
		require.NoError(t, err)
		require.Len(t, rows, tt.want, tt.at)
	}
}

func TestStaleRefunds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	pending := b.Ask(tx, "5.00")
	b.Reserve(t, pending)
	b.GiveBack(t, tx, "6.00")

	rows, _, err := b.Store.Payments.StaleRefunds(t.Context(), 2*time.Minute, 2*time.Minute, db.SweepCursor{}, 10, time.Now())
	require.NoError(t, err)
	require.Empty(t, rows)

	rows, _, err = b.Store.Payments.StaleRefunds(t.Context(), 2*time.Minute, 2*time.Minute, db.SweepCursor{}, 10, time.Now().Add(3*time.Minute))
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, pending.ID, rows[0].ID)
	require.Equal(t, "5.00", rows[0].Amount.String())
}
