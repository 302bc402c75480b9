package audit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/payments"
	"rihla/models"
)

// paidAgain has a gateway take the money of a payment once more.
func (w *world) paidAgain(t *testing.T) {
	t.Helper()

	added, err := w.s.Payments.NoteSecondDebits(t.Context(), w.paid(t).ID, []payments.SecondDebit{{
		GatewayPaymentID: "payment-2", Amount: models.MustMoney("115.00"), Currency: models.Currency,
	}})
	require.NoError(t, err)
	require.Len(t, added, 1)

	w.again, err = w.s.Payments.TransactionByID(t.Context(), added[0])
	require.NoError(t, err)
}

func secondDebitTamperings(w *world) []tampering {
	return []tampering{
		{
			"second-debit", "of another payment", "UPDATE payment_transactions SET parent_id = $2 WHERE id = $1",
			[]any{w.again.ID, w.declined.ID},
			of(w.again.ID),
			[]string{"payment-proof"},
		},
		{
			"second-debit", "the payment itself", "UPDATE payment_transactions SET gateway_payment_id = 'payment-2' WHERE id = $1",
			[]any{w.again.ParentID},
			of(w.again.ID),
			nil,
		},
		{
			"second-debit", "with VAT", "UPDATE payment_transactions SET vat_amount = 15 WHERE id = $1",
			[]any{w.again.ID},
			of(w.again.ID),
			nil,
		},
		{
			"late-incident", "a second payment without an incident", "DELETE FROM incidents WHERE payment_transaction_id = $1",
			[]any{w.again.ID},
			of(w.again.ID),
			nil,
		},
	}
}
