package gatewaytest

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
)

func testRefunds(t *testing.T, s Subject) {
	t.Helper()

	c := paid(t, s)

	for _, amount := range []string{"1000.00", "150.00"} {
		request := refundOf(c, amount)
		request.RefundedBefore = read(t, s, c).RefundedAmount

		r, err := s.Gateway.CreateRefund(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, gateways.RefundSucceeded, r.Status)
		require.Equal(t, amount, r.Amount.String())
		require.Equal(t, c.ID, r.CheckoutID)
		require.Equal(t, request.MerchantReference, r.MerchantReference)

		got, err := s.Gateway.ReadRefund(t.Context(), refOfRefund(request, r))
		require.NoError(t, err)
		require.Equal(t, r, got)

		found, err := s.Gateway.ReadRefund(t.Context(), request.Ref())
		require.NoError(t, err)
		require.Equal(t, r, found)
	}

	beyond := refundOf(c, "0.01")
	beyond.RefundedBefore = c.Amount
	_, err := s.Gateway.CreateRefund(t.Context(), beyond)
	requireKind(t, gateways.KindRejected, err)

	require.Equal(t, "1150.00", read(t, s, c).RefundedAmount.String())
	require.Equal(t, gateways.CheckoutPaid, read(t, s, c).Status, "it was paid, whatever went back")
}

func testUnpaidRefund(t *testing.T, s Subject) {
	t.Helper()

	_, err := s.Gateway.CreateRefund(t.Context(), refundOf(open(t, s), "1.00"))
	requireKind(t, gateways.KindRejected, err)
}

func testSameRefund(t *testing.T, s Subject) {
	t.Helper()

	c := paid(t, s)
	request := refundOf(c, "700.00")

	first, err := s.Gateway.CreateRefund(t.Context(), request)
	require.NoError(t, err)

	again, err := s.Gateway.CreateRefund(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, "700.00", read(t, s, c).RefundedAmount.String())
}

// testFoundRefund: of two refunds of the same amount each is found by its own reference.
func testFoundRefund(t *testing.T, s Subject) {
	t.Helper()

	c := paid(t, s)
	one, two, never := refundOf(c, "200.00"), refundOf(c, "200.00"), refundOf(c, "200.00")

	first, err := s.Gateway.CreateRefund(t.Context(), one)
	require.NoError(t, err)
	second, err := s.Gateway.CreateRefund(t.Context(), two)
	require.NoError(t, err)
	require.NotEqual(t, first.ID, second.ID)

	found, err := s.Gateway.ReadRefund(t.Context(), one.Ref())
	require.NoError(t, err)
	require.Equal(t, first, found)

	_, err = s.Gateway.ReadRefund(t.Context(), never.Ref())
	requireKind(t, gateways.KindNotFound, err)
}

// testRefundBySum: what has been given back since the refund was ordered is the refund, if it is just its amount. Less is
// none, and anything else is for a person to look at.
func testRefundBySum(t *testing.T, s Subject) {
	t.Helper()

	c := paid(t, s)
	first := refundOf(c, "200.00")
	_, err := s.Gateway.CreateRefund(t.Context(), first)
	require.NoError(t, err)

	second := refundOf(c, "300.00")
	second.RefundedBefore = read(t, s, c).RefundedAmount

	_, err = s.Gateway.ReadRefund(t.Context(), second.Ref())
	requireKind(t, gateways.KindNotFound, err)

	_, err = s.Gateway.CreateRefund(t.Context(), second)
	require.NoError(t, err)

	found, err := s.Gateway.ReadRefund(t.Context(), second.Ref())
	require.NoError(t, err)
	require.Equal(t, "300.00", found.Amount.String())
	require.Equal(t, gateways.RefundSucceeded, found.Status)

	other := refundOf(c, "150.00")
	other.RefundedBefore = second.RefundedBefore
	odd, err := s.Gateway.ReadRefund(t.Context(), other.Ref())
	require.NoError(t, err)
	require.False(t, odd.Amount.Equal(other.Amount), "300.00 went back, and nobody has ordered that here")
}

func testParallelRefunds(t *testing.T, s Subject) {
	t.Helper()

	c := paid(t, s)

	const tries = 8

	errs := make([]error, tries)

	var all sync.WaitGroup
	for i := range tries {
		all.Go(func() { _, errs[i] = s.Gateway.CreateRefund(t.Context(), refundOf(c, "500.00")) })
	}

	all.Wait()

	succeeded := 0

	for _, err := range errs {
		if err == nil {
			succeeded++

			continue
		}

		requireKind(t, gateways.KindRejected, err)
	}

	require.Equal(t, 2, succeeded, "1150.00 holds 500.00 twice")
	require.Equal(t, "1000.00", read(t, s, c).RefundedAmount.String())
}

// eventually is how long the effect of a request that was under way may take.
const eventually = 10 * time.Second

// testConflict: 409 says nothing about the effect, which may come later. Polling sees it, and sending the
// same again makes nothing more.
func testConflict(t *testing.T, s Subject) {
	t.Helper()

	checkout, refund := s.request(), refundOf(paid(t, s), "700.00")
	complete := s.Conflict(t)

	_, err := s.Gateway.CreateCheckout(t.Context(), checkout)
	requireKind(t, gateways.KindInProgress, err)

	_, err = s.Gateway.CreateRefund(t.Context(), refund)
	requireKind(t, gateways.KindInProgress, err)
	complete()

	var made gateways.Refund

	require.Eventually(t, func() bool {
		_, missing := s.Gateway.ReadCheckout(t.Context(), checkout.Ref())
		made, err = s.Gateway.ReadRefund(t.Context(), refund.Ref())

		return missing == nil && err == nil
	}, eventually, 20*time.Millisecond)
	require.True(t, made.Amount.Equal(refund.Amount))

	require.Eventually(t, func() bool { // the key may be held a moment longer than the effect takes to be seen
		again, err := s.Gateway.CreateRefund(t.Context(), refund)

		return err == nil && again.ID == made.ID
	}, eventually, 20*time.Millisecond)
}

// testLag: that a search finds nothing does not say that there is nothing. The same reference still is the same thing.
func testLag(t *testing.T, s Subject) {
	t.Helper()

	c := paid(t, s)
	request := refundOf(c, "700.00")
	made, err := s.Gateway.CreateRefund(t.Context(), request)
	require.NoError(t, err)

	s.Lag(t)

	_, err = s.Gateway.ReadCheckout(t.Context(), c.search())
	requireKind(t, gateways.KindNotFound, err)
	_, err = s.Gateway.ReadRefund(t.Context(), request.Ref())
	requireKind(t, gateways.KindNotFound, err)

	got, err := s.Gateway.ReadRefund(t.Context(), refOfRefund(request, made))
	require.NoError(t, err, "the gateway's own id is no search")
	require.Equal(t, made, got)

	if s.Gateway.Capabilities().Refunds == gateways.SettledByKey {
		again, err := s.Gateway.CreateRefund(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, made, again)
	}
}
