package failure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestGatewayMisbehaves goes through the faults of the sandbox gateway. They wait in one queue per operation, so the cases come
// one after the other.
func TestGatewayMisbehaves(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"GATEWAY_TIMEOUT": "1s", "CHECKOUT_WAIT": "3s", "REFUND_WAIT": "3s"}})

	checkoutNotAnswered(t, s)
	checkoutsDown(t, s)
	checkoutRefused(t, s)
	webhooksDoubledAndReordered(t, s)
	mismatch(t, s, "wrong_amount", models.FailureAmountMismatch)
	mismatch(t, s, "wrong_currency", models.FailureCurrencyMismatch)
	refundInTheEnd(t, s, "timeout_after_effect", 1)
	refundInTheEnd(t, s, "error", 3)
}

// fault makes the gateway misbehave the next times.
func fault(s *harness.Stack, operation, mode string, times int) {
	s.Fault(map[string]any{"operation": operation, "mode": mode, "times": times})
}

// requirePaidOnce pays the booking, and sees everything that follows once.
func requirePaidOnce(t *testing.T, s *harness.Stack, customer *harness.Caller, b harness.Booking) {
	t.Helper()
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)
	awaitSettled(t, s, []string{b.Payment.TransactionID.String()})
}

// checkoutsOf are the gateway's checkouts of an attempt.
func checkoutsOf(s *harness.Stack, attempt uuid.UUID) (ids []string) {
	for _, c := range s.GatewayLedger().Checkouts {
		if c.MerchantReference == attempt.String() {
			ids = append(ids, c.ID)
		}
	}

	return ids
}

func checkoutNotAnswered(t *testing.T, s *harness.Stack) {
	t.Helper()
	fault(s, "create_checkout", "timeout_after_effect", 1)

	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)
	awaitOpened(t, customer, &b)

	require.Equal(t, []string{*b.Payment.Reference}, checkoutsOf(s, b.Payment.TransactionID), "the same key, the same checkout")
	requirePaidOnce(t, s, customer, b)
}

// awaitOpened has the customer ask for the open attempt of the booking until its gateway has made the checkout: the answer to the
// booking does not wait for that for ever.
func awaitOpened(t *testing.T, customer *harness.Caller, b *harness.Booking) {
	t.Helper()

	var a harness.Answer

	require.Eventually(t, func() bool {
		a = customer.Post(intentPath(b.ID), map[string]any{"payment_method": models.MethodCreditCard})

		return a.Status == http.StatusOK
	}, patience, 50*time.Millisecond, "the attempt stays open, and is opened when the gateway is back")

	attempt := b.Payment.TransactionID
	require.NoError(t, a.Data(&b.Payment))

	b.Payment.TransactionID = attempt
}

func checkoutsDown(t *testing.T, s *harness.Stack) {
	t.Helper()
	fault(s, "create_checkout", "error", 1000)

	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)
	require.Empty(t, b.Payment.CheckoutURL)
	require.Equal(t, models.TransactionPending, b.Payment.Status)

	intent := map[string]any{"payment_method": models.MethodCreditCard}

	a := customer.Post(intentPath(b.ID), intent)
	require.Equal(t, http.StatusBadGateway, a.Status, "%s", a.Body)
	require.Equal(t, models.CodeGatewayUnavailable, a.Code())

	s.ClearFaults()
	awaitOpened(t, customer, &b)
	require.Len(t, checkoutsOf(s, b.Payment.TransactionID), 1)
	requirePaidOnce(t, s, customer, b)
}

func checkoutRefused(t *testing.T, s *harness.Stack) {
	t.Helper()
	fault(s, "create_checkout", "reject", 1)

	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)
	require.Equal(t, models.TransactionFailed, b.Payment.Status)
	require.Equal(t, models.FailureGatewayRejected, *b.Payment.FailureCode)

	// The seats are held: the customer tries another way to pay.
	a := customer.Post(intentPath(b.ID), map[string]any{"payment_method": models.MethodWalletB})
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
	require.NoError(t, a.Data(&b.Payment))
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM financial_records WHERE booking_id = $1", b.ID))
}

func webhooksDoubledAndReordered(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	first, second := customer.Book(1), customer.Book(1)

	fault(s, "webhook", "reorder", 1)
	fault(s, "webhook", "duplicate", 1)
	require.NoError(t, s.Pay(*first.Payment.CheckoutURL, "succeed"))
	requirePaidOnce(t, s, customer, second)
	awaitSettled(t, s, []string{first.Payment.TransactionID.String()})
}

// mismatch: the gateway took something else than was asked for. That is for a person to look at.
func mismatch(t *testing.T, s *harness.Stack, mode string, why models.FailureCode) {
	t.Helper()
	fault(s, "webhook", mode, 1)

	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))

	status := customer.Await(b.ID)
	require.Equal(t, models.TransactionFailed, status.PaymentStatus)
	require.Equal(t, why, *status.FailureCode)
	require.Equal(t, models.BookingPendingPayment, status.BookingStatus)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM incidents WHERE booking_id = $1 AND kind = $2", b.ID, string(why)))
	require.Zero(t, s.Count("SELECT count(*) FROM financial_records WHERE booking_id = $1", b.ID))
}

// refundInTheEnd: whatever the gateway answers at first, the customer gets the money back once.
func refundInTheEnd(t *testing.T, s *harness.Stack, mode string, times int) {
	t.Helper()

	b := s.As(models.RoleEndUser).BookPaid(1)
	fault(s, "refund", mode, times)

	a := s.As(models.RoleFinanceAdmin).Post("/api/v1/admin/bookings/"+b.ID.String()+"/refund", map[string]any{"refund_type": "FULL"})
	require.Contains(t, []int{http.StatusCreated, http.StatusAccepted}, a.Status, "%s", a.Body)

	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM refunds WHERE booking_id = $1 AND status = 'SUCCEEDED'", b.ID) == 1
	}, patience, 50*time.Millisecond)

	var back int

	for _, r := range s.GatewayLedger().Refunds {
		if r.CheckoutID == *b.Payment.Reference {
			back++

			require.Equal(t, "succeeded", r.Status)
			require.True(t, r.Amount.Equal(b.Amount), "%s", r.Amount)
		}
	}

	require.Equal(t, 1, back, "paid back once")
	require.Equal(t, 1, s.Count("SELECT count(*) FROM bookings WHERE id = $1 AND status = 'CANCELLED'", b.ID))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM financial_records WHERE booking_id = $1 AND balance_status = 'REFUNDED'", b.ID))
}

// TestWebhookNeverComes: the gateway took the money and its webhook is lost for good. At the end of the hold the gateway
// is asked, and the payment counts.
func TestWebhookNeverComes(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"BOOKING_HOLD": "6s"}})
	customer := s.As(models.RoleEndUser)

	fault(s, "webhook", "drop", 1)

	paid, unpaid := customer.Book(1), customer.Book(1)
	require.NoError(t, s.Pay(*paid.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(paid.ID).PaymentStatus)

	status := customer.Await(unpaid.ID)
	require.Equal(t, models.FailureExpired, *status.FailureCode)
	require.Equal(t, models.BookingPaymentFailed, status.BookingStatus)
	require.Equal(t, 1, s.GatewayStats().WebhooksDropped)
	awaitBooks(t, s)
}
