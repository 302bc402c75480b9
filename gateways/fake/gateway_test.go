package fake_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/gateways/gatewaytest"
	"rihla/models"
)

func TestGateway(t *testing.T) {
	t.Parallel()

	gatewaytest.Run(t, func(*testing.T) gatewaytest.Subject {
		g := fake.New()

		return gatewaytest.Subject{
			Gateway: g,
			Pay:     func(t *testing.T, c gateways.Checkout) { t.Helper(); require.NoError(t, g.Pay(c.MerchantReference)) },
			Decline: func(t *testing.T, c gateways.Checkout) {
				t.Helper()
				require.NoError(t, g.Decline(c.MerchantReference))
			},
			Expire: func(t *testing.T, c gateways.Checkout) { t.Helper(); require.NoError(t, g.Expire(c.MerchantReference)) },
			PayOther: func(t *testing.T, c gateways.Checkout, amount, currency string) {
				t.Helper()
				require.NoError(t, g.PayOther(c.MerchantReference, models.MustMoney(amount), currency))
			},
			PayAgain: func(t *testing.T, c gateways.Checkout) { t.Helper(); g.PayAgain(c.MerchantReference) },
			Conflict: func(*testing.T) func() {
				g.Script(fake.CreateCheckout, fake.Fault{Mode: fake.Conflict})
				g.Script(fake.CreateRefund, fake.Fault{Mode: fake.Conflict})

				return g.Complete
			},
			Lag: func(*testing.T) {
				g.Script(fake.FindCheckout, fake.Fault{Mode: fake.FindLag})
				g.Script(fake.FindRefund, fake.Fault{Mode: fake.FindLag})
			},
		}
	})
}

func TestScriptedFaults(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		fault   fake.Fault
		kind    gateways.ErrorKind
		effects int
	}{
		"unknown before effect": {fake.Fault{Mode: fake.UnknownBeforeEffect}, gateways.KindUnknown, 0},
		"unknown after effect":  {fake.Fault{Mode: fake.UnknownAfterEffect}, gateways.KindUnknown, 1},
		"rejected":              {fake.Fault{Mode: fake.Rejected, Code: "fraud"}, gateways.KindRejected, 0},
		"rate limited":          {fake.Fault{Mode: fake.RateLimited, RetryAfter: 3 * time.Second}, gateways.KindRateLimited, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			g := fake.New()
			g.Script(fake.CreateCheckout, test.fault)

			request := gatewaytest.Request()
			_, err := g.CreateCheckout(t.Context(), request)
			require.Equal(t, test.kind, gateways.KindOf(err))
			require.Len(t, g.Checkouts(), test.effects)

			_, err = g.CreateCheckout(t.Context(), request)
			require.NoError(t, err, "one fault hits one call")
			require.Len(t, g.Checkouts(), 1)
			require.Equal(t, 2, g.Calls(fake.CreateCheckout))
		})
	}
}

func TestPendingRefund(t *testing.T) {
	t.Parallel()

	g := fake.New()
	request := gatewaytest.Request()
	c, err := g.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	require.NoError(t, g.Pay(request.MerchantReference))
	require.Equal(t, "1150.00", g.Paid().String())

	g.Script(fake.CreateRefund, fake.Fault{Mode: fake.Pending})

	refund := gateways.RefundRequest{Checkout: gatewaytest.RefOf(request, c), MerchantReference: uuid.New(), Amount: models.MustMoney("1150.00"), Currency: "SAR"}
	r, err := g.CreateRefund(t.Context(), refund)
	require.NoError(t, err)
	require.Equal(t, gateways.RefundPending, r.Status)
	require.Equal(t, "1150.00", g.Refunded().String())

	require.NoError(t, g.DecideRefund(refund.MerchantReference, false))
	require.Equal(t, "0.00", g.Refunded().String())

	r, err = g.ReadRefund(t.Context(), refund.Ref())
	require.NoError(t, err)
	require.Equal(t, gateways.RefundFailed, r.Status)
	require.Error(t, g.DecideRefund(refund.MerchantReference, true))
}

func TestAlways(t *testing.T) {
	t.Parallel()

	g := fake.New()
	g.Always(fake.FindCheckout, fake.Fault{Mode: fake.UnknownBeforeEffect})

	for range 3 {
		_, err := g.ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: uuid.New()})
		require.Equal(t, gateways.KindUnknown, gateways.KindOf(err))
	}

	g.Heal()

	_, err := g.ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: uuid.New()})
	require.Equal(t, gateways.KindNotFound, gateways.KindOf(err))
}
