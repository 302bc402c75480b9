package histories_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestSuspenseHistories: the gateway takes another amount or currency, and it is given back: in SAR by the gateway, else by a manual
// payout. What it takes for an attempt that had ended closes the attempt that is open beside it.
func TestSuspenseHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)

	type ordered struct {
		ID uuid.UUID `json:"id"`
	}

	giveBack := func(payment uuid.UUID) uuid.UUID {
		t.Helper()

		a := finance.Post("/api/v1/admin/payment-transactions/"+payment.String()+"/refund", map[string]any{})
		require.Contains(t, []int{http.StatusCreated, http.StatusAccepted}, a.Status, "%s", a.Body)

		var r ordered
		require.NoError(t, a.Data(&r))

		return r.ID
	}

	fault(s, "webhook", "wrong_amount", 1)

	wrong := customer.Book(1)
	require.NoError(t, s.Pay(*wrong.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionFailed, customer.Await(wrong.ID).PaymentStatus)
	replay(t, s, "payment-at-once-in-suspense", models.PaymentWorkflowID(wrong.Payment.TransactionID))
	replay(t, s, "refund-at-once-of-suspense", models.RefundWorkflowID(giveBack(wrong.Payment.TransactionID)))

	fault(s, "webhook", "wrong_currency", 1)

	foreign := customer.Book(1)
	require.NoError(t, s.Pay(*foreign.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionFailed, customer.Await(foreign.ID).PaymentStatus)

	byHand := giveBack(foreign.Payment.TransactionID)
	a := s.As(models.RoleAdmin).Post("/api/v1/admin/refunds/"+byHand.String()+"/confirm-payout", map[string]any{"payout_reference": "TRF-USD"})
	require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, a.Status, "%s", a.Body)
	replay(t, s, "refund-of-suspense-by-hand", models.RefundWorkflowID(byHand))

	late := customer.Book(1)
	require.NoError(t, s.Pay(*late.Payment.CheckoutURL, "decline"))
	require.Equal(t, models.TransactionFailed, customer.Await(late.ID).PaymentStatus)

	a = customer.Post("/api/v1/payments/booking/"+late.ID.String()+"/intent", map[string]any{"payment_method": models.MethodCreditCard})
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)

	var other ordered
	require.NoError(t, a.Data(&other))

	fault(s, "webhook", "wrong_amount", 1)
	s.PayLate(*late.Payment.Reference)
	// Of this booking: a message of the gateway about one of the refunds above may have come late, too.
	replay(t, s, "late-payment-in-suspense", s.AwaitWorkflowOf("LatePayment", late.ID))
	replay(t, s, "reconcile-beside-suspense", models.ReconcileWorkflowID(other.ID))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM payment_transactions WHERE id = $1 AND failure_code = 'CANCELLED'", other.ID))
}
