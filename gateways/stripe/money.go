package stripe

import (
	"errors"
	"strings"

	"rihla/models"
)

// maxMinor is the largest amount: eight digits (docs.stripe.com/currencies).
const maxMinor = 99_999_999

// toMinor is an amount in the currency's smallest unit. SAR alone is taken: others have other units.
func toMinor(amount models.Money, currency string) (int64, error) {
	switch {
	case !models.SameCurrency(currency, models.Currency):
		return 0, errors.New("the currency is not SAR")
	case !amount.IsPositive() || amount.Cmp(models.Halalas(maxMinor)) > 0:
		return 0, errors.New("the amount is not one that the company takes")
	default:
		return amount.Halalas(), nil
	}
}

// fromMinor is an amount of the company. Every currency whose unit has not a hundred parts comes out wrong, and is never ours: such a
// payment is for a person to look at, by its currency.
func fromMinor(amount int64, currency string) (models.Money, string) {
	return models.Halalas(amount), strings.ToUpper(currency)
}
