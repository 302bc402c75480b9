// Package gatewaytest is what every driver has to pass: the promises of gateways.Gateway as tests.
package gatewaytest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/models"
)

// Subject is a gateway, the hand of its customers, and two faults that every company has.
type Subject struct {
	Gateway gateways.Gateway
	Pay     func(t *testing.T, c gateways.Checkout)
	Decline func(t *testing.T, c gateways.Checkout)
	// Conflict has the next creation of a checkout and of a refund answered like a request whose key is in use. The effect
	// comes later: by itself within seconds, or when complete is called.
	Conflict func(t *testing.T) (complete func())
	// Lag has the next search by reference, of a checkout and of a refund, not find what was made just before.
	Lag func(t *testing.T)
}

// Run tests the subject; it may hold other checkouts already.
func Run(t *testing.T, subject func(t *testing.T) Subject) {
	t.Helper()

	for name, test := range map[string]func(*testing.T, Subject){
		"a checkout from open to paid":             testPaid,
		"a declined checkout":                      testDeclined,
		"a canceled checkout":                      testCanceled,
		"the same reference is the same checkout":  testSameCheckout,
		"refunds in parts, up to what was paid":    testRefunds,
		"the same reference is the same refund":    testSameRefund,
		"parallel refunds never exceed":            testParallelRefunds,
		"what the gateway never saw is not found":  testNotFound,
		"an ended context is an unknown outcome":   testEndedContext,
		"a checkout that is not paid has no money": testUnpaidRefund,
		"a conflict is no refusal":                 testConflict,
		"a search may lag behind":                  testLag,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, subject(t))
		})
	}
}

// Request is a checkout request with a reference of its own.
func Request() gateways.CheckoutRequest {
	return gateways.CheckoutRequest{
		MerchantReference: uuid.New(), Amount: models.MustMoney("1150.00"), Currency: models.Currency,
		Method: models.MethodCreditCard, Description: "عمرة — Umrah, 2 seats", ReturnURL: "https://shop.test/return",
		ExpiresAt: time.Now().Add(time.Hour).Truncate(time.Second).UTC(),
	}
}

func open(t *testing.T, s Subject) gateways.Checkout {
	t.Helper()

	c, err := s.Gateway.CreateCheckout(t.Context(), Request())
	require.NoError(t, err)

	return c
}

func paid(t *testing.T, s Subject) gateways.Checkout {
	t.Helper()

	c := open(t, s)
	s.Pay(t, c)

	return c
}

func refundOf(c gateways.Checkout, amount string) gateways.RefundRequest {
	return gateways.RefundRequest{
		CheckoutID: c.ID, MerchantReference: uuid.New(), Amount: models.MustMoney(amount), Currency: c.Currency,
		Reason: "several\nlines\tand " + strings.Repeat("ط", 2000),
	}
}

func testPaid(t *testing.T, s Subject) {
	t.Helper()

	request := Request()
	c, err := s.Gateway.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	require.NotEmpty(t, c.ID)
	require.NotEmpty(t, c.URL)
	require.Equal(t, gateways.CheckoutOpen, c.Status)
	require.Equal(t, request.MerchantReference, c.MerchantReference)
	require.True(t, request.ExpiresAt.Equal(c.ExpiresAt))

	s.Pay(t, c)

	got, err := s.Gateway.GetCheckout(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutPaid, got.Status)
	require.Equal(t, "1150.00", got.Amount.String())
	require.Equal(t, models.Currency, got.Currency)
	require.Equal(t, "0.00", got.RefundedAmount.String())
	require.NotEmpty(t, got.ResultCode)
	require.Empty(t, got.FailureReason)

	if got.PaidAt != nil { // not every company says it
		require.WithinDuration(t, time.Now(), *got.PaidAt, time.Minute)
	}

	found, err := s.Gateway.FindCheckout(t.Context(), request.MerchantReference)
	require.NoError(t, err)
	require.Equal(t, got, found)

	_, err = s.Gateway.CancelCheckout(t.Context(), c.ID)
	require.Equal(t, gateways.KindRejected, gateways.KindOf(err))
}

func testDeclined(t *testing.T, s Subject) {
	t.Helper()

	c := open(t, s)
	s.Decline(t, c)

	got, err := s.Gateway.FindCheckout(t.Context(), c.MerchantReference)
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutFailed, got.Status)
	require.NotEmpty(t, got.ResultCode)
	require.NotEmpty(t, got.FailureReason)
}

func testCanceled(t *testing.T, s Subject) {
	t.Helper()

	c := open(t, s)

	for range 2 {
		got, err := s.Gateway.CancelCheckout(t.Context(), c.ID)
		require.NoError(t, err)
		require.Equal(t, gateways.CheckoutCanceled, got.Status)
	}
}

