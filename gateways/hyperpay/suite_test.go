package hyperpay_test

import (
	"testing"
	"time"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	hyperpaysim "rihla/gateways/simulator/hyperpay"
	"rihla/models"
)

func TestDriverAgainstSimulator(t *testing.T) {
	t.Parallel()

	for _, method := range []models.PaymentMethod{models.MethodCreditCard, models.MethodDebitNetwork} {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()

			gatewaytest.Run(t, func(t *testing.T) gatewaytest.Subject {
				t.Helper()

				b := setup(t, hyperpaysim.Settings{}, "") // of its own: a fault hits the next call, of any test

				return gatewaytest.Subject{
					Gateway: b.driver, Method: method, Declined: gateways.CheckoutOpen,
					UnknownID: "0A1B2C3D4E5F60718293A4B5C6D7E8F9.uat01-vm-tx09",
					Pay:       b.Pay,
					PayAgain:  b.PayAgain,
					Decline:   func(t *testing.T, c gateways.Checkout) { t.Helper(); b.Press(t, c.ID, "decline") },
					Expire:    func(*testing.T, gateways.Checkout) { b.ahead.Store(int64(2 * time.Hour)) },
					Lag:       func(t *testing.T) { t.Helper(); b.Fault(t, `{"operation":"status","mode":"find_lag","times":2}`) },
				}
			})
		})
	}
}

func TestDriverOverABrokenWire(t *testing.T) {
	t.Parallel()

	gatewaytest.RunWire(t, func(t *testing.T) gatewaytest.Wire {
		t.Helper()

		b := setup(t, hyperpaysim.Settings{}, "")

		return gatewaytest.Wire{
			Company: b.server.Handler(),
			Open: func(t *testing.T, url string) gateways.Gateway {
				t.Helper()
				return b.open(t, url, gatewaytest.WireTimeout)
			},
			Pay:     b.Pay,
			Secrets: []string{token, hyperpaysim.Entity("shop", models.MethodCreditCard)},
		}
	})
}

// The brand says by what card a payment was made. A wallet's brand may be of either wallet, and is left out.
func TestPaidByAnotherMethod(t *testing.T) {
	t.Parallel()

	b := setup(t, hyperpaysim.Settings{}, "")
	b.RequirePaidBy(t, map[models.PaymentMethod]models.PaymentMethod{
		models.MethodCreditCard: models.MethodCreditCard, models.MethodDebitNetwork: models.MethodDebitNetwork, models.MethodWalletA: "",
	})
}
