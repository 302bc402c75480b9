package bookings_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestPaymentReturns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)

	open := func(number int, url, base string) models.PaymentTransaction {
		a := b.Attempt(booking, number, models.MethodCreditCard)
		require.NoError(t, b.Store.Bookings.SetReturnURL(t.Context(), a, url, base))

		opened, _, err := b.Store.Payments.OpenPayment(t.Context(), a, time.Now)
		require.NoError(t, err)

		again, _, err := b.Store.Payments.OpenPayment(t.Context(), a, time.Now)
		require.NoError(t, err)
		require.Equal(t, opened.ReturnAddress(), again.ReturnAddress(), "a gateway refuses one key with another request")

		_, err = b.Store.Payments.EndPayment(t.Context(), opened.ID, models.FailureDeclined, "", time.Now())
		require.NoError(t, err)

		return b.Transaction(t, opened.ID)
	}

	first := open(1, "https://app.rihla.test/done?token=secret", "https://api.rihla.test")
	second := open(2, "https://app.rihla.test/done?token=secret", "https://api.rihla.test")
	require.Equal(t, "https://api.rihla.test/api/v1/payments/returns/"+first.ReturnID.String(), first.ReturnAddress())
	require.NotEqual(t, first.ReturnID, second.ReturnID, "each attempt has its own")
	require.NotContains(t, first.ReturnAddress(), first.ID.String())
	require.Equal(t, uuid.Version(4), first.ReturnID.Version(), "it is random, and not derived from what others know")

	back, err := b.Store.Bookings.PaymentReturn(t.Context(), *first.ReturnID, time.Now())
	require.NoError(t, err)
	require.Equal(t, "https://app.rihla.test/done?token=secret&booking_id="+booking.ID.String()+"&transaction_id="+first.ID.String()+
		"&status=FAILED", back.ReturnTarget())

	_, err = b.Store.Bookings.PaymentReturn(t.Context(), *first.ReturnID, first.ExpiresAt.Add(24*time.Hour+time.Second))
	require.Equal(t, models.CodeNotFound, models.CodeOf(err), "a day after the end it opens nothing")

	for _, id := range []uuid.UUID{first.ID, booking.ID, uuid.New(), uuid.Nil} {
		_, err = b.Store.Bookings.PaymentReturn(t.Context(), id, time.Now())
		require.Equal(t, models.CodeNotFound, models.CodeOf(err))
	}

	none := open(3, "", "https://api.rihla.test")
	require.Nil(t, none.ReturnID)
	require.Empty(t, none.ReturnAddress(), "the gateway shows the result itself")

	old := open(4, "https://app.rihla.test/done", "")
	require.Equal(t, "https://app.rihla.test/done", old.ReturnAddress(), "as an API of an older version left it")
}
