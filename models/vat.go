package models

import "github.com/shopspring/decimal"

// VATWithin is the VAT contained in an amount that includes it: amount − amount ÷ (1 + rate),
// rounded half-up to the halala (rules: prices.booking).
func VATWithin(amount Money, rate Rate) Money {
	one := decimal.NewFromInt(1)
	// amount × rate ÷ (1 + rate) is the same number with a single, last rounding.
	return Money{d: amount.d.Mul(rate.d).DivRound(one.Add(rate.d), moneyScale)}
}

// RefundVAT is the VAT on the document of a refund of t, its transaction: what its own amount contains, by itself and whatever went back
// before, since credit notes are validated one by one (rules: refunds.vat). The documents of several refunds may so differ from the sale's
// by some halalas; the ledger's entries never do (SplitForRefund). Money in suspense and a second
// payment have paid for nothing, so there is no VAT in them.
func RefundVAT(t *PaymentTransaction, amount Money) Money {
	switch {
	case t.SuspenseAt != nil, t.Kind == KindSecondDebit:
		return Money{}
	case amount.Equal(t.Amount):
		return t.VATAmount
	default:
		return VATWithin(amount, t.VATRate)
	}
}

// AddVAT is what a price without VAT costs with it, and the VAT in that (rules: prices.campaign).
func AddVAT(price Money, rate Rate) (amount, vat Money) {
	vat = price.AtRate(rate)

	return price.Add(vat), vat
}
