package payments_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

func TestPaymentStatus(t *testing.T) {
	t.Parallel()

	t.Run("before any attempt", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		booking := b.Book(t, b.Trip, 2)

		got, err := b.PaymentStatus(t, booking.ID, bookstest.Clock())
		require.NoError(t, err)
		require.Equal(t, b.Customer.ID, got.UserID)
		require.Equal(t, models.BookingPendingPayment, got.BookingStatus)
		require.Equal(t, models.TransactionPending, got.PaymentStatus)
		require.Nil(t, got.TransactionID)
		require.Nil(t, got.CheckoutURL)
		require.Nil(t, got.ExpiresAt)
		require.Empty(t, got.Method)
		require.Equal(t, "230.00", got.Amount.String())
		require.Equal(t, "SAR", got.Currency)
		require.Equal(t, booking.UpdatedAt.UnixMicro(), got.UpdatedAt.UnixMicro())
	})

	t.Run("when the booking is over without any attempt", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		late, given := b.Book(t, b.Trip, 1), b.Book(t, b.Trip, 1)

		_, _, err := b.Store.Payments.CancelBooking(t.Context(), db.Actor{UserID: b.Customer.ID, Role: models.RoleEndUser}, given.ID, time.Now())
		require.NoError(t, err)
		_, err = b.Store.Payments.ReleaseExpiredHolds(t.Context(), 10, late.HoldUntil)
		require.NoError(t, err)

		for id, why := range map[uuid.UUID]models.FailureCode{late.ID: models.FailureExpired, given.ID: models.FailureCancelled} {
			got, err := b.PaymentStatus(t, id, bookstest.Clock())
			require.NoError(t, err)
			require.Equal(t, models.TransactionFailed, got.PaymentStatus, "nobody waits for ever")
			require.Equal(t, why, *got.FailureCode)
		}
	})

	t.Run("follows the newest attempt, and the paid one for good", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		booking := b.Book(t, b.Trip, 2)
		first := b.Open(t, booking, 1)

		got, err := b.PaymentStatus(t, booking.ID, bookstest.Clock())
		require.NoError(t, err)
		require.Equal(t, first.ID, *got.TransactionID)
		require.Equal(t, models.TransactionPending, got.PaymentStatus)
		require.Equal(t, models.MethodCreditCard, got.Method)
		require.Equal(t, "https://gateway.test/"+first.ID.String(), *got.CheckoutURL)
		require.Equal(t, first.ExpiresAt.UnixMicro(), got.ExpiresAt.UnixMicro())

		b.Report(t, first, models.EventPaymentFailed)

		got, err = b.PaymentStatus(t, booking.ID, bookstest.Clock())
		require.NoError(t, err)
		require.Equal(t, models.TransactionFailed, got.PaymentStatus)
		require.Equal(t, models.FailureDeclined, *got.FailureCode)

		// The second attempt is refused in the end, but the first one's money had come late.
		second := b.Open(t, booking, 2)
		_, err = b.Store.Payments.EndPayment(t.Context(), second.ID, models.FailureGatewayRejected, "", second.CreatedAt)
		require.NoError(t, err)
		b.Report(t, first, models.EventPaymentSucceeded)

		got, err = b.PaymentStatus(t, booking.ID, bookstest.Clock())
		require.NoError(t, err)
		require.Equal(t, models.TransactionPaid, got.PaymentStatus)
		require.Equal(t, first.ID, *got.TransactionID)
		require.Nil(t, got.FailureCode)
		require.Equal(t, models.BookingConfirmed, got.BookingStatus)
	})

	t.Run("after refunds", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		tx := b.Paid(t, 2)

		b.Refund(t, tx, bookstest.Amount("30.00"))

		got, err := b.PaymentStatus(t, *tx.BookingID, bookstest.Clock())
		require.NoError(t, err)
		require.Equal(t, models.TransactionPartialRefund, got.PaymentStatus)
		require.Equal(t, models.BookingConfirmed, got.BookingStatus)
		require.Equal(t, tx.ID, *got.TransactionID, "the attempt, not the refund's transaction")

		b.Refund(t, tx, nil)

		got, err = b.PaymentStatus(t, *tx.BookingID, bookstest.Clock())
		require.NoError(t, err)
		require.Equal(t, models.TransactionRefunded, got.PaymentStatus)
		require.Equal(t, models.BookingCancelled, got.BookingStatus)
	})

	t.Run("of nothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)

		_, err := b.PaymentStatus(t, models.NewID(), bookstest.Clock())
		bookstest.RequireCode(t, models.CodeNotFound, err)
	})
}
