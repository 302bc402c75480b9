package activities_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/models"
)

// TestRefundThatDoesNotFitAnyMore: what the dashboard has given back before a refund is first sent is found then, whatever the gateway
// knows refunds by. Nothing is sent, and what is left can be refunded.
func TestRefundThatDoesNotFitAnyMore(t *testing.T) {
	t.Parallel()

	for name, settled := range map[string]gateways.Settlement{
		"by key": gateways.SettledByKey, "by reference": gateways.SettledByReference, "by sum": gateways.SettledBySum,
	} {
		d := newDesk(t)
		d.gateway.Can.Refunds = settled
		a := d.paid(t)
		id := d.reservedOf(t, a, "115.00")
		d.gateway.RefundInDashboard(a.ID(), models.MustMoney("20.00"))

		result := d.refundAtGateway(t, id)
		require.Equal(t, models.RefundFailed, result.Status, name)
		require.Zero(t, d.gateway.Calls(fake.CreateRefund), name)

		_, err := d.SettleRefund(t.Context(), activities.RefundDecision{RefundID: id, Result: result})
		require.NoError(t, err)

		left := d.reservedOf(t, a, "95.00")
		require.Equal(t, models.RefundSucceeded, d.refundAtGateway(t, left).Status, name)
		require.Equal(t, "95.00", d.gateway.Refunded().String(), name)
	}
}

// TestComparePayment asks once, and again when something was heard.
func TestComparePayment(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	a := d.paid(t)
	d.gateway.RefundInDashboard(a.ID(), models.MustMoney("20.00"))

	asked := d.gateway.Calls(fake.GetCheckout)

	for range 2 {
		require.NoError(t, d.ComparePayment(t.Context(), a.ID()))
	}

	require.Equal(t, asked+1, d.gateway.Calls(fake.GetCheckout), "the answer is young")
	out := d.transaction(t, a)
	require.Equal(t, "20.00", out.OutsideRefundedAmount.String())

	d.gateway.RefundInDashboard(a.ID(), models.MustMoney("10.00"))

	due, err := d.Store.Payments.RecheckPayment(t.Context(), a.ID(), time.Now())
	require.NoError(t, err)
	require.True(t, due)
	require.NoError(t, d.ComparePayment(t.Context(), a.ID()))

	out = d.transaction(t, a)
	require.Equal(t, "30.00", out.OutsideRefundedAmount.String())
	require.Nil(t, out.RecheckAt)

	open := d.opened(t)
	require.NoError(t, d.ComparePayment(t.Context(), open.ID()), "nothing was taken of it")
	require.Error(t, d.ComparePayment(t.Context(), uuid.New()))
}
