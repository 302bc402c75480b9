package hyperpay

import (
	"slices"
	"time"

	"rihla/gateways"
	"rihla/models"
)

const (
	// sessionLife is how long a checkout can be paid: neither shorter nor longer can be asked for
	// (hyperpay.docs.oppwa.com/node/37: "not later than 30 minutes").
	sessionLife = 30 * time.Minute
	// searchLag is for how long the report may not show what was made. The company names no time; webhooks, which come from the
	// same books, take up to a quarter of an hour only when it deploys (hyperpay.docs.oppwa.com/webhooks).
	searchLag = 5 * time.Minute
	// openedAfter is how long after the creation of an attempt its checkout may be opened (gateways.CheckoutRequest).
	openedAfter = 30 * time.Minute
	// pendingFor is how long a payment that a customer has begun may stay undecided (hyperpay.docs.oppwa.com/node/111).
	pendingFor = 30 * time.Minute
)

// Capabilities is what HyperPay can do with the methods that an account has an entity for. Where the pages give no bound there is none:
// refunds have no published window, and amounts no published minimum.
func Capabilities(methods ...models.PaymentMethod) gateways.Capabilities {
	c := gateways.Capabilities{
		// POST /v1/checkouts has no key, and no search shows a checkout that was not used
		// (hyperpay.docs.oppwa.com/reporting-transaction).
		Checkouts: gateways.SettledHarmlessly,
		// The report finds a refund by its own merchantTransactionId (same page).
		Refunds:   gateways.SettledByReference,
		SearchLag: searchLag,
		// 3-D Secure asks for it (HyperPay's Magento plugin); the widget does not.
		Payer:  true,
		Cancel: false, // hyperpay.docs.oppwa.com/node/37 has no such call
	}

	for _, m := range models.PaymentMethods() {
		if !slices.Contains(methods, m) || m.RefundChannel() == models.RefundByHand {
			continue
		}

		c.Methods = append(c.Methods, gateways.MethodCapability{
			Method: m, Currencies: []string{models.Currency}, MaxAmount: maxAmount,
			MinTimeToPay: sessionLife, MaxTimeToPay: sessionLife,
			Refunds: gateways.RefundsPartial, // docs.latam.ppro.com/manage-payments/backoffice-operations: the same platform
		})
	}

	return c
}
