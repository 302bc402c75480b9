package hyperpay

import (
	"slices"

	"rihla/models"
)

// defaultBrands are the widget's names of cards (hyperpay.docs.oppwa.com/node/37).
var defaultBrands = map[models.PaymentMethod][]string{
	models.MethodCreditCard:   {"VISA", "MASTER"},
	models.MethodDebitNetwork: {"MADA"},
}

// brandMethods are the brands that say by which method a payment was made. Which method a wallet's brand belongs to depends on the account
// (Config.Brands), which messages do not say: those are left out.
var brandMethods = map[string]models.PaymentMethod{
	brandMada: models.MethodDebitNetwork,
	"VISA":    models.MethodCreditCard, "MASTER": models.MethodCreditCard, "AMEX": models.MethodCreditCard,
}

const brandMada = "MADA"

// paidBy is the method that the transaction was made by; empty where its brand does not say it.
func (e *entry) paidBy() models.PaymentMethod { return brandMethods[e.Brand] }

// brandsOf are the brands of a method, MADA first where it is among them: Saudi rules demand it (same page).
func brandsOf(method models.PaymentMethod, named map[models.PaymentMethod][]string) []string {
	brands := named[method]
	if len(brands) == 0 {
		brands = defaultBrands[method]
	}

	brands = slices.Clone(brands)
	slices.SortStableFunc(brands, func(a, b string) int { return rankOfBrand(a) - rankOfBrand(b) })

	return brands
}

func rankOfBrand(brand string) int {
	if brand == brandMada {
		return 0
	}

	return 1
}
