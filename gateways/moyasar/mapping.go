package moyasar

import (
	"rihla/gateways"
	"rihla/models"
)

// The states, sources and events of the company in the service's terms. README.md has the sources.

// money is what a payment's status says of money.
type money int

const (
	notYet   money = iota // the customer is at it, or the amount is only held
	declined              // this attempt has ended without money; the invoice may be paid by another one
	taken                 // the customer's money was taken, whatever went back since
	reversed              // voided: what was held or taken went back before it was settled
)

// paymentStatuses are those of a payment (docs.moyasar.com/api/payments/payment-status-reference; expired: guides/sadad-bill/overview).
// One that is not here may be money: then nothing is decided.
var paymentStatuses = map[string]money{
	"initiated":  notYet,
	"authorized": notYet, // held, not charged
	"verified":   notYet, // a card was checked for later use
	"paid":       taken,
	"captured":   taken,
	"refunded":   taken, // all of it or a part: the amounts tell
	"failed":     declined,
	"expired":    declined, // of a SADAD bill
	"voided":     reversed,
}

// invoiceStatuses are those of an invoice none of whose payments has taken money (docs.moyasar.com/api/invoices/01-create-invoice).
// An invoice with such a payment is paid, whatever its own status: a canceled one can have it.
var invoiceStatuses = map[string]gateways.CheckoutStatus{
	"initiated": gateways.CheckoutOpen,
	"on_hold":   gateways.CheckoutOpen,     // not explained: nothing is decided
	"failed":    gateways.CheckoutFailed,   // not explained: a declined card leaves the invoice initiated
	"canceled":  gateways.CheckoutCanceled, // by us
	"expired":   gateways.CheckoutExpired,
	"voided":    gateways.CheckoutCanceled, // the money went back
	// Without a payment that took money these two do not add up, unless it was voided.
	"paid":     gateways.CheckoutCanceled,
	"refunded": gateways.CheckoutCanceled,
}

// needsMoney are the statuses of an invoice that only a payment with money, or a voided one, explains.
var needsMoney = map[string]bool{"paid": true, "refunded": true}

// eventTypes are the events of webhooks. Both spellings of a failed payment are in use: payment_faild in the webhook reference,
// payment_failed in the list of available events (docs.moyasar.com/api/other/webhooks/webhook-reference,
// docs.moyasar.com/available-webhooks).
var eventTypes = map[string]models.EventType{
	"payment_paid":     models.EventPaymentSucceeded,
	"payment_captured": models.EventPaymentSucceeded,
	"payment_refunded": models.EventRefundSucceeded,
	"payment_expired":  models.EventPaymentExpired, // a SADAD bill, which ends with its invoice

	// Steps on the way: the invoice stays as it is.
	"payment_faild":           models.EventNotice,
	"payment_failed":          models.EventNotice,
	"payment_abandoned":       models.EventNotice,
	"payment_canceled":        models.EventNotice,
	"payment_authorized":      models.EventNotice,
	"payment_verified":        models.EventNotice,
	"card_auth_authenticated": models.EventNotice,
	"card_auth_failed":        models.EventNotice,

	// What people do in the dashboard, and what happens to the account.
	"payment_voided":      models.EventNotice,
	"balance_transferred": models.EventNotice,
	"payout_initiated":    models.EventNotice,
	"payout_paid":         models.EventNotice,
	"payout_failed":       models.EventNotice,
	"payout_canceled":     models.EventNotice,
	"payout_returned":     models.EventNotice,
}

const (
	sourceCard  = "creditcard"
	sourceSadad = "sadadbill"
	companyMada = "mada"
)

// methods are the sources of payments in the service's terms. The invoice's page offers all that the account has, so a payment's
// source need not be the method that the customer had chosen with us.
var methods = map[string]models.PaymentMethod{
	sourceCard:   models.MethodCreditCard, // of mada: debit_network
	"applepay":   models.MethodWalletA,
	"samsungpay": models.MethodWalletA,
	"googlepay":  models.MethodWalletA,
	"stcpay":     models.MethodWalletA,
	sourceSadad:  models.MethodBillPayment,
	"sadad":      models.MethodBillPayment, // accounts paid with in earlier years
}

// methodOf is the method of a payment's source; empty when it is none that the service knows.
func methodOf(source, company string) models.PaymentMethod {
	if source == sourceCard && company == companyMada {
		return models.MethodDebitNetwork
	}

	return methods[source]
}
