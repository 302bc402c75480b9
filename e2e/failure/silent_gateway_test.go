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

// noAnswers makes the gateway refuse to say how anything stands, as after a change of keys, until ClearFaults.
func noAnswers(s *harness.Stack) {
	s.Fault(map[string]any{"operation": "status", "mode": "reject", "status": http.StatusForbidden, "times": 1000})
}

// TestPaidWhileTheGatewayDoesNotSay: the money is at the gateway, its webhook is lost, and it refuses to be asked. The
// attempt must not end before it answers: the customer would pay a second time, and the first payment be forgotten.
func TestPaidWhileTheGatewayDoesNotSay(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: inLife(map[string]string{"BOOKING_HOLD": "8s", "CHECKOUT_WAIT": "3s"})})
	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)

	fault(s, "webhook", "drop", 1)
	noAnswers(s)
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))

	a := customer.Post(intentPath(b.ID), map[string]any{"payment_method": models.MethodWalletB, "replace": true})
	require.Equal(t, http.StatusBadGateway, a.Status, "%s", a.Body)
	require.Equal(t, models.CodeGatewayUnavailable, a.Code())

	const pending = "SELECT count(*) FROM payment_transactions WHERE id = $1 AND status = 'PENDING'"

	require.Equal(t, 1, s.Count(pending, b.Payment.TransactionID))
	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM payment_transactions WHERE id = $1 AND expires_at < now() - interval '2 seconds'",
			b.Payment.TransactionID) == 1
	}, patience, 50*time.Millisecond)
	require.Equal(t, 1, s.Count(pending, b.Payment.TransactionID), "it does not end by time alone")

	s.ClearFaults()
	await(t, patience, func() error { return settled(s.DB, []string{b.Payment.TransactionID.String()}) })
	require.Len(t, takenBy(s.GatewayLedger()), 1)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM payment_transactions"), "there was no second attempt")
	awaitBooks(t, s)
}

func refundPath(booking uuid.UUID) string {
	return "/api/v1/admin/bookings/" + booking.String() + "/refund"
}

// TestRefundWhileTheGatewayDoesNotSay: the refund was made, the answer to it is lost, and the gateway refuses to be
// asked. That is no refusal of the refund.
func TestRefundWhileTheGatewayDoesNotSay(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: inLife(map[string]string{"GATEWAY_TIMEOUT": "1s", "REFUND_WAIT": "4s"})})
	b := s.As(models.RoleEndUser).BookPaid(1)

	// What went back without us, asked with the order and before sending, and whether the refund is known are answered, so that it is
	// sent; what became of it is not.
	s.Fault(map[string]any{"operation": "status", "mode": "slow", "delay_ms": 1, "times": 3})
	noAnswers(s)
	fault(s, "refund", "timeout_after_effect", 1)

	a := s.As(models.RoleFinanceAdmin).Post(refundPath(b.ID), map[string]any{"refund_type": "FULL"})
	require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
	require.Len(t, s.GatewayLedger().Refunds, 1, "the money is on its way")
	require.Equal(t, 1, s.Count("SELECT count(*) FROM refunds WHERE booking_id = $1 AND status = 'PENDING'", b.ID))

	s.ClearFaults()
	require.Eventually(t, func() bool {
		require.Zero(t, s.Count("SELECT count(*) FROM refunds WHERE status = 'FAILED'"))

		return s.Count("SELECT count(*) FROM refunds WHERE booking_id = $1 AND status = 'SUCCEEDED'", b.ID) == 1
	}, patience, 50*time.Millisecond)

	require.Len(t, s.GatewayLedger().Refunds, 1, "paid back once")
	require.Zero(t, s.Count("SELECT count(*) FROM incidents"))
}

// TestRefundThatNobodyTakes: no worker is there to execute the order. It is answered 202, and executed when there is one.
func TestRefundThatNobodyTakes(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: inLife(map[string]string{"REFUND_WAIT": "3s"})})
	finance := s.As(models.RoleFinanceAdmin)
	b := s.As(models.RoleEndUser).BookPaid(1)
	part := map[string]any{"refund_type": "PARTIAL", "amount": 10}

	s.Worker.Kill()

	a, err := finance.Do(http.MethodPost, refundPath(b.ID), part, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)

	s.Worker.Start()

	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM payment_transactions WHERE id = $1 AND refunded_amount = 10", b.Payment.TransactionID) == 1
	}, patience, 100*time.Millisecond)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM refunds WHERE booking_id = $1", b.ID))
	require.Len(t, s.GatewayLedger().Refunds, 1)
}
