package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/gateways/fake"
	"rihla/models"
)

// What the gateway answers to a question says by what it was paid, too, and the money goes back that way: by a manual payout without a
// call, or through the gateway, whatever was chosen.
func TestAnswerOfAnotherMethod(t *testing.T) {
	t.Parallel()
	d := newDesk(t)

	card := d.opened(t)
	require.NoError(t, d.gateway.PayBy(card.ID(), models.MethodBillPayment))
	require.NoError(t, d.CloseCheckout(t.Context(), card.ID()))
	require.Equal(t, models.TransactionPaid, d.settle(t, card).Status)
	require.Equal(t, models.MethodBillPayment, *d.transaction(t, card).PaidBy)

	_, err := d.RefundAtGateway(t.Context(), d.reserved(t, card))
	require.Equal(t, models.CodeInvalidState, models.CodeOf(err), "%v", err)
	require.Zero(t, d.gateway.Calls(fake.CreateRefund))

	bill := d.attempt(t)
	bill.Method = models.MethodBillPayment
	d.open(t, bill)
	require.NoError(t, d.gateway.PayBy(bill.ID(), models.MethodDebitNetwork))
	require.NoError(t, d.CloseCheckout(t.Context(), bill.ID()))
	require.Equal(t, models.TransactionPaid, d.settle(t, bill).Status)
	require.Equal(t, models.MethodDebitNetwork, *d.transaction(t, bill).PaidBy)

	id := d.reserved(t, bill)
	settled, err := d.SettleRefund(t.Context(), activities.RefundDecision{RefundID: id, Result: d.refundAtGateway(t, id)})
	require.NoError(t, err)
	require.Equal(t, models.RefundSucceeded, settled.Status)
	require.Equal(t, "60.00", d.gateway.Refunded().String())
}
