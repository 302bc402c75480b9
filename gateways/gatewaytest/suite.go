// Package gatewaytest is what every driver has to pass: the promises of gateways.Gateway as tests.
package gatewaytest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/models"
)

// Subject is a gateway, the hand of its customers, and the faults that its company has.
type Subject struct {
	Gateway gateways.Gateway
	Pay     func(t *testing.T, c gateways.Checkout)
	Decline func(t *testing.T, c gateways.Checkout)
	// Declined is what a declined card leaves: CheckoutFailed, or CheckoutOpen where the customer may try another one.
	Declined gateways.CheckoutStatus
	// Expire lets the time to pay pass at the company.
	Expire func(t *testing.T, c gateways.Checkout)
	// PayOther has the company take another amount or currency than was asked for; nil where it cannot.
	PayOther func(t *testing.T, c gateways.Checkout, amount, currency string)
	// PayAgain takes the money of a paid checkout once more; nil where the company takes it once.
	PayAgain func(t *testing.T, c gateways.Checkout)
	// Conflict has the next creation of a checkout and of a refund answered like a request whose key is in use. The effect
	// comes later: by itself within seconds, or when complete is called. nil: the company has no such answer.
	Conflict func(t *testing.T) (complete func())
	// Lag has the next search by reference, of a checkout and of a refund, not find what was made just before. nil: what the
	// company has made is found at once.
	Lag func(t *testing.T)
	// Method is that of the checkouts; credit_card when empty.
	Method models.PaymentMethod
	// UnknownID is an id that could be one of the company's, and of nothing that it knows.
	UnknownID string
}

// Run tests the subject; it may hold other checkouts already.
func Run(t *testing.T, subject func(t *testing.T) Subject) {
	t.Helper()

	run := func(name string, test func(*testing.T, Subject)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, subject(t).withDefaults())
		})
	}

	run("a checkout from open to paid", testPaid)
	run("a declined checkout", testDeclined)
	run("an expired checkout", testExpired)
	run("what the gateway never saw is not found", testNotFound)
	run("an ended context is an unknown outcome", testEndedContext)
	run("a checkout that is not paid has no money", testUnpaidRefund)
	run("refunds in parts, up to what was paid", testRefunds)
	run("capabilities", testCapabilities)

	// What holds depends on what the company can do. The subject of this question is not used otherwise.
	s := subject(t)
	can := s.Gateway.Capabilities()

	if _, ok := s.Gateway.(gateways.CheckoutLister); ok {
		run("a list of checkouts since a time", testListedCheckouts)
	}

	if _, ok := s.Gateway.(gateways.RefundLister); ok {
		run("a list of refunds since a time", testListedRefunds)
	}

	if can.Cancel {
		run("a canceled checkout", testCanceled)
	} else {
		run("a checkout that cannot be canceled", testUncancelable)
	}

	switch can.Checkouts {
	case gateways.SettledByKey:
		run("the same reference is the same checkout", testSameCheckout)
	case gateways.SettledHarmlessly:
		run("a checkout made twice harms nobody", testHarmlessCheckout)
	default:
		run("a checkout is found by its reference", testFoundCheckout)
	}

	switch can.Refunds {
	case gateways.SettledByKey:
		run("the same reference is the same refund", testSameRefund)
		run("parallel refunds never exceed", testParallelRefunds)
	case gateways.SettledByReference:
		run("a refund is found by its reference", testFoundRefund)
		run("parallel refunds never exceed", testParallelRefunds)
	case gateways.SettledBySum:
		run("a refund is what was given back since", testRefundBySum)
	case gateways.SettledHarmlessly: // no refund is
	}

	if s.PayOther != nil {
		run("what was taken is told as it was taken", testPaidOtherwise)
	}

	if s.PayAgain != nil {
		run("a checkout that is paid again", testPaidAgain)
	}

	if s.Conflict != nil {
		run("a conflict is no refusal", testConflict)
	}

	if s.Lag != nil {
		run("a search may lag behind", testLag)
	}
}

func (s Subject) withDefaults() Subject {
	if s.Declined == "" {
		s.Declined = gateways.CheckoutFailed
	}

	if s.Method == "" {
		s.Method = models.MethodCreditCard
	}

	if s.UnknownID == "" {
		s.UnknownID = "unknown"
	}

	return s
}

// request is a checkout request of the subject's method.
func (s Subject) request() gateways.CheckoutRequest {
	r := Request()
	r.Method = s.Method

	return r
}

// Request is a checkout request with a reference of its own.
func Request() gateways.CheckoutRequest {
	return gateways.CheckoutRequest{
		MerchantReference: uuid.New(), Amount: models.MustMoney("1150.00"), Currency: models.Currency,
		Method: models.MethodCreditCard, Description: "عمرة — Umrah, 2 seats", ReturnURL: "https://shop.test/return",
		CreatedAt: time.Now().Truncate(time.Microsecond).UTC(),
		ExpiresAt: time.Now().Add(time.Hour).Truncate(time.Second).UTC(),
	}
}

// RefOf names a checkout that was made by request.
func RefOf(request gateways.CheckoutRequest, c gateways.Checkout) gateways.CheckoutRef {
	ref := request.Ref()
	ref.ID = c.ID

	return ref
}

// made is a checkout with the request that it was made by.
type made struct {
	gateways.Checkout

	request gateways.CheckoutRequest
}

// ref names the checkout by the gateway's id.
func (m made) ref() gateways.CheckoutRef { return RefOf(m.request, m.Checkout) }

// search names the checkout by our reference only.
func (m made) search() gateways.CheckoutRef { return m.request.Ref() }

func open(t *testing.T, s Subject) made {
	t.Helper()

	request := s.request()
	c, err := s.Gateway.CreateCheckout(t.Context(), request)
	require.NoError(t, err)

	return made{c, request}
}

func paid(t *testing.T, s Subject) made {
	t.Helper()

	c := open(t, s)
	s.Pay(t, c.Checkout)

	return c
}

func refundOf(c made, amount string) gateways.RefundRequest {
	return gateways.RefundRequest{
		Checkout: c.ref(), MerchantReference: uuid.New(), Amount: models.MustMoney(amount), Currency: c.Currency,
		Reason: "several\nlines\tand " + strings.Repeat("ط", 2000),
	}
}

// refOfRefund names a refund by the gateway's id.
func refOfRefund(request gateways.RefundRequest, r gateways.Refund) gateways.RefundRef {
	ref := request.Ref()
	ref.ID = r.ID

	return ref
}

func read(t *testing.T, s Subject, c made) gateways.Checkout {
	t.Helper()

	got, err := s.Gateway.ReadCheckout(t.Context(), c.ref())
	require.NoError(t, err)

	return got
}

func requireKind(t *testing.T, want gateways.ErrorKind, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, want, gateways.KindOf(err), err.Error())
}
