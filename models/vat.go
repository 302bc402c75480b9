package models

import "github.com/shopspring/decimal"

// VATWithin is the VAT contained in an amount that includes it: amount − amount ÷ (1 + rate),
// rounded half-up to the halala (rules: prices.booking).
func VATWithin(amount Money, rate Rate) Money {
	one := decimal.NewFromInt(1)
	// amount × rate ÷ (1 + rate) is the same number with a single, last rounding.
	return Money{d: amount.d.Mul(rate.d).DivRound(one.Add(rate.d), moneyScale)}
}

// AddVAT is what a price without VAT costs with it, and the VAT in that (rules: prices.campaign).
func AddVAT(price Money, rate Rate) (amount, vat Money) {
	vat = price.AtRate(rate)

	return price.Add(vat), vat
}
