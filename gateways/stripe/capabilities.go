package stripe

import (
	"rihla/gateways"
	"rihla/models"
)

// Capabilities is what the company can do, readable without an account. Cards alone: mada was not found as a method of the company, its
// page offers Apple Pay and Google Pay as cards by itself, and a bill's days are more than a session has.
func Capabilities() gateways.Capabilities {
	return gateways.Capabilities{
		Checkouts: gateways.SettledByKey, // docs.stripe.com/api/idempotent_requests
		Refunds:   gateways.SettledByKey,
		Cancel:    true, // docs.stripe.com/api/checkout/sessions/expire
		Methods: []gateways.MethodCapability{{
			Method: models.MethodCreditCard, Currencies: []string{models.Currency},
			// The smallest amount is one of the account's own currency, converted ("at least 50 cents"): 2.00 is what AED accounts have,
			// whose rate is nearly that of SAR (docs.stripe.com/currencies).
			MinAmount: models.Halalas(200), MaxAmount: models.Halalas(maxMinor),
			MinTimeToPay: minOpen, MaxTimeToPay: maxOpen,
			Refunds: gateways.RefundsPartial, // docs.stripe.com/refunds
		}},
	}
}
