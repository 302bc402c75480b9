// Package simulator knows the simulator of each driver: the company to develop and test against, on this machine and without money.
package simulator

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"rihla/gateways/drivers"
	"rihla/gateways/simulator/engine"
	hyperpaysim "rihla/gateways/simulator/hyperpay"
	moyasarsim "rihla/gateways/simulator/moyasar"
	sandboxsim "rihla/gateways/simulator/sandbox"
	stripesim "rihla/gateways/simulator/stripe"
	"rihla/models"
)

// Simulator is the simulator of one company.
type Simulator struct {
	// New opens it.
	New func(engine.Config) (*engine.Server, error)
	// Key makes a test key of the company's look of a text.
	Key func(text string) string
	// Secret makes a secret of webhooks of the company's look of one for Standard Webhooks.
	Secret func(standard string) string
	// Entities are the company's ids of a merchant's methods; nil where it has no such.
	Entities func(merchant string) map[models.PaymentMethod]string
	// Payment is the id of a checkout's payment, where refunds have no more of ours than that; nil elsewhere.
	Payment func(checkout string) string
}

func asItIs(text string) string { return text }

// known is where a new simulator is entered.
var known = map[string]Simulator{
	drivers.Sandbox: {New: sandboxsim.New, Key: asItIs, Secret: asItIs},
	drivers.Moyasar: {
		New: moyasarsim.New, Key: func(text string) string { return "sk_test_" + text }, Secret: asItIs, Payment: moyasarsim.PaymentID,
	},
	drivers.HyperPay: {New: hyperpaysim.New, Key: asItIs, Secret: hexSecret, Entities: hyperPayEntities},
	drivers.Stripe:   {New: stripesim.New, Key: func(text string) string { return "sk_test_" + text }, Secret: asItIs},
}

// hexSecret is a key of 64 hexadecimal digits.
func hexSecret(text string) string {
	sum := sha256.Sum256([]byte(text))

	return hex.EncodeToString(sum[:])
}

// hyperPayEntities are those of cards and mada: wallets are named by the operator with their brands.
func hyperPayEntities(merchant string) map[models.PaymentMethod]string {
	entities := map[models.PaymentMethod]string{}
	for _, m := range []models.PaymentMethod{models.MethodCreditCard, models.MethodDebitNetwork} {
		entities[m] = hyperpaysim.Entity(merchant, m)
	}

	return entities
}

// Of is the simulator of a driver. Error: it has none.
func Of(driver string) (Simulator, error) {
	d, ok := known[driver]
	if !ok {
		return Simulator{}, fmt.Errorf("driver %q has no simulator", driver)
	}

	return d, nil
}
