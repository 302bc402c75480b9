package audit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// refuseByMessage cancels a booking whose refund the gateway refuses in a message: it stays PENDING, as a manual payout.
func (w *world) refuseByMessage(t *testing.T) {
	t.Helper()

	tx := w.paid(t)

	done, err := w.s.Refunds.Cancel(t.Context(), models.RefundRequest{
		ID: models.NewID(), BookingID: *tx.BookingID, RequestedBy: &w.finance.UserID, Role: w.finance.Role,
	}, models.CancelOrder{ID: models.NewID(), RefundBy: models.CancelInFull}, time.Now())
	require.NoError(t, err)

	r := done.Refund

	stored, err := w.s.Inbox.StoreEvent(t.Context(), models.WebhookEvent{
		ID: models.NewID(), Channel: tx.PaymentMethod.Channel(), WebhookID: "status-query:refused-" + r.ID.String(), Type: models.EventRefundFailed,
		CheckoutID: "ref-" + tx.ID.String(), MerchantReference: r.ID.String(), Amount: &r.Amount, Currency: r.Currency,
		PaymentMethod: tx.PaymentMethod, OccurredAt: time.Now(), GatewayRefundID: "re-" + r.ID.String(),
	}, time.Now())
	require.NoError(t, err)
	require.True(t, stored.Deliver)

	_, err = w.s.Refunds.SettleRefund(t.Context(), r.ID, models.RefundResult{Status: models.RefundFailed}, time.Now())
	require.NoError(t, err)

	settled, err := w.s.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, models.RefundByHand, settled.Channel)
	require.Equal(t, models.RefundPending, settled.Status)
}
