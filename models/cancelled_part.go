package models

import "github.com/shopspring/decimal"

// CancelledPart is what one cancellation takes out of a paid booking: Seats of the Of passengers that were left (rules:
// cancellations.parts). Amounts are in SAR.
type CancelledPart struct {
	Seats, Of int
	Percent   *int  // of the price, that goes back; nil: a person has named the amount
	Paid      Money // what was paid for the passengers
	Due       Money // what Percent gives for all Of passengers
	Given     Money // what had gone back outside of cancellations, and no earlier one had set off
	Left      Money // of the payment, neither gone back nor reserved for refunds
	Kept      Money // of Left, the fees of earlier cancellations
	Refund    Money
}

// share is the part of an amount that the cancelled passengers have of all that were left: half-up, and all of it for the last ones. What
// is left over goes to those that are left, so that the parts of a booking add up.
func (p *CancelledPart) share(amount Money) Money {
	if p.Seats >= p.Of {
		return amount
	}

	return Money{d: amount.Times(p.Seats).d.DivRound(decimal.NewFromInt(int64(p.Of)), moneyScale)}
}

// rest is what of an amount for all Of passengers is left for the others.
func (p *CancelledPart) rest(amount Money) Money { return amount.Sub(p.share(amount)) }

// SetOff is what of Given was set off against the refund; later cancellations do not set it off again.
func (p *CancelledPart) SetOff() Money {
	if p.Percent == nil {
		return Money{}
	}

	return atLeastZero(p.share(p.Due).Sub(p.Refund))
}

// Fee is what the company and the platform keep of what was paid for the passengers: never more than is there, so that what went back
// beside the policy is in no fee.
func (p *CancelledPart) Fee() Money {
	return atLeastZero(p.Paid.Sub(p.Refund).Sub(p.SetOff()).AtMost(p.Left.Sub(p.Refund).Sub(p.Kept)))
}

// Before is what of the amount paid for the passengers had gone back beside their refund; with Refund and Fee it makes up Paid.
func (p *CancelledPart) Before() Money { return atLeastZero(p.Paid.Sub(p.Refund).Sub(p.Fee())) }

// FeesOf is what is kept as fees after a booking's cancellations, first to last: the sum of them, less what of it went back later.
func FeesOf(parts []CancelledPart) (kept Money) {
	for _, p := range parts {
		p.Kept = kept.AtMost(p.Left)
		kept = p.Kept.Add(p.Fee()).AtMost(p.Left.Sub(p.Refund))
	}

	return kept
}

// leftFor is what of the amount for a whole booking is left for the passengers that earlier cancellations have left.
func leftFor(amount Money, earlier []CancelledPart) Money {
	for i := range earlier {
		amount = earlier[i].rest(amount)
	}

	return amount
}

// CancelPart works out the cancellation of seats of the passengers that the earlier cancellations of t's booking, first to last, have
// left of those that were booked: percent of their share of the price goes back, less their share of what has gone back otherwise, as far
// as that much is left. At one percentage the refunds of all parts add up to that percentage of the price.
func (t *PaymentTransaction) CancelPart(earlier []CancelledPart, booked, seats, percent int) CancelledPart {
	p := t.partOf(earlier, booked, seats)
	p.Percent = &percent
	p.Due = leftFor(t.Amount.AtRate(Rate{d: decimal.New(int64(percent), -2)}), earlier)

	p.Given = t.GivenBack().Add(t.RefundReservedAmount)
	for i := range earlier {
		p.Given = p.Given.Sub(earlier[i].Refund).Sub(earlier[i].SetOff())
	}

	p.Given = atLeastZero(p.Given)
	p.Refund = p.byPercent()

	return p
}

// byPercent is the refund that follows from the other figures of a part that has a Percent.
func (p *CancelledPart) byPercent() Money {
	refund := p.share(atLeastZero(p.Due.Sub(p.Given)))
	if refund.Cmp(p.Left) > 0 {
		refund = p.Left
	}

	return refund
}

// AsQuoted is the part as it was quoted: what went back otherwise since then is not set off.
func (p CancelledPart) AsQuoted(quoted CancelledPart) CancelledPart {
	if quoted.Given.Cmp(p.Given) < 0 {
		p.Given = quoted.Given
		p.Refund = p.byPercent()
	}

	return p
}

// CancelPartFor is CancelPart with an amount that a person has named.
func (t *PaymentTransaction) CancelPartFor(earlier []CancelledPart, booked, seats int, refund Money) CancelledPart {
	p := t.partOf(earlier, booked, seats)
	p.Refund = refund

	return p
}

func (t *PaymentTransaction) partOf(earlier []CancelledPart, booked, seats int) CancelledPart {
	p := CancelledPart{Seats: seats, Of: booked, Left: t.Remaining()}
	p.Kept = FeesOf(earlier).AtMost(p.Left)

	for i := range earlier {
		p.Of -= earlier[i].Seats
	}

	p.Paid = p.share(leftFor(t.Amount, earlier))

	return p
}

func atLeastZero(m Money) Money {
	if m.IsNegative() {
		return Money{}
	}

	return m
}
