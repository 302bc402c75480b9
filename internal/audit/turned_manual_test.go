package audit

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/models"
)

// refuseByMessage cancels two bookings whose refunds the gateway refuses in a message: they stay PENDING, as manual payouts, of which one
// is paid.
func (w *world) refuseByMessage(t *testing.T) {
	t.Helper()

	w.refusedByMessage(t)

	r, reference := w.refusedByMessage(t), "TRF-refused"
	_, err := w.s.Refunds.DecidePayout(t.Context(), db.Actor{UserID: w.Users[models.RoleAdmin].ID, Role: models.RoleAdmin}, models.RefundPayout{
		RefundID: r.ID, Decision: models.PayoutPaid, Reference: &reference,
	}, time.Now())
	require.NoError(t, err)

	paid, err := w.s.Refunds.SettleRefund(t.Context(), r.ID, models.RefundResult{Status: models.RefundSucceeded}, time.Now())
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, paid.Status)
}

func (w *world) refusedByMessage(t *testing.T) models.Refund {
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

	result := models.RefundResult{Status: models.RefundFailed, GatewayRefundID: "re-" + r.ID.String()}
	_, err = w.s.Refunds.SettleRefund(t.Context(), r.ID, result, time.Now())
	require.NoError(t, err)

	settled, err := w.s.Refunds.RefundByID(t.Context(), r.ID)
	require.NoError(t, err)
	require.Equal(t, models.RefundByHand, settled.Channel)
	require.Equal(t, models.RefundPending, settled.Status)

	return settled
}
