package gateways

import (
	"slices"
	"time"

	"rihla/models"
)

// Settlement is how the outcome of a creation is found out whose answer was lost.
type Settlement string

// The ways.
const (
	// SettledByKey: the same request again has the same result, and makes nothing more.
	SettledByKey Settlement = "by_key"
	// SettledByReference: a repeated request may make another thing. The gateway is asked by our reference first, and what it
	// does not find is sent again only after the lag of its search.
	SettledByReference Settlement = "by_reference"
	// SettledBySum: refunds have no identity at the gateway. Those of one payment go one at a time, and what has been given
	// back since tells whether one was made.
	SettledBySum Settlement = "by_sum"
	// SettledHarmlessly: a repeated creation makes another checkout, and none but the one whose id was saved can ever be paid,
	// because customers pay on a page of ours. What a lost answer has left is not found, and does no harm.
	SettledHarmlessly Settlement = "harmlessly"
)

// Capabilities is what a company can do.
type Capabilities struct {
	Methods   []MethodCapability
	Checkouts Settlement
	Refunds   Settlement
	// SearchLag is for how long after a creation a search may not find it.
	SearchLag time.Duration
	// Cancel: an open checkout can be closed. Where not, it can be paid until it expires there, whatever we decide.
	Cancel bool
	// Payer: the company wants to know who pays. Others ask on their own pages.
	Payer bool
	// Statements: the company reports what it has settled.
	Statements bool
}

// MethodCapability is what a company can do with one payment method.
type MethodCapability struct {
	Method     models.PaymentMethod
	Currencies []string     // ISO 4217, in capitals
	MinAmount  models.Money // 0: no bound is known
	MaxAmount  models.Money // 0: no bound is known
	// MinTimeToPay is the shortest time that the company keeps a checkout open; it is cancelled when ours is over.
	MinTimeToPay time.Duration
	MaxTimeToPay time.Duration // 0: no bound is known
	Refunds      RefundExtent
	RefundWithin time.Duration // after the payment; 0: no bound is known
}

// RefundExtent is how much of a payment a company can give back.
type RefundExtent string

// The extents.
const (
	RefundsNone    RefundExtent = "none" // finance staff pay it out
	RefundsFull    RefundExtent = "full"
	RefundsPartial RefundExtent = "partial" // in several parts, up to what was paid
)

// Unbounded is what a company can do that does whatever it is asked for: every method in SAR, settled by key.
func Unbounded() Capabilities {
	c := Capabilities{Checkouts: SettledByKey, Refunds: SettledByKey, Cancel: true}

	for _, m := range models.PaymentMethods() {
		extent := RefundsPartial
		if m.RefundChannel() == models.RefundByHand {
			extent = RefundsNone
		}

		c.Methods = append(c.Methods, MethodCapability{Method: m, Currencies: []string{models.Currency}, Refunds: extent})
	}

	return c
}

// Of is what the company can do with a method; ok is false when it does not have it.
func (c Capabilities) Of(method models.PaymentMethod) (m MethodCapability, ok bool) {
	i := slices.IndexFunc(c.Methods, func(m MethodCapability) bool { return m.Method == method })
	if i < 0 {
		return MethodCapability{}, false
	}

	return c.Methods[i], true
}

// Takes reports whether an amount is within the bounds.
func (m MethodCapability) Takes(amount models.Money) bool {
	return amount.Cmp(m.MinAmount) >= 0 && (m.MaxAmount.IsZero() || amount.Cmp(m.MaxAmount) <= 0)
}
