package gatewaytest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
)

// PayAgain takes the money of a paid checkout once more.
func (c *Company) PayAgain(t *testing.T, checkout gateways.Checkout) {
	t.Helper()

	status, answer := c.Do(t, http.MethodPost, "/sandbox/checkouts/"+checkout.ID+"/pay-again", "")
	require.Equal(t, http.StatusOK, status, answer)
}

// testPaidAgain: of two payments of a checkout each has its own answer, and gives back what it took and no more. In the end the company
// has kept one of them.
func testPaidAgain(t *testing.T, s Subject) {
	t.Helper()

	c := paid(t, s)
	first := refundOf(c, "1150.00").Checkout
	first.PaymentID = read(t, s, c).PaymentID // as it was kept when it settled
	s.PayAgain(t, c.Checkout)

	now, err := s.Gateway.ReadCheckout(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutPaid, now.Status)
	require.Equal(t, "1150.00", now.Amount.String(), "what was asked for")
	require.Len(t, now.Others, 1)
	require.Equal(t, "1150.00", now.Others[0].Amount.String())
	require.Equal(t, c.Currency, now.Others[0].Currency)
	require.NotEqual(t, first.PaymentID, now.Others[0].PaymentID)

	back := refundOf(c, "1150.00")
	back.Checkout.PaymentID = now.Others[0].PaymentID
	r, err := s.Gateway.CreateRefund(t.Context(), back)
	require.NoError(t, err)
	require.Equal(t, gateways.RefundSucceeded, r.Status)
	require.Equal(t, c.ID, r.CheckoutID)

	found, err := s.Gateway.ReadRefund(t.Context(), back.Ref())
	require.NoError(t, err)
	require.Equal(t, r, found)

	more := refundOf(c, "0.01")
	more.Checkout.PaymentID, more.RefundedBefore = back.Checkout.PaymentID, back.Amount
	_, err = s.Gateway.CreateRefund(t.Context(), more)
	requireKind(t, gateways.KindRejected, err)

	for _, one := range []struct {
		ref      gateways.CheckoutRef
		refunded string
	}{{first, "0.00"}, {back.Checkout, "1150.00"}} {
		c, err := s.Gateway.ReadCheckout(t.Context(), one.ref)
		require.NoError(t, err)
		require.Equal(t, gateways.CheckoutPaid, c.Status)
		require.Equal(t, "1150.00", c.Amount.String())
		require.Equal(t, one.refunded, c.RefundedAmount.String())
	}
}
