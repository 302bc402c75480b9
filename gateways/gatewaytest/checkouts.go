package gatewaytest

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/models"
)

func testPaid(t *testing.T, s Subject) {
	t.Helper()

	c := open(t, s)
	require.NotEmpty(t, c.ID)
	require.NotEmpty(t, c.URL)
	require.Equal(t, gateways.CheckoutOpen, c.Status)
	require.Equal(t, c.request.MerchantReference, c.MerchantReference)
	require.True(t, c.Amount.Equal(c.request.Amount))

	s.Pay(t, c.Checkout)

	got := read(t, s, c)
	require.Equal(t, gateways.CheckoutPaid, got.Status)
	require.Equal(t, "1150.00", got.Amount.String())
	require.Equal(t, models.Currency, got.Currency)
	require.Equal(t, "0.00", got.RefundedAmount.String())
	require.NotEmpty(t, got.ResultCode)
	require.Empty(t, got.FailureReason)

	if got.PaidAt != nil { // not every company says it
		require.WithinDuration(t, time.Now(), *got.PaidAt, time.Minute)
	}

	found, err := s.Gateway.ReadCheckout(t.Context(), c.search())
	require.NoError(t, err)
	require.Equal(t, got, found)

	_, err = s.Gateway.CancelCheckout(t.Context(), c.ref())
	requireKind(t, gateways.KindRejected, err)
	require.Equal(t, gateways.CheckoutPaid, read(t, s, c).Status)
}

// testDeclined: a declined card ends the checkout, or leaves it to another card.
func testDeclined(t *testing.T, s Subject) {
	t.Helper()

	c := open(t, s)
	s.Decline(t, c.Checkout)

	got := read(t, s, c)
	require.Equal(t, s.Declined, got.Status)

	if s.Declined == gateways.CheckoutFailed {
		require.NotEmpty(t, got.ResultCode)
		require.NotEmpty(t, got.FailureReason)

		return
	}

	require.Equal(t, got.ResultCode == "", got.FailureReason == "", "what was declined is told with both, or not at all")
	s.Pay(t, c.Checkout)

	got = read(t, s, c)
	require.Equal(t, gateways.CheckoutPaid, got.Status, "one attempt failed and another succeeded")
	require.True(t, got.Amount.Equal(c.Amount))
	require.Empty(t, got.FailureReason)
}

func testExpired(t *testing.T, s Subject) {
	t.Helper()

	c := open(t, s)
	s.Expire(t, c.Checkout)

	require.Equal(t, gateways.CheckoutExpired, read(t, s, c).Status)

	_, err := s.Gateway.CancelCheckout(t.Context(), c.ref())
	requireKind(t, gateways.KindRejected, err)
}

func testCanceled(t *testing.T, s Subject) {
	t.Helper()

	c := open(t, s)

	for range 2 {
		got, err := s.Gateway.CancelCheckout(t.Context(), c.ref())
		require.NoError(t, err)
		require.Equal(t, gateways.CheckoutCanceled, got.Status)
		require.Equal(t, c.ID, got.ID)
	}

	require.Equal(t, gateways.CheckoutCanceled, read(t, s, c).Status)
}

// testUncancelable: a company without a way to close a checkout must not be believed to have closed one.
func testUncancelable(t *testing.T, s Subject) {
	t.Helper()

	c := open(t, s)
	_, err := s.Gateway.CancelCheckout(t.Context(), c.ref())
	requireKind(t, gateways.KindRejected, err)
	require.Equal(t, gateways.CheckoutOpen, read(t, s, c).Status)
}

func testSameCheckout(t *testing.T, s Subject) {
	t.Helper()

	c := open(t, s)
	again, err := s.Gateway.CreateCheckout(t.Context(), c.request)
	require.NoError(t, err)
	require.Equal(t, c.Checkout, again)
}

// testFoundCheckout: what a lost answer has left is found, and can be paid.
func testFoundCheckout(t *testing.T, s Subject) {
	t.Helper()

	c := open(t, s)
	found, err := s.Gateway.ReadCheckout(t.Context(), c.search())
	require.NoError(t, err)
	require.Equal(t, c.ID, found.ID)
	require.Equal(t, gateways.CheckoutOpen, found.Status)
	require.Equal(t, c.URL, found.URL, "the customer can be sent there")
}

