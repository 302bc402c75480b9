package e2e_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	sdkpb "go.temporal.io/api/sdk/v1"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestMoneyInSuspense has a service to itself: faults hit the next webhook, whose ever it is.
func TestMoneyInSuspense(t *testing.T) { //nolint:tparallel // its parts share one service, one after the other
	t.Parallel()

	service := harness.Start(t, harness.Options{})

	t.Run("another amount", func(t *testing.T) { anotherAmount(t, service.For(t)) })
	t.Run("another currency", func(t *testing.T) { anotherCurrency(t, service.For(t)) })
	t.Run("one's own", func(t *testing.T) { ownSuspense(t, service.For(t)) })
	t.Run("campaign", func(t *testing.T) { suspenseOfCampaign(t, service.For(t)) })
}

// taken is what a payment says of the money in suspense.
type taken struct {
	Status      models.TransactionStatus `json:"status"`
	FailureCode models.FailureCode       `json:"failure_code"`
	Amount      *models.Money            `json:"captured_amount"`
	Currency    *string                  `json:"captured_currency"`
	At          *string                  `json:"captured_at"`
}

func givePath(transaction uuid.UUID) string {
	return transactionsPath + "/" + transaction.String() + "/refund"
}

// payWrongly books a seat, which the gateway takes something else for than was asked.
func payWrongly(t *testing.T, s *harness.Stack, customer *harness.Caller, mode string) harness.Booking {
	t.Helper()
	s.Fault(map[string]any{"operation": "webhook", "mode": mode, "times": 1})

	b := customer.Book(1)
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionFailed, customer.Await(b.ID).PaymentStatus)

	return b
}

// incidentOf is the message of the payment's open incident.
func incidentOf(t *testing.T, s *harness.Stack, kind models.IncidentKind, transaction uuid.UUID) string {
	t.Helper()

	type shown struct {
		TransactionID *uuid.UUID `json:"payment_transaction_id"`
		Message       string     `json:"message"`
	}

	open := decoded[[]shown](t, http.StatusOK, s.As(models.RoleSupportAgent).Get(incidentsPath+"?status=OPEN&per_page=100&kind="+string(kind)))
	at := slices.IndexFunc(open, func(i shown) bool { return *i.TransactionID == transaction })
	require.GreaterOrEqual(t, at, 0)

	return open[at].Message
}

// detailsOf is what the Temporal UI shows of a workflow under Current Details.
func detailsOf(t *testing.T, s *harness.Stack, workflowID string) string {
	t.Helper()

	var shown sdkpb.WorkflowMetadata

	found, err := s.Temporal.QueryWorkflow(t.Context(), workflowID, "", "__temporal_workflow_metadata")
	require.NoError(t, err)
	require.NoError(t, found.Get(&shown))

	return shown.GetCurrentDetails()
}

