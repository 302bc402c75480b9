package moyasar

import (
	"time"

	"rihla/gateways"
	"rihla/models"
)

const (
	day = 24 * time.Hour

	// sadadDays is for how long a SADAD bill can be paid at most (docs.moyasar.com/guides/sadad-bill/overview).
	sadadDays = 29

	// searchLag is a margin: no lag of lists is documented. It also covers a POST without an answer that the company is still at.
	searchLag = 15 * time.Second
)

// Capabilities is what the company can do, readable without an account. Whether an account has a method is shown by the dashboard
// only: SADAD, Apple Pay and others have to be enabled there.
func Capabilities() gateways.Capabilities {
	// At least 1.00 (docs.moyasar.com/api/invoices/01-create-invoice: amount >= 100). Refunds in parts, up to what was paid
	// (docs.moyasar.com/api/payments/05-refund-payment). No bounds are told for amounts, for the time to pay and for the time
	// within which a refund is possible.
	card := gateways.MethodCapability{
		Currencies: []string{models.Currency}, MinAmount: models.Halalas(100), Refunds: gateways.RefundsPartial,
	}

	// From 100.00, in SAR, no refund and no void (docs.moyasar.com/guides/sadad-bill/overview, …/basic-integration).
	bill := gateways.MethodCapability{
		Method: models.MethodBillPayment, Currencies: []string{models.Currency}, MinAmount: models.Halalas(100_00),
		MaxTimeToPay: sadadDays * day, Refunds: gateways.RefundsNone,
	}

	can := gateways.Capabilities{
		Checkouts: gateways.SettledByReference, // idempotency exists for payments only (docs.moyasar.com/api/idempotency)
		Refunds:   gateways.SettledBySum,       // a refund has no id (docs.moyasar.com/api/payments/05-refund-payment)
		SearchLag: searchLag,
		Cancel:    true, // docs.moyasar.com/api/invoices/06-cancel-invoice
	}

	// wallet_a is Apple Pay: the invoice's page offers it, and STC Pay was not seen there.
	for _, method := range []models.PaymentMethod{models.MethodCreditCard, models.MethodDebitNetwork, models.MethodWalletA} {
		card.Method = method
		can.Methods = append(can.Methods, card)
	}

	can.Methods = append(can.Methods, bill)

	return can
}
