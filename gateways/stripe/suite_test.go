package stripe_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	sdk "github.com/stripe/stripe-go/v85"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	stripesim "rihla/gateways/simulator/stripe"
	"rihla/gateways/stripe"
	"rihla/models"
)

func TestDriver(t *testing.T) {
	t.Parallel()

	gatewaytest.Run(t, func(t *testing.T) gatewaytest.Subject {
		t.Helper()

		var ahead atomic.Int64 // of the simulator's clock, and of the driver's

		b := setup(t, func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })

		return gatewaytest.Subject{
			Gateway:  b.driver,
			Pay:      b.Pay,
			Decline:  func(t *testing.T, c gateways.Checkout) { t.Helper(); b.Press(t, c.ID, "decline") },
			Declined: gateways.CheckoutOpen,
			Expire:   func(*testing.T, gateways.Checkout) { ahead.Store(int64(2 * time.Hour)) },
			Conflict: func(t *testing.T) func() {
				t.Helper()
				b.Fault(t, `{"operation":"create_checkout","mode":"conflict","delay_ms":50}`)
				b.Fault(t, `{"operation":"refund","mode":"conflict","delay_ms":50}`)

				return func() {} // the effect comes by itself
			},
			UnknownID: "cs_test_a1b2c3",
		}
	})
}

func TestDriverOverABrokenWire(t *testing.T) {
	t.Parallel()

	gatewaytest.RunWire(t, func(t *testing.T) gatewaytest.Wire {
		t.Helper()
		b := setup(t, nil)

		return gatewaytest.Wire{
			Company: b.server.Handler(),
			Open: func(t *testing.T, url string) gateways.Gateway {
				t.Helper()

				return driverOf(t, url, gatewaytest.WireTimeout, nil)
			},
			Pay:     b.Pay,
			Secrets: []string{apiKey},
		}
	})
}

func verifier(t *testing.T, secrets ...string) *stripe.Verifier {
	t.Helper()

	v, err := stripe.NewVerifier(secrets, gateways.ModeTest)
	require.NoError(t, err)

	return v
}

// message is an event of the company's form.
func message(t *testing.T, kind string, at time.Time, object map[string]any) []byte {
	t.Helper()

	body, err := json.Marshal(map[string]any{
		"id": "evt_" + strings.ReplaceAll(uuid.NewString(), "-", ""), "object": "event", "api_version": sdk.APIVersion, "created": at.Unix(),
		"livemode": false, "type": kind, "data": map[string]any{"object": object},
	})
	require.NoError(t, err)

	return body
}

// completed is a session as checkout.session.completed has it.
func completed(c gateways.Checkout) map[string]any {
	return map[string]any{
		"id": c.ID, "object": "checkout.session", "client_reference_id": c.MerchantReference,
		"amount_total": c.Amount.Halalas(), "currency": strings.ToLower(c.Currency), "payment_status": "paid", "status": "complete",
	}
}

func signed(body []byte, at time.Time, secrets ...string) http.Header {
	return http.Header{stripe.HeaderSignature: {stripesim.Sign(body, at, secrets...)}}
}

func TestWebhooks(t *testing.T) {
	t.Parallel()

	gatewaytest.RunWebhooks(t, gatewaytest.Webhooks{
		Verifier: func(t *testing.T, secrets ...string) gateways.WebhookVerifier {
			t.Helper()
			return verifier(t, secrets...)
		},
		Secrets: [2]string{secret, newSecret},
		Paid: func(t *testing.T, secret string, c gateways.Checkout, at time.Time) (http.Header, []byte) {
			t.Helper()
			body := message(t, "checkout.session.completed", at, completed(c))

			return signed(body, at, secret), body
		},
		Unknown: func(t *testing.T, secret string, at time.Time) (http.Header, []byte) {
			t.Helper()
			body := message(t, "moonlight.shone", at, map[string]any{"object": "moon"})

			return signed(body, at, secret), body
		},
		Proof:  []string{stripe.HeaderSignature},
		Signed: true,
		Ages:   true,
	})
}

// A charge says whether its card was in a wallet.
func TestPaidByAnotherMethod(t *testing.T) {
	t.Parallel()

	b := setup(t, time.Now)
	b.RequirePaidBy(t, map[models.PaymentMethod]models.PaymentMethod{
		models.MethodCreditCard: models.MethodCreditCard, models.MethodWalletA: models.MethodWalletA,
	})
}
