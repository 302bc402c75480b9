package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/models"
)

// The books were restored to a moment before the refund was sent: the gateway has made it, and the books say that it was never sent. It is
// the refund that was ordered, and not one that was made outside of the service: it would not fit beside itself.
func TestRefundThatTheBooksHaveForgottenToBeSent(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.paid(t)
	tx := d.transaction(t, a)
	id := d.reservedOf(t, a, tx.Amount.String())

	_, err := d.gateway.CreateRefund(t.Context(), gateways.RefundRequest{
		Checkout:          gateways.CheckoutRef{ID: *tx.Reference, MerchantReference: tx.ID, Amount: tx.Amount, Currency: tx.Currency},
		MerchantReference: id, Amount: tx.Amount, Currency: tx.Currency,
	})
	require.NoError(t, err)

	require.Equal(t, models.RefundSucceeded, d.refundAtGateway(t, id).Status)
	require.Equal(t, 1, d.gateway.Calls(fake.CreateRefund), "it is not sent again")
	require.True(t, d.transaction(t, a).OutsideRefundedAmount.IsZero())

	r, err := d.Store.Refunds.RefundByID(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, 1, r.Sends)
}
