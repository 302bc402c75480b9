package audit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/models"
)

// cameBack has two refunds fail after they had succeeded; one of them is paid out manually.
func (w *world) cameBack(t *testing.T) {
	t.Helper()

	tx := w.paid(t)
	for _, r := range []*models.Refund{&w.owedAgain, &w.repaid} {
		*r = w.refund(t, tx, "7.00")

		stored, err := w.s.Inbox.StoreEvent(t.Context(), models.WebhookEvent{
			ID: models.NewID(), Channel: tx.PaymentMethod.Channel(), WebhookID: "status-query:returned-" + r.ID.String(), Type: models.EventRefundFailed,
			CheckoutID: "ref-" + tx.ID.String(), MerchantReference: r.ID.String(), Amount: &r.Amount, Currency: r.Currency,
			PaymentMethod: tx.PaymentMethod, OccurredAt: time.Now(), GatewayRefundID: "re-" + r.ID.String(), Revises: true,
		}, time.Now())
		require.NoError(t, err)
		require.True(t, stored.Deliver)

		_, err = w.s.Refunds.SettleRefund(t.Context(), r.ID, models.RefundResult{}, time.Now())
		require.NoError(t, err)
	}

	by := db.Actor{UserID: w.Users[models.RoleAdmin].ID, Role: models.RoleAdmin, RequestID: "req-returned"}
	reference := "TRF-9"
	_, err := w.s.Refunds.DecidePayout(t.Context(), by, models.RefundPayout{
		RefundID: w.repaid.ID, Decision: models.PayoutPaid, Reference: &reference,
	}, time.Now())
	require.NoError(t, err)
}

func returnTamperings(w *world) []tampering {
	return []tampering{
		{
			"refund-returned", "less came back", "UPDATE ledger_transfers SET amount = amount - 1 WHERE refund_id = $1 AND kind = 'REFUND_RETURNED'",
			[]any{w.owedAgain.ID},
			of(w.owedAgain.ID),
			[]string{"balance-customer"},
		},
		{
			"refund-returned", "it came back at no time", "UPDATE refunds SET returned_at = NULL WHERE id = $1",
			[]any{w.owedAgain.ID},
			of(w.owedAgain.ID),
			[]string{"balance-customer", "transfer-moment"},
		},
		{
			"refund-returned", "a payout that nobody decided", "DELETE FROM refund_payouts WHERE refund_id = $1",
			[]any{w.repaid.ID},
			of(w.repaid.ID),
			[]string{"balance-customer", "transfer-moment"},
		},
		{
			"refund-returned", "a payout that did not leave the bank", "DELETE FROM ledger_transfers WHERE refund_id = $1 AND kind = 'REFUND_REPAID'",
			[]any{w.repaid.ID},
			of(w.repaid.ID),
			[]string{"balance-customer"},
		},
		{
			"refund-returned", "an incident that is gone", "DELETE FROM incidents WHERE refund_id = $1",
			[]any{w.owedAgain.ID},
			of(w.owedAgain.ID),
			[]string{"event-outcome"},
		},
	}
}