func testSameCheckout(t *testing.T, s Subject) {
	t.Helper()

	request := Request()
	first, err := s.Gateway.CreateCheckout(t.Context(), request)
	require.NoError(t, err)

	again, err := s.Gateway.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, first, again)
}

func testRefunds(t *testing.T, s Subject) {
	t.Helper()

	c := paid(t, s)

	for _, amount := range []string{"1000.00", "150.00"} {
		request := refundOf(c, amount)
		r, err := s.Gateway.CreateRefund(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, gateways.RefundSucceeded, r.Status)
		require.Equal(t, amount, r.Amount.String())
		require.Equal(t, c.ID, r.CheckoutID)

		got, err := s.Gateway.GetRefund(t.Context(), r.ID)
		require.NoError(t, err)
		require.Equal(t, r, got)

		found, err := s.Gateway.FindRefund(t.Context(), request.MerchantReference)
		require.NoError(t, err)
		require.Equal(t, r, found)
	}

	_, err := s.Gateway.CreateRefund(t.Context(), refundOf(c, "0.01"))
	require.Equal(t, gateways.KindRejected, gateways.KindOf(err))

	got, err := s.Gateway.GetCheckout(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, "1150.00", got.RefundedAmount.String())
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

		require.Equal(t, gateways.KindRejected, gateways.KindOf(err))
	}

	require.Equal(t, 2, succeeded, "1150.00 holds 500.00 twice")

	got, err := s.Gateway.GetCheckout(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, "1000.00", got.RefundedAmount.String())
}

func testNotFound(t *testing.T, s Subject) {
	t.Helper()

	for name, call := range map[string]func() error{
		"GetCheckout":    func() error { _, err := s.Gateway.GetCheckout(t.Context(), "co_unknown"); return err },
		"FindCheckout":   func() error { _, err := s.Gateway.FindCheckout(t.Context(), uuid.New()); return err },
		"CancelCheckout": func() error { _, err := s.Gateway.CancelCheckout(t.Context(), "co_unknown"); return err },
		"GetRefund":      func() error { _, err := s.Gateway.GetRefund(t.Context(), "re_unknown"); return err },
		"FindRefund":     func() error { _, err := s.Gateway.FindRefund(t.Context(), uuid.New()); return err },
	} {
		require.Equal(t, gateways.KindNotFound, gateways.KindOf(call()), name)
	}

	_, err := s.Gateway.CreateRefund(t.Context(), refundOf(gateways.Checkout{ID: "co_unknown", Currency: models.Currency}, "1.00"))
	require.Equal(t, gateways.KindRejected, gateways.KindOf(err), "a refund of an unknown checkout is final")
}

func testEndedContext(t *testing.T, s Subject) {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := s.Gateway.CreateCheckout(ctx, Request())
	require.Error(t, err)
	require.Equal(t, gateways.KindUnknown, gateways.KindOf(err))
	require.ErrorIs(t, err, context.Canceled)
}

func testUnpaidRefund(t *testing.T, s Subject) {
	t.Helper()

	_, err := s.Gateway.CreateRefund(t.Context(), refundOf(open(t, s), "1.00"))
	require.Equal(t, gateways.KindRejected, gateways.KindOf(err))
}

// eventually is how long the effect of a request that was under way may take.
const eventually = 10 * time.Second

// testConflict: 409 says nothing about the effect, which may come later. Polling sees it, and sending the
// same again makes nothing more.
func testConflict(t *testing.T, s Subject) {
	t.Helper()

	checkout, refund := Request(), refundOf(paid(t, s), "700.00")
	complete := s.Conflict(t)

	_, err := s.Gateway.CreateCheckout(t.Context(), checkout)
	require.Equal(t, gateways.KindInProgress, gateways.KindOf(err), "%v", err)

	_, err = s.Gateway.CreateRefund(t.Context(), refund)
	require.Equal(t, gateways.KindInProgress, gateways.KindOf(err), "%v", err)
	complete()

	var made gateways.Refund

	require.Eventually(t, func() bool {
		_, missing := s.Gateway.FindCheckout(t.Context(), checkout.MerchantReference)
		made, err = s.Gateway.FindRefund(t.Context(), refund.MerchantReference)

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

	_, err = s.Gateway.FindCheckout(t.Context(), c.MerchantReference)
	require.Equal(t, gateways.KindNotFound, gateways.KindOf(err))
	_, err = s.Gateway.FindRefund(t.Context(), request.MerchantReference)
	require.Equal(t, gateways.KindNotFound, gateways.KindOf(err))

	got, err := s.Gateway.GetRefund(t.Context(), made.ID)
	require.NoError(t, err, "the gateway's own id is no search")
	require.Equal(t, made, got)

	again, err := s.Gateway.CreateRefund(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, made, again)
}
