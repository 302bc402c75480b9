package tripcancel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/tripcancel"
	"rihla/models"
)

// TestWhoCallsOffDoesNotConfirmThePayouts: the money of a bill is transferred on a person's word, which may not be the word of the person
// who had it refunded; and what its gateway refused the same.
func TestWhoCallsOffDoesNotConfirmThePayouts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.PaidBill(t)

	card := b.Paid(t, 1)
	admin := b.As(models.RoleAdmin)

	c, err := b.Store.TripCancellations.Order(t.Context(), admin, tripcancel.Order{
		TripID: b.Trip.ID, Reason: "The bus broke down", Expected: b.preview(t).RefundTotal,
	}, time.Now())
	require.NoError(t, err)
	require.Zero(t, b.cancelAll(t, c.ID))

	byCard := b.ids(t, "SELECT id FROM refunds WHERE payment_transaction_id = $1", card.ID)
	require.Len(t, byCard, 1)

	_, err = b.Store.Refunds.SettleRefund(t.Context(), byCard[0], models.RefundResult{Status: models.RefundFailed}, time.Now())
	require.NoError(t, err)
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM refunds WHERE channel = 'MANUAL' AND status = 'PENDING'"))

	for _, id := range b.ids(t, "SELECT id FROM refunds WHERE channel = 'MANUAL'") {
		_, err := b.Store.Refunds.DecidePayout(t.Context(), admin, bookstest.PaidOut(id, "TRF-"+id.String()[24:]), time.Now())
		bookstest.RequireCode(t, models.CodeForbidden, err)

		_, err = b.DB.ExecContext(t.Context(), `INSERT INTO refund_payouts (refund_id, decision, payout_reference, paid_out_on, decided_by, decided_at)
			VALUES ($1, 'PAID_OUT', 'x', current_date, $2, now())`, id, admin.UserID)
		require.ErrorContains(t, err, "cannot be decided so")

		require.Equal(t, models.PayoutPaid, b.Decide(t, bookstest.PaidOut(id, "TRF-"+id.String()[24:]), models.RoleFinanceAdmin).Payout.Decision)
	}
}