// testHarmlessCheckout: an unpaid checkout is not found by its reference, and another one of it can be paid. Both are found then.
func testHarmlessCheckout(t *testing.T, s Subject) {
	t.Helper()

	lost := open(t, s)
	_, err := s.Gateway.ReadCheckout(t.Context(), lost.search())
	requireKind(t, gateways.KindNotFound, err)

	again, err := s.Gateway.CreateCheckout(t.Context(), lost.request)
	require.NoError(t, err)
	require.NotEqual(t, lost.ID, again.ID)

	s.Pay(t, again)

	saved := made{again, lost.request}
	require.Equal(t, gateways.CheckoutPaid, read(t, s, saved).Status)

	found, err := s.Gateway.ReadCheckout(t.Context(), saved.search())
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutPaid, found.Status)
	require.Equal(t, again.ID, found.ID)
}

// testPaidOtherwise: the amount and the currency of a paid checkout are those that the company took, not what was asked for.
func testPaidOtherwise(t *testing.T, s Subject) {
	t.Helper()

	c := open(t, s)
	s.PayOther(t, c.Checkout, "900.00", models.Currency)

	got := read(t, s, c)
	require.Equal(t, gateways.CheckoutPaid, got.Status)
	require.Equal(t, "900.00", got.Amount.String())

	c = open(t, s)
	s.PayOther(t, c.Checkout, "1150.00", "USD")

	got = read(t, s, c)
	require.Equal(t, gateways.CheckoutPaid, got.Status)
	require.True(t, models.SameCurrency("USD", got.Currency))
}

func testNotFound(t *testing.T, s Subject) {
	t.Helper()

	known := open(t, s)
	byID := known.ref()
	byID.ID, byID.MerchantReference = s.UnknownID, uuid.New()

	byReference := known.search()
	byReference.MerchantReference = uuid.New()

	for name, ref := range map[string]gateways.CheckoutRef{"by the gateway's id": byID, "by our reference": byReference} {
		_, err := s.Gateway.ReadCheckout(t.Context(), ref)
		requireKind(t, gateways.KindNotFound, err)
		require.NotEmpty(t, name)
	}

	if s.Gateway.Capabilities().Cancel {
		_, err := s.Gateway.CancelCheckout(t.Context(), byID)
		requireKind(t, gateways.KindNotFound, err)
	}

	request := refundOf(paid(t, s), "1.00")
	_, err := s.Gateway.ReadRefund(t.Context(), request.Ref())
	requireKind(t, gateways.KindNotFound, err)

	if s.Gateway.Capabilities().Refunds != gateways.SettledBySum {
		_, err = s.Gateway.ReadRefund(t.Context(), refOfRefund(request, gateways.Refund{ID: s.UnknownID}))
		requireKind(t, gateways.KindNotFound, err)
	}

	request.Checkout = byID
	request.Checkout.CreatedAt = time.Now().Add(-24 * time.Hour) // longer ago than any search lags: no payment will turn up
	_, err = s.Gateway.CreateRefund(t.Context(), request)
	requireKind(t, gateways.KindRejected, err)
}

func testEndedContext(t *testing.T, s Subject) {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := s.Gateway.CreateCheckout(ctx, s.request())
	requireKind(t, gateways.KindUnknown, err)
	require.ErrorIs(t, err, context.Canceled)
}

// testCapabilities: what is stated makes sense.
func testCapabilities(t *testing.T, s Subject) {
	t.Helper()

	can := s.Gateway.Capabilities()
	require.NotEmpty(t, can.Methods)
	require.Contains(t, []gateways.Settlement{
		gateways.SettledByKey, gateways.SettledByReference, gateways.SettledHarmlessly,
	}, can.Checkouts)
	require.Contains(t, []gateways.Settlement{gateways.SettledByKey, gateways.SettledByReference, gateways.SettledBySum}, can.Refunds)

	seen := map[models.PaymentMethod]bool{}

	for _, m := range can.Methods {
		require.False(t, seen[m.Method], "%s is stated twice", m.Method)
		seen[m.Method] = true

		require.Contains(t, models.PaymentMethods(), m.Method)
		require.Contains(t, m.Currencies, models.Currency)
		require.Contains(t, []gateways.RefundExtent{gateways.RefundsNone, gateways.RefundsFull, gateways.RefundsPartial}, m.Refunds)
		require.True(t, m.MaxAmount.IsZero() || m.MinAmount.Cmp(m.MaxAmount) < 0)
		require.True(t, m.MaxTimeToPay == 0 || m.MinTimeToPay <= m.MaxTimeToPay)
	}

	require.True(t, seen[s.Method])
}
