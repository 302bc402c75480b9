package hyperpay

import (
	"errors"
	"regexp"

	"rihla/models"
)

// amountForm is that of the company: a decimal text in the currency's main unit, with two decimals or none
// (hyperpay.docs.oppwa.com/reference/parameters).
var amountForm = regexp.MustCompile(`^[0-9]{1,10}(\.[0-9]{2})?$`)

// errAmount reports an amount that cannot be written, or read, exactly.
var errAmount = errors.New("hyperpay: the amount is not one that the company takes")

// maxAmount is the largest that the form can hold.
var maxAmount = models.MustMoney("9999999999.99")

// amountText writes an amount: 1150.5 is "1150.50". Error: errAmount for what is not positive, or too long.
func amountText(m models.Money) (string, error) {
	if !m.IsPositive() || m.Cmp(maxAmount) > 0 {
		return "", errAmount
	}

	return m.String(), nil
}

// parseAmount reads an amount as it is written in answers and messages. Error: errAmount.
func parseAmount(text string) (models.Money, error) {
	if !amountForm.MatchString(text) {
		return models.Money{}, errAmount
	}

	m, err := models.ParseMoney(trimZeros(text))
	if err != nil {
		return models.Money{}, errAmount
	}

	return m, nil
}

// trimZeros takes leading zeros away, which the form allows and models.ParseMoney does not.
func trimZeros(text string) string {
	for len(text) > 1 && text[0] == '0' && text[1] != '.' {
		text = text[1:]
	}

	return text
}
