package operations

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/api/contract"
	"rihla/api/gen"
	"rihla/internal/store/payments"
	"rihla/models"
)

func openPayment() *payments.PaymentStatus {
	url, expires, transaction := "https://pay.example.com/c/1", time.Date(2026, 11, 25, 9, 30, 0, 0, time.UTC), uuid.New()

	return &payments.PaymentStatus{
		BookingID: uuid.New(), BookingStatus: models.BookingPendingPayment, PaymentStatus: models.TransactionPending,
		TransactionID: &transaction, Method: models.MethodCreditCard, Amount: models.MustMoney("1150.00"), Currency: models.Currency,
		CheckoutURL: &url, ExpiresAt: &expires, UpdatedAt: expires.Add(-time.Hour),
	}
}

func TestOnlyAnOpenPaymentShowsItsCheckout(t *testing.T) {
	t.Parallel()

	s := openPayment()
	require.Equal(t, s.CheckoutURL, statusOf(t.Context(), s).CheckoutURL)

	s.PaymentStatus = models.TransactionPaid
	require.Nil(t, statusOf(t.Context(), s).CheckoutURL)

	s.TransactionID = nil
	require.Equal(t, models.BookingAttemptID(s.BookingID, 1), statusOf(t.Context(), s).TransactionID, "before the attempt's row is written")
}

// BenchmarkStatusAnswer is the answer that is polled, from what was read to the bytes that are sent.
func BenchmarkStatusAnswer(b *testing.B) {
	s := openPayment()

	b.ReportAllocs()

	for b.Loop() {
		if _, err := contract.EncodeJSON(gen.GetPaymentStatus200JSONResponse{Data: statusOf(b.Context(), s)}); err != nil {
			b.Fatal(err)
		}
	}
}
