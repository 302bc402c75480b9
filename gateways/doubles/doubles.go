// Package doubles knows the double of each driver: the company to develop and test against, on this machine and without money.
package doubles

import (
	"fmt"

	"rihla/gateways/double"
	"rihla/gateways/drivers"
	moyasardouble "rihla/gateways/moyasar/double"
	"rihla/gateways/sandbox/server"
)

// Double is the double of one company.
type Double struct {
	// New opens it.
	New func(double.Config) (*double.Server, error)
	// Key makes a test key of the company's look of a text.
	Key func(text string) string
	// Secret makes a secret of webhooks of the company's look of one for Standard Webhooks.
	Secret func(standard string) string
}

func asItIs(text string) string { return text }

// known is where a new double is entered.
var known = map[string]Double{
	drivers.Sandbox: {New: server.New, Key: asItIs, Secret: asItIs},
	drivers.Moyasar: {New: moyasardouble.New, Key: func(text string) string { return "sk_test_" + text }, Secret: asItIs},
}

// Of is the double of a driver. Error: it has none.
func Of(driver string) (Double, error) {
	d, ok := known[driver]
	if !ok {
		return Double{}, fmt.Errorf("driver %q has no double", driver)
	}

	return d, nil
}
