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
	if brand == "MADA" {
		return 0
	}

	return 1
}