// anotherAmount gives back through the gateway what it took.
func anotherAmount(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	b := payWrongly(t, s, customer, "wrong_amount")
	payment := b.Payment.TransactionID

	got := decoded[taken](t, http.StatusOK, finance.Get(transactionsPath+"/"+payment.String()))
	require.Equal(t, models.FailureAmountMismatch, got.FailureCode)
	require.Equal(t, "116.00", got.Amount.String())
	require.Equal(t, "SAR", *got.Currency)
	require.NotNil(t, got.At)
	require.Contains(t, incidentOf(t, s, models.IncidentAmountMismatch, payment), "Expected 115.00 SAR, the gateway took 116.00 SAR.")

	require.Contains(t, detailsOf(t, s, models.PaymentWorkflowID(payment)), "Expected 115.00 SAR, the gateway took 116.00 SAR.")

	retry := func() harness.Answer { return customer.Post(intentPath(b.ID), byCard()) }
	refused(t, retry(), http.StatusConflict, models.CodePaymentInSuspense)
	refused(t, finance.Post(refundPath(b.ID), fully()), http.StatusConflict, models.CodeBookingNotRefundable)

	// Refused by the gateway, the money stays where it is.
	s.Fault(map[string]any{"operation": "refund", "mode": "reject"})
	require.Equal(t, models.RefundFailed, decoded[refund](t, http.StatusCreated, finance.Post(givePath(payment), map[string]any{})).Status)
	refused(t, retry(), http.StatusConflict, models.CodePaymentInSuspense)

	key, why := uuid.NewString(), map[string]any{"reason": "another amount"}
	asked := post(finance, givePath(payment), why, key)
	r := decodedAny[refund](t, asked)
	require.Equal(t, "116.00", r.Amount.String())
	require.Equal(t, models.RefundByGateway, r.Channel)
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, r.ID).Status)
	require.Equal(t, string(asked.Body), string(post(finance, givePath(payment), why, key).Body))
	refused(t, finance.Post(givePath(payment), map[string]any{}), http.StatusConflict, models.CodeBookingNotRefundable)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM ledger_transfers WHERE transaction_id = $1 AND debit_account = 'suspense:gateway_a'
		AND credit_account = 'gateway:gateway_a' AND amount = 116.00`, payment))

	// Now the booking can be paid.
	again := decoded[transaction](t, http.StatusCreated, retry())
	require.NoError(t, s.Pay(*again.CheckoutURL, "succeed"))
	require.Equal(t, models.BookingConfirmed, customer.Await(b.ID).BookingStatus)
}

// anotherCurrency is paid out manually, by another user than the requester.
func anotherCurrency(t *testing.T, s *harness.Stack) {
	t.Helper()

	finance := s.As(models.RoleFinanceAdmin)
	b := payWrongly(t, s, s.As(models.RoleEndUser), "wrong_currency")
	payment := b.Payment.TransactionID
	require.Contains(t, incidentOf(t, s, models.IncidentCurrencyMismatch, payment), "Expected 115.00 SAR, the gateway took 115.00 USD.")

	r := decoded[refund](t, http.StatusAccepted, finance.Post(givePath(payment), map[string]any{}))
	require.Equal(t, models.RefundByHand, r.Channel)
	require.True(t, r.NeedsPayout)
	require.Contains(t, detailsOf(t, s, models.RefundWorkflowID(r.ID)), "115.00 USD manually: gateways refund no other currency than SAR")

	paid := map[string]any{"payout_reference": "TRF-USD"}
	refused(t, finance.Post(payoutPath(r.ID, "confirm"), paid), http.StatusForbidden, models.CodeForbidden)

	a := s.As(models.RoleAdmin).Post(payoutPath(r.ID, "confirm"), paid)
	require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, a.Status, "%s", a.Body)
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, r.ID).Status)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM refunds WHERE id = $1 AND currency = 'USD' AND amount = 115.00", r.ID))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM ledger_transfers WHERE refund_id = $1 AND debit_account = 'suspense:gateway_a:USD'
		AND credit_account = 'platform:bank:USD'`, r.ID))
}

// ownSuspense: a role does not help who has paid.
func ownSuspense(t *testing.T, s *harness.Stack) {
	t.Helper()

	finance := s.As(models.RoleFinanceAdmin)
	b := payWrongly(t, s, finance, "wrong_amount")
	refused(t, finance.Post(givePath(b.Payment.TransactionID), map[string]any{}), http.StatusForbidden, models.CodeForbidden)
	require.Zero(t, s.Count("SELECT count(*) FROM refunds WHERE payment_transaction_id = $1", b.Payment.TransactionID))
}

func suspenseOfCampaign(t *testing.T, s *harness.Stack) {
	t.Helper()

	staff, finance, campaign := s.As(models.RoleProviderAdmin), s.As(models.RoleFinanceAdmin), s.NewCampaign("100.00", 3)
	s.Fault(map[string]any{"operation": "webhook", "mode": "wrong_amount", "times": 1})

	attempt := decoded[transaction](t, http.StatusCreated, staff.Post(campaignIntentPath(campaign), byCard()))
	require.NoError(t, s.Pay(*attempt.CheckoutURL, "succeed"))
	require.Equal(t, models.FailureAmountMismatch, *awaitTransaction(t, s, attempt.ID).FailureCode)
	refused(t, staff.Post(campaignIntentPath(campaign), byCard()), http.StatusConflict, models.CodePaymentInSuspense)

	r := decodedAny[refund](t, finance.Post(givePath(attempt.ID), map[string]any{}))
	require.Equal(t, "121.00", r.Amount.String())
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, r.ID).Status)
	decoded[transaction](t, http.StatusCreated, staff.Post(campaignIntentPath(campaign), byCard()))
}
