// Package doubles knows the double of each driver: the company to develop and test against, on this machine and without money.
package doubles

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"rihla/gateways/double"
	"rihla/gateways/drivers"
	hyperpaydouble "rihla/gateways/hyperpay/double"
	moyasardouble "rihla/gateways/moyasar/double"
	"rihla/gateways/sandbox/server"
	stripedouble "rihla/gateways/stripe/double"
	"rihla/models"
)

// Double is the double of one company.
type Double struct {
	// New opens it.
	New func(double.Config) (*double.Server, error)
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

// known is where a new double is entered.
var known = map[string]Double{
	drivers.Sandbox: {New: server.New, Key: asItIs, Secret: asItIs},
	drivers.Moyasar: {
		New: moyasardouble.New, Key: func(text string) string { return "sk_test_" + text }, Secret: asItIs, Payment: moyasardouble.PaymentID,
	},
	drivers.HyperPay: {New: hyperpaydouble.New, Key: asItIs, Secret: hexSecret, Entities: hyperPayEntities},
	drivers.Stripe:   {New: stripedouble.New, Key: func(text string) string { return "sk_test_" + text }, Secret: asItIs},
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
		entities[m] = hyperpaydouble.Entity(merchant, m)
	}

	return entities
}

// Of is the double of a driver. Error: it has none.
func Of(driver string) (Double, error) {
	d, ok := known[driver]
	if !ok {
		return Double{}, fmt.Errorf("driver %q has no double", driver)
	}

	return d, nil
}
