package payments_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

// TestPaymentStatusReadsTheAccount: the statement of a poll sees in an account what the statement of every other request sees.
func TestPaymentStatusReadsTheAccount(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)

	for _, u := range b.Users {
		want, err := b.Store.Accounts.AccountStatus(t.Context(), u.ID, uuid.Nil)
		require.NoError(t, err)

		got, err := b.Store.Payments.PaymentStatusFor(t.Context(), u.ID, uuid.Nil, booking.ID, bookstest.Clock())
		require.NoError(t, err)
		require.Equal(t, want, *got.Account)
		require.Equal(t, b.Customer.ID, got.Payment.UserID, "the booking's owner, not the caller")
	}

	none, err := b.Store.Payments.PaymentStatusFor(t.Context(), b.Customer.ID, uuid.Nil, models.NewID(), bookstest.Clock())
	require.NoError(t, err)
	require.NotNil(t, none.Account)
	require.Nil(t, none.Payment)

	by := db.Actor{Operator: "test"}
	require.NoError(t, b.Store.Accounts.ChangePassword(t.Context(), by, b.Customer.ID, "", "other"))

	got, err := b.Store.Payments.PaymentStatusFor(t.Context(), b.Customer.ID, uuid.Nil, booking.ID, bookstest.Clock())
	require.NoError(t, err)
	require.Equal(t, 1, got.Account.TokenGeneration)

	require.NoError(t, b.Store.Accounts.RemoveUser(t.Context(), by, b.Customer.ID))

	got, err = b.Store.Payments.PaymentStatusFor(t.Context(), b.Customer.ID, uuid.Nil, booking.ID, bookstest.Clock())
	require.NoError(t, err)
	require.Nil(t, got.Account)
	require.Nil(t, got.Payment, "and nothing of its bookings either")
}
