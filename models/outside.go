package models

// RefundedOutside is what a gateway has given back of a payment without an order of ours, by the sum of all that it has given back.
// Of that, done went back by refunds of ours, and sent may have: they left, and are not decided. known is what was found before. The
// answer is taken for no more than it proves: known stays while it is possible, and becomes less only when nothing is under way and the
// answer shows all that was made (shown).
func RefundedOutside(refunded, done, sent, known Money, shown bool) Money {
	most := refunded.Sub(done)
	least := most.Sub(sent)

	if least.Cmp(known) > 0 {
		return least
	}

	if most.IsNegative() {
		most = Money{}
	}

	if most.Cmp(known) < 0 && shown && sent.IsZero() {
		return most
	}

	return known
}
