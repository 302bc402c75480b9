package gatewaytest

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/models"
)

// Live is an account at a company, for a run against the company itself.
type Live struct {
	Gateway gateways.Gateway
	Webhook string       // the address that should be registered there
	Amount  models.Money // of each checkout, more than 1.00
	// Wait is how long a person has to pay on the page; 0: nothing is paid, and no money moves.
	Wait time.Duration
	// Pay pays in place of a person; nil: a person does.
	Pay func(t *testing.T, c gateways.Checkout)
}

// RunLive makes two checkouts, closes one, and has the other paid if there is time for that; then it gives all of it back in two parts.
// It logs what it did.
func RunLive(t *testing.T, l Live) {
	t.Helper()

	if checker, ok := l.Gateway.(gateways.Checker); ok {
		found, err := checker.Check(t.Context(), l.Webhook)
		require.NoError(t, err)

		for _, f := range found {
			t.Logf("check: %v %s: %s", f.OK, f.About, f.Says)
		}
	}

	can := l.Gateway.Capabilities()

	if can.Cancel {
		request, c := l.open(t)
		now, err := l.Gateway.CancelCheckout(t.Context(), RefOf(request, c))
		require.NoError(t, err)
		require.Equal(t, gateways.CheckoutCanceled, now.Status)
		t.Logf("checkout %s is closed", c.ID)
	}

	request, c := l.open(t)

	if can.Checkouts != gateways.SettledHarmlessly {
		l.eventually(t, can.SearchLag+time.Minute, func() bool {
			found, err := l.Gateway.ReadCheckout(t.Context(), request.Ref())
			t.Logf("by our reference: %s %v", found.ID, err)

			return err == nil && found.ID == c.ID
		})
	}

	if l.Wait > 0 {
		l.payAndGiveBack(t, request, c)
	}
}

func (l Live) open(t *testing.T) (gateways.CheckoutRequest, gateways.Checkout) {
	t.Helper()

	request := Request()
	request.Amount = l.Amount

	c, err := l.Gateway.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	t.Logf("checkout %s of %s, reference %s", c.ID, c.Amount, c.MerchantReference)

	now, err := l.Gateway.ReadCheckout(t.Context(), RefOf(request, c))
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutOpen, now.Status)

	return request, c
}

func (l Live) payAndGiveBack(t *testing.T, request gateways.CheckoutRequest, c gateways.Checkout) {
	t.Helper()

	t.Logf("pay within %s at %s", l.Wait, c.URL)

	if l.Pay != nil {
		l.Pay(t, c)
	}

	ref := RefOf(request, c)

	l.eventually(t, l.Wait, func() bool {
		now, err := l.Gateway.ReadCheckout(t.Context(), ref)
		t.Logf("status %s %s, %v", now.Status, now.ResultCode, err)

		return err == nil && now.Status == gateways.CheckoutPaid
	})

	first, back := models.MustMoney("1.00"), models.Money{}

	for _, part := range []models.Money{first, l.Amount.Sub(first)} {
		f, err := l.Gateway.CreateRefund(t.Context(), gateways.RefundRequest{
			Checkout: ref, MerchantReference: uuid.New(), Amount: part, Currency: models.Currency, RefundedBefore: back,
		})
		require.NoError(t, err)
		t.Logf("refund %s of %s: %s", f.ID, f.Amount, f.Status)

		back = back.Add(part)

		l.eventually(t, time.Minute, func() bool {
			now, err := l.Gateway.ReadCheckout(t.Context(), ref)

			return err == nil && now.RefundedAmount.Equal(back)
		})
	}
}

// eventually asks at once, and then every few seconds.
func (l Live) eventually(t *testing.T, within time.Duration, done func() bool) {
	t.Helper()

	if !done() {
		require.Eventually(t, done, within, 5*time.Second)
	}
}
