package audit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/refunds"
	"rihla/models"
)

// backOutside has a gateway give some of a payment back without an order.
func (w *world) backOutside(t *testing.T) {
	t.Helper()

	w.outside = w.paid(t)

	mark, err := w.s.Refunds.BeginComparison(t.Context(), w.outside.ID)
	require.NoError(t, err)

	_, err = w.s.Refunds.CompareRefunded(t.Context(), w.outside.ID, mark, nil, refunds.GatewaySums{
		Refunded: models.MustMoney("20.00"), Currency: models.Currency,
	})
	require.NoError(t, err)
}

func outsideTamperings(w *world) []tampering {
	return []tampering{
		{
			"outside-refund", "less left the gateway", "UPDATE ledger_transfers SET amount = 19 WHERE transaction_id = $1 AND kind = 'OUTSIDE_REFUND'",
			[]any{w.outside.ID},
			of(w.outside.ID),
			[]string{"transfer-moment"},
		},
		{
			"outside-refund", "an incident that is gone", "DELETE FROM incidents WHERE payment_transaction_id = $1 AND kind = 'OUTSIDE_REFUND'",
			[]any{w.outside.ID},
			of(w.outside.ID),
			nil,
		},
		{
			"outside-refund-held", "less of it counts", "UPDATE payment_transactions SET outside_refunded_amount = 1 WHERE id = $1",
			[]any{w.outside.ID},
			of(w.outside.ID),
			nil,
		},
	}
}
