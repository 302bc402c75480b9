package moyasar_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/moyasar"
	"rihla/gateways/simulator/engine"
	moyasarsim "rihla/gateways/simulator/moyasar"
	"rihla/models"
)

// TestDriver holds the driver to the promises of every gateway, with each thing that the documentation leaves open both ways.
func TestDriver(t *testing.T) {
	t.Parallel()

	for name, settings := range map[string]moyasarsim.Settings{
		"a part refunded is refunded":             {},
		"a part refunded is paid, lists are bare": {PaidAfterPart: true, BareLists: true, CopiedMetadata: true, Failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			gatewaytest.Run(t, func(t *testing.T) gatewaytest.Subject {
				t.Helper()

				return subject(t, settings)
			})
		})
	}
}

func subject(t *testing.T, settings moyasarsim.Settings) gatewaytest.Subject {
	t.Helper()

	var ahead atomic.Int64 // of the simulator's clock

	b := setup(t, settings, func(cfg *engine.Config) {
		cfg.Clock = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})

	return gatewaytest.Subject{
		Gateway:   b.driver,
		Pay:       b.Pay,
		PayAgain:  b.PayAgain,
		Decline:   func(t *testing.T, c gateways.Checkout) { t.Helper(); b.Press(t, c.ID, "decline") },
		Declined:  gateways.CheckoutOpen,
		Expire:    func(*testing.T, gateways.Checkout) { ahead.Store(int64(2 * time.Hour)) },
		UnknownID: "73bda482-5f95-4f59-87d3-3fe3615c54bc",
	}
}

// TestTakenOtherwise: the simulator takes one riyal more, or another currency, and the driver returns what the payment says.
func TestTakenOtherwise(t *testing.T) {
	t.Parallel()

	for mode, want := range map[string]string{"wrong_amount": "1151.00 SAR", "wrong_currency": "1150.00 USD"} {
		b := setup(t, moyasarsim.Settings{})
		ref := b.Sold(t)

		b.Fault(t, `{"operation":"status","mode":"`+mode+`"}`)

		c, err := b.driver.ReadCheckout(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, gateways.CheckoutPaid, c.Status)
		require.Equal(t, want, c.Amount.String()+" "+c.Currency)
	}
}

func TestDriverOverABrokenWire(t *testing.T) {
	t.Parallel()

	gatewaytest.RunWire(t, func(t *testing.T) gatewaytest.Wire {
		t.Helper()
		b := setup(t, moyasarsim.Settings{})

		return gatewaytest.Wire{
			Company: b.server.Handler(),
			Open: func(t *testing.T, url string) gateways.Gateway {
				t.Helper()

				return driverOf(t, url, gatewaytest.WireTimeout)
			},
			Pay:     b.Pay,
			Secrets: []string{apiKey},
		}
	})
}

func verifier(t *testing.T, secrets ...string) *moyasar.Verifier {
	t.Helper()

	v, err := moyasar.NewVerifier(secrets, gateways.ModeTest)
	require.NoError(t, err)

	return v
}

// message is the company's, as its reference shows it (docs.moyasar.com/api/other/webhooks/webhook-reference).
func message(secret, kind string, c gateways.Checkout, at time.Time) []byte {
	return fmt.Appendf(nil, `{"id":%q,"type":%q,"created_at":%q,"secret_token":%q,"account_name":"Rihla","live":false,
		"data":{"id":"611c028e-855c-425c-a4eb-ce1e06680000","status":"paid","amount":%d,"fee":0,"currency":%q,"refunded":0,
		"invoice_id":%q,"metadata":{"merchant_reference":%q,"kind":"payment"},
		"source":{"type":"creditcard","company":"mada","name":"A B","number":"XXXX-XXXX-XXXX-1111","message":"APPROVED"}}}`,
		uuid.NewSHA1(uuid.Nil, []byte(kind+c.ID)), kind, at.UTC().Format("2006-01-02T15:04:05.000Z"), secret,
		c.Amount.Halalas(), c.Currency, c.ID, c.MerchantReference)
}

func TestWebhooks(t *testing.T) {
	t.Parallel()

	gatewaytest.RunWebhooks(t, gatewaytest.Webhooks{
		Verifier: func(t *testing.T, secrets ...string) gateways.WebhookVerifier {
			t.Helper()
			return verifier(t, secrets...)
		},
		Secrets: [2]string{secret, newSecret},
		Paid: func(_ *testing.T, secret string, c gateways.Checkout, at time.Time) (http.Header, []byte) {
			return http.Header{"Content-Type": {"application/json"}}, message(secret, "payment_paid", c, at)
		},
		Unknown: func(_ *testing.T, secret string, at time.Time) (http.Header, []byte) {
			return http.Header{}, message(secret, "payment_moonlit", gateways.Checkout{ID: "co_1", Currency: models.Currency}, at)
		},
		Kept: func(body []byte, secret string) string {
			return strings.ReplaceAll(string(body), `"`+secret+`"`, "null")
		},
	})
}

// The invoice's page offers all that the account has, so that a payment says what it was made by, and only a card takes money back.
func TestPaidByAnotherMethod(t *testing.T) {
	t.Parallel()

	b := setup(t, moyasarsim.Settings{})
	b.RequirePaidBy(t, map[models.PaymentMethod]models.PaymentMethod{
		models.MethodCreditCard: models.MethodCreditCard, models.MethodDebitNetwork: models.MethodDebitNetwork,
		models.MethodWalletA: models.MethodWalletA, models.MethodBillPayment: models.MethodBillPayment,
	})

	checkout, ref := b.Opened(t)
	b.PayBy(t, checkout.ID, models.MethodBillPayment)

	_, err := b.driver.CreateRefund(t.Context(), gateways.RefundRequest{
		Checkout: ref, MerchantReference: uuid.New(), Amount: checkout.Amount, Currency: checkout.Currency, Reason: "test",
	})
	requireKind(t, gateways.KindRejected, err)
}
