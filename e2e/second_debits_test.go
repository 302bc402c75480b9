package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/gateways"
	"rihla/models"
)

// TestPaidTwice has a service to itself: faults hit the next webhook, whose ever it is.
func TestPaidTwice(t *testing.T) {
	t.Parallel()

	paidTwice(t, harness.Start(t, harness.Options{}), gateways.Unbounded())
}

// paidTwice: 575.00 are taken once more for a checkout that was settled, and the message about it comes twice at once. 575.00 are owed, an
// incident says so, and they go back once; the booking stays paid by what was paid first. The harness audits the books in the end.
func paidTwice(t *testing.T, s *harness.Stack, _ gateways.Capabilities) {
	t.Helper()

	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)
	b := customer.BookPaid(5)

	if !s.Gateway.Traits().PaysAgain {
		require.Error(t, s.Gateway.PayAgain(*b.Payment.Reference), "its page cannot be paid twice")

		return
	}

	s.Fault(map[string]any{"operation": "webhook", "mode": "duplicate"})
	require.NoError(t, s.Gateway.PayAgain(*b.Payment.Reference))

	var debit, back uuid.UUID

	require.Eventually(t, func() bool {
		err := s.DB.QueryRowContext(t.Context(), `SELECT d.id, r.id FROM payment_transactions AS d
			JOIN refunds AS r ON r.payment_transaction_id = d.id WHERE d.parent_id = $1 AND d.kind = 'SECOND_DEBIT'`,
			b.Payment.TransactionID).Scan(&debit, &back)

		return err == nil
	}, patience, 100*time.Millisecond)

	require.Contains(t, incidentOf(t, s, models.IncidentLatePayment, debit), "the gateway took 575.00 SAR again")

	given := awaitRefund(t, finance, back)
	require.Equal(t, models.RefundSucceeded, given.Status)
	require.Equal(t, "575.00", given.Amount.String())

	require.Equal(t, http.StatusOK, finance.Get(transactionsPath+"/"+debit.String()).Status)

	at := checkoutOf(t, s, b)
	require.Equal(t, "0.00", at.RefundedAmount.String(), "what was paid first is kept")
	require.Len(t, at.SecondDebits, 1)
	require.Equal(t, "575.00", at.SecondDebits[0].RefundedAmount.String(), "what was paid again has gone back")

	status := statusOf(t, customer, b.ID)
	require.Equal(t, models.TransactionPaid, status.PaymentStatus)
	require.Equal(t, models.BookingConfirmed, status.BookingStatus)
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM financial_records WHERE booking_id = '`+b.ID.String()+`' AND gross_amount = 575
		AND balance_status = 'IN_CURRENT_BALANCE'`))
	require.Equal(t, 2, s.Count(`SELECT count(*) FROM ledger_transfers WHERE transaction_id = '`+debit.String()+`' AND amount = 575
		AND kind IN ('LATE_CAPTURE', 'REFUND_PAID')`))
}
