package payments_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/models"
)

func TestCancelBooking(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, owner, now := t.Context(), bookstest.As(b.World, models.RoleEndUser), bookstest.Clock()

	// Without an attempt.
	booking, pending, err := b.Store.Payments.CancelBooking(ctx, owner, b.Book(t, b.Trip, 3).ID, now)
	require.NoError(t, err)
	require.Nil(t, pending)
	require.Equal(t, models.BookingCancelled, booking.Status)
	require.Zero(t, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))

	_, _, err = b.Store.Payments.CancelBooking(ctx, owner, booking.ID, now)
	bookstest.RequireCode(t, models.CodeInvalidState, err)

	// With one that is open.
	booking = b.Book(t, b.Trip, 2)
	attempt := b.Open(t, booking, 1)

	booking, pending, err = b.Store.Payments.CancelBooking(ctx, owner, booking.ID, now)
	require.NoError(t, err)
	require.Equal(t, models.BookingCancelled, booking.Status)
	require.False(t, booking.SeatsHeld)
	require.Equal(t, attempt.ID, pending.ID)

	read, err := b.Store.Payments.TransactionByID(ctx, attempt.ID)
	require.NoError(t, err)
	require.Equal(t, models.TransactionFailed, read.Status)
	require.Equal(t, models.FailureCancelled, *read.FailureCode)
	require.Zero(t, b.Count(t, "SELECT seats_taken FROM trips WHERE id = $1", b.Trip.ID))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM notifications"))
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'BOOKING_CANCELLED'"))

	_, _, err = b.Store.Payments.OpenPayment(ctx, models.Attempt{BookingID: booking.ID, Number: 2, UserID: owner.UserID, Method: models.MethodCreditCard}, at(now))
	bookstest.RequireCode(t, models.CodeBookingNotPayable, err)

	// Money that comes all the same goes back.
	b.Report(t, attempt, models.EventPaymentSucceeded)
	settled, err := b.Store.Payments.SettlePayment(ctx, attempt.ID, now)
	require.NoError(t, err)
	require.Equal(t, models.TransactionFailed, settled.Status)
	require.True(t, settled.RefundOwed)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'LATE_PAYMENT'"))
}

func TestCancelBookingAfterAFailure(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)
	declined := b.Open(t, booking, 1)
	b.Report(t, declined, models.EventPaymentFailed)

	_, pending, err := b.Store.Payments.CancelBooking(t.Context(), bookstest.As(b.World, models.RoleAdmin), booking.ID, bookstest.Clock())
	require.NoError(t, err)
	require.Nil(t, pending)

	read, err := b.Store.Payments.TransactionByID(t.Context(), declined.ID)
	require.NoError(t, err)
	require.Equal(t, models.FailureDeclined, *read.FailureCode, "what has ended stays as it ended")
}

func TestWhoMayCancelABooking(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := storetest.Fixture(t, b.Store)
	booking := b.Book(t, b.Trip, 1)

	for code, actors := range map[models.Code][]db.Actor{
		models.CodeNotFound: {
			bookstest.As(other, models.RoleEndUser), bookstest.As(b.World, models.RoleProviderStaff), bookstest.As(b.World, models.RoleProviderAdmin), {},
		},
		models.CodeForbidden: {bookstest.As(b.World, models.RoleFinanceAdmin)},
	} {
		for _, by := range actors {
			_, _, err := b.Store.Payments.CancelBooking(t.Context(), by, booking.ID, bookstest.Clock())
			bookstest.RequireCode(t, code, err)
		}
	}

	_, _, err := b.Store.Payments.CancelBooking(t.Context(), bookstest.As(b.World, models.RoleAdmin), uuid.New(), bookstest.Clock())
	bookstest.RequireCode(t, models.CodeNotFound, err)

	for _, role := range []models.Role{models.RoleSupportAgent, models.RoleSuperAdmin} {
		_, _, err = b.Store.Payments.CancelBooking(t.Context(), bookstest.As(b.World, role), b.Book(t, b.Trip, 1).ID, bookstest.Clock())
		require.NoError(t, err)
	}
}

