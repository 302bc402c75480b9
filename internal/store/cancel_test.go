package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/storetest"
	"rihla/models"
)

func TestCancelBooking(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	ctx, owner, now := t.Context(), as(b.World, models.RoleEndUser), clock()

	// Without an attempt.
	booking, pending, err := b.s.CancelBooking(ctx, b.book(t, b.Trip, 3).ID, owner, now)
	require.NoError(t, err)
	require.Nil(t, pending)
	require.Equal(t, models.BookingCancelled, booking.Status)
	require.Zero(t, b.count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))

	_, _, err = b.s.CancelBooking(ctx, booking.ID, owner, now)
	requireCode(t, models.CodeInvalidState, err)

	// With one that is open.
	booking = b.book(t, b.Trip, 2)
	attempt := b.open(t, booking, 1)

	booking, pending, err = b.s.CancelBooking(ctx, booking.ID, owner, now)
	require.NoError(t, err)
	require.Equal(t, models.BookingCancelled, booking.Status)
	require.False(t, booking.SeatsHeld)
	require.Equal(t, attempt.ID, pending.ID)

	read, err := b.s.TransactionByID(ctx, attempt.ID)
	require.NoError(t, err)
	require.Equal(t, models.TransactionFailed, read.Status)
	require.Equal(t, models.FailureCancelled, *read.FailureCode)
	require.Zero(t, b.count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
	require.Zero(t, b.count(t, "SELECT count(*) FROM notifications"))
	require.Equal(t, 2, b.count(t, "SELECT count(*) FROM audit_log WHERE action = 'BOOKING_CANCELLED'"))

	_, _, err = b.s.OpenPayment(ctx, models.Attempt{BookingID: booking.ID, Number: 2, UserID: owner.UserID, Method: models.MethodCreditCard}, at(now))
	requireCode(t, models.CodeBookingNotPayable, err)

	// Money that comes all the same goes back.
	b.report(t, attempt, models.EventPaymentSucceeded)
	settled, err := b.s.SettlePayment(ctx, attempt.ID, now)
	require.NoError(t, err)
	require.Equal(t, models.TransactionFailed, settled.Status)
	require.True(t, settled.RefundOwed)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM incidents WHERE kind = 'LATE_PAYMENT'"))
}

func TestCancelBookingAfterAFailure(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	booking := b.book(t, b.Trip, 1)
	declined := b.open(t, booking, 1)
	b.report(t, declined, models.EventPaymentFailed)

	_, pending, err := b.s.CancelBooking(t.Context(), booking.ID, as(b.World, models.RoleAdmin), clock())
	require.NoError(t, err)
	require.Nil(t, pending)

	read, err := b.s.TransactionByID(t.Context(), declined.ID)
	require.NoError(t, err)
	require.Equal(t, models.FailureDeclined, *read.FailureCode, "what has ended stays as it ended")
}

func TestWhoMayCancelABooking(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := storetest.Fixture(t, b.s)
	booking := b.book(t, b.Trip, 1)

	for code, actors := range map[models.Code][]store.Actor{
		models.CodeNotFound: {
			as(other, models.RoleEndUser), as(b.World, models.RoleProviderStaff), as(b.World, models.RoleProviderAdmin), {},
		},
		models.CodeForbidden: {as(b.World, models.RoleSupportAgent), as(b.World, models.RoleFinanceAdmin)},
	} {
		for _, by := range actors {
			_, _, err := b.s.CancelBooking(t.Context(), booking.ID, by, clock())
			requireCode(t, code, err)
		}
	}

	_, _, err := b.s.CancelBooking(t.Context(), uuid.New(), as(b.World, models.RoleAdmin), clock())
	requireCode(t, models.CodeNotFound, err)

	_, _, err = b.s.CancelBooking(t.Context(), booking.ID, as(b.World, models.RoleSuperAdmin), clock())
	require.NoError(t, err)
}

