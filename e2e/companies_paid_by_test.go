package e2e_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/gateways"
	"rihla/models"
)

// paidOtherwise: at a company that takes bills, a card's checkout that is paid by one says so and goes back by a manual payout, and a bill
// that is paid by a card goes back through the company.
func paidOtherwise(t *testing.T, s *harness.Stack, can gateways.Capabilities) {
	t.Helper()

	if _, bills := can.Of(models.MethodBillPayment); !bills {
		return // the company takes no bills
	}

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	paid := func(b harness.Booking, by models.PaymentMethod) (shown struct {
		Method   models.PaymentMethod  `json:"payment_method"`
		PaidBy   *models.PaymentMethod `json:"paid_by"`
		Label    string                `json:"paid_by_label_en"`
		Timeline []struct {
			Event string `json:"event"`
			Facts struct {
				PaidBy string `json:"paid_by"`
			} `json:"facts"`
		} `json:"timeline"`
	},
	) {
		t.Helper()
		require.NoError(t, s.PayBy(*b.Payment.CheckoutURL, by))
		require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)
		require.NoError(t, finance.Get("/api/v1/admin/payment-transactions/"+b.Payment.TransactionID.String()).Data(&shown))

		return shown
	}

	card := customer.Book(1)
	shown := paid(card, models.MethodBillPayment)
	require.Equal(t, models.MethodCreditCard, shown.Method)
	require.Equal(t, models.MethodBillPayment, *shown.PaidBy)
	require.Equal(t, models.MethodBillPayment.Label().EN, shown.Label)

	told := 0

	for _, e := range shown.Timeline {
		if e.Event == "STATUS_CHANGED" && e.Facts.PaidBy == string(models.MethodBillPayment) {
			told++
		}
	}

	require.Equal(t, 1, told)

	r := askedByHand(t, s, card, fully())
	require.Equal(t, http.StatusOK, s.As(models.RoleAdmin).Post("/api/v1/admin/refunds/"+r.ID.String()+"/confirm-payout", confirmation("TRF-OTHER-1")).Status)
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, r.ID).Status)

	bill := customer.BookBill(1)
	require.Equal(t, models.MethodDebitNetwork, *paid(bill, models.MethodDebitNetwork).PaidBy)

	back := decoded[refund](t, http.StatusCreated, finance.Post(refundPath(bill.ID), fully()))
	require.Equal(t, models.RefundByGateway, back.Channel)
	require.Equal(t, models.RefundSucceeded, awaitRefund(t, finance, back.ID).Status)
}