func TestCancelBookingThatIsPaid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := bookstest.As(b.World, models.RoleEndUser)
	paid := b.Paid(t, 1)

	_, _, err := b.Store.Payments.CancelBooking(t.Context(), owner, *paid.BookingID, bookstest.Clock())
	bookstest.RequireCode(t, models.CodeInvalidState, err)

	// Reported by the gateway, and not settled yet.
	booking := b.Book(t, b.Trip, 1)
	tx := b.Open(t, booking, 1)
	_, err = b.Store.Inbox.StoreEvent(t.Context(), models.WebhookEvent{
		ID: models.NewID(), Channel: tx.PaymentMethod.Channel(), WebhookID: "evt", Type: models.EventPaymentSucceeded,
		CheckoutID: "ref-" + tx.ID.String(), MerchantReference: tx.ID.String(), Amount: &tx.Amount, Currency: tx.Currency,
		PaymentMethod: tx.PaymentMethod, OccurredAt: time.Now(),
	}, bookstest.Clock())
	require.NoError(t, err)

	_, _, err = b.Store.Payments.CancelBooking(t.Context(), owner, booking.ID, bookstest.Clock())
	bookstest.RequireCode(t, models.CodeInvalidState, err)

	settled, err := b.Store.Payments.SettlePayment(t.Context(), tx.ID, bookstest.Clock())
	require.NoError(t, err)
	require.Equal(t, models.TransactionPaid, settled.Status)
}

// Many cancel while the payment is settled: either it is sold, or it is cancelled and the money owed; the seats fit.
func TestCancellationRacesSettlement(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := bookstest.As(b.World, models.RoleEndUser)

	for range 10 {
		booking := b.Book(t, b.Trip, 1)
		tx := b.Open(t, booking, 1)

		var (
			wg   sync.WaitGroup
			errs [3]error
		)

		wg.Go(func() { b.Report(t, tx, models.EventPaymentSucceeded) })

		for i := range errs {
			wg.Go(func() {
				_, _, errs[i] = b.Store.Payments.CancelBooking(t.Context(), owner, booking.ID, bookstest.Clock())
			})
		}

		wg.Wait()

		cancelled := 0

		for _, err := range errs {
			if err == nil {
				cancelled++
			} else {
				bookstest.RequireCode(t, models.CodeInvalidState, err)
			}
		}

		read, err := b.Store.Bookings.BookingByID(t.Context(), booking.ID)
		require.NoError(t, err)
		settled, err := b.Store.Payments.SettlePayment(t.Context(), tx.ID, bookstest.Clock())
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

	require.Zero(t, b.Count(t, `
		SELECT abs(t.seats_taken - coalesce(sum(k.seats) FILTER (WHERE k.seats_held), 0))::int
		FROM trips t LEFT JOIN bookings k ON k.trip_id = t.id WHERE t.id = $1 GROUP BY t.id`, b.Trip.ID))
}

// An attempt is opened in the very moment of the cancellation: it is either refused, or ended with the booking.
func TestCancellationRacesOpening(t *testing.T) {
	t.Parallel()
	b := setup(t)
	owner := bookstest.As(b.World, models.RoleEndUser)

	for range 10 {
		booking := b.Book(t, b.Trip, 1)
		a := models.Attempt{BookingID: booking.ID, Number: 1, UserID: booking.UserID, Method: models.MethodCreditCard}

		var openErr, cancelErr error

		bookstest.Race(
			func() { _, _, openErr = b.Store.Payments.OpenPayment(t.Context(), a, bookstest.Clock) },
			func() {
				_, _, cancelErr = b.Store.Payments.CancelBooking(t.Context(), owner, booking.ID, bookstest.Clock())
			})
		require.NoError(t, cancelErr)

		if openErr != nil {
			bookstest.RequireCode(t, models.CodeBookingNotPayable, openErr)
		}
	}

	require.Zero(t, b.Count(t, "SELECT count(*) FROM payment_transactions WHERE status = 'PENDING'"))
}