func TestCancelBookingThatIsPaid(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	owner := as(b.World, models.RoleEndUser)
	paid := b.paid(t, 1)

	_, _, err := b.s.CancelBooking(t.Context(), *paid.BookingID, owner, clock())
	requireCode(t, models.CodeInvalidState, err)

	// Reported by the gateway, and not settled yet.
	booking := b.book(t, b.Trip, 1)
	tx := b.open(t, booking, 1)
	_, err = b.s.StoreEvent(t.Context(), models.WebhookEvent{
		ID: models.NewID(), Channel: tx.PaymentMethod.Channel(), WebhookID: "evt", Type: models.EventPaymentSucceeded,
		CheckoutID: "ref-" + tx.ID.String(), MerchantReference: tx.ID.String(), Amount: &tx.Amount, Currency: tx.Currency,
		PaymentMethod: tx.PaymentMethod, OccurredAt: time.Now(),
	}, clock())
	require.NoError(t, err)

	_, _, err = b.s.CancelBooking(t.Context(), booking.ID, owner, clock())
	requireCode(t, models.CodeInvalidState, err)

	settled, err := b.s.SettlePayment(t.Context(), tx.ID, clock())
	require.NoError(t, err)
	require.Equal(t, models.TransactionPaid, settled.Status)
}

// Many cancel while the payment is settled: either it is sold, or it is cancelled and the money owed; the seats fit.
func TestCancellationRacesSettlement(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	owner := as(b.World, models.RoleEndUser)

	for range 10 {
		booking := b.book(t, b.Trip, 1)
		tx := b.open(t, booking, 1)

		var (
			wg   sync.WaitGroup
			errs [3]error
		)

		wg.Go(func() { b.report(t, tx, models.EventPaymentSucceeded) })

		for i := range errs {
			wg.Go(func() { _, _, errs[i] = b.s.CancelBooking(t.Context(), booking.ID, owner, clock()) })
		}

		wg.Wait()

		cancelled := 0

		for _, err := range errs {
			if err == nil {
				cancelled++
			} else {
				requireCode(t, models.CodeInvalidState, err)
			}
		}

		read, err := b.s.BookingByID(t.Context(), booking.ID)
		require.NoError(t, err)
		settled, err := b.s.SettlePayment(t.Context(), tx.ID, clock())
		require.NoError(t, err)

		if cancelled == 1 {
			require.Equal(t, models.BookingCancelled, read.Status)
			require.True(t, settled.RefundOwed)
		} else {
			require.Zero(t, cancelled)
			require.Equal(t, models.BookingConfirmed, read.Status)
			require.Equal(t, models.TransactionPaid, settled.Status)
		}
	}

	require.Zero(t, b.count(t, `
		SELECT abs(t.seats_taken - coalesce(sum(k.seats) FILTER (WHERE k.seats_held), 0))::int
		FROM trips t LEFT JOIN bookings k ON k.trip_id = t.id WHERE t.id = $1 GROUP BY t.id`, b.Trip.ID))
}

// An attempt is opened in the very moment of the cancellation: it is either refused, or ended with the booking.
func TestCancellationRacesOpening(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	owner := as(b.World, models.RoleEndUser)

	for range 10 {
		booking := b.book(t, b.Trip, 1)
		a := models.Attempt{BookingID: booking.ID, Number: 1, UserID: booking.UserID, Method: models.MethodCreditCard}

		var openErr, cancelErr error

		race(
			func() { _, _, openErr = b.s.OpenPayment(t.Context(), a, clock) },
			func() { _, _, cancelErr = b.s.CancelBooking(t.Context(), booking.ID, owner, clock()) })
		require.NoError(t, cancelErr)

		if openErr != nil {
			requireCode(t, models.CodeBookingNotPayable, openErr)
		}
	}

	require.Zero(t, b.count(t, "SELECT count(*) FROM payment_transactions WHERE status = 'PENDING'"))
}
