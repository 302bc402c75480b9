package histories_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestCancelledLaterHistories: the gateway does not answer when a booking is cancelled. The customer is answered within seconds, the
// payment ends, and the checkout is closed when the gateway is back, long before its time is over.
func TestCancelledLaterHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)

	s.Fault(map[string]any{"operation": "status", "mode": "error", "times": 10000})

	began := time.Now()
	a := customer.Post("/api/v1/bookings/"+b.ID.String()+"/cancel", nil)
	require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
	require.Less(t, time.Since(began), 4*time.Second, "it took as long as CHECKOUT_WAIT, 5 s")

	var given harness.Booking

	require.NoError(t, a.Data(&given))
	require.Equal(t, models.BookingCancelled, given.Status)
	require.Equal(t, models.FailureCancelled, *given.Payment.FailureCode)

	// The attempt's workflow asks for half a minute, and leaves the checkout to another one then.
	replay(t, s, "payment-at-once-cancelled-closed-later", models.PaymentWorkflowID(b.Payment.TransactionID))
	require.Equal(t, "open", checkoutAt(s, b))

	s.ClearFaults()
	replay(t, s, "reconcile-cancelled-booking", models.ReconcileWorkflowID(b.Payment.TransactionID))
	require.Equal(t, "canceled", checkoutAt(s, b))
}

// checkoutAt is how the checkout of a booking stands at the gateway.
func checkoutAt(s *harness.Stack, b harness.Booking) string {
	for _, c := range s.GatewayLedger().Checkouts {
		if c.ID == *b.Payment.Reference {
			return c.Status
		}
	}

	return ""
}
