package histories_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestOpensAgainHistories: the gateway does not open the checkout, and does not say either whether there is one when the customer
// wants another method. The attempt goes on as it was.
func TestOpensAgainHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"CHECKOUT_WAIT": "3s"}})
	customer := s.As(models.RoleEndUser)

	fault(s, "create_checkout", "error", 1000)
	s.Fault(map[string]any{"operation": "status", "mode": "reject", "status": http.StatusForbidden, "times": 1000})

	b := customer.Book(1)
	require.Empty(t, b.Payment.CheckoutURL)

	intent := "/api/v1/payments/booking/" + b.ID.String() + "/intent"
	a := customer.Post(intent, map[string]any{"payment_method": models.MethodWalletB, "replace": true})
	require.Equal(t, http.StatusBadGateway, a.Status, "%s", a.Body)

	workflow := models.PaymentWorkflowID(b.Payment.TransactionID)
	require.Eventually(t, func() bool {
		d, err := s.Temporal.DescribeWorkflow(t.Context(), workflow, "")
		if err != nil {
			return false
		}

		changes := d.RawResponse.GetWorkflowExecutionInfo().GetSearchAttributes().GetIndexedFields()["TemporalChangeVersion"]

		return strings.Contains(string(changes.GetData()), "payment-opens-again")
	}, time.Minute, 100*time.Millisecond, "the caller that closes it waits for half a minute")

	a = customer.Post(intent, map[string]any{"payment_method": models.MethodCreditCard})
	require.Equal(t, http.StatusBadGateway, a.Status, "%s", a.Body)

	s.ClearFaults()
	require.Eventually(t, func() bool {
		a = customer.Post(intent, map[string]any{"payment_method": models.MethodCreditCard})

		return a.Status == http.StatusOK
	}, time.Minute, 100*time.Millisecond, "it is opened when the gateway is back")

	attempt := b.Payment.TransactionID
	require.NoError(t, a.Data(&b.Payment))
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM payment_transactions WHERE id = $1 AND status = 'PAID'", attempt))
	replay(t, s, "payment-at-once-opens-again", workflow)
}
