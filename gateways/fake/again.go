package fake

import (
	"strconv"

	"github.com/google/uuid"

	"rihla/gateways"
)

// PayAgain takes the amount of a paid checkout once more, and returns the id of that payment.
func (g *Gateway) PayAgain(reference uuid.UUID) string {
	g.mu.Lock()
	defer g.mu.Unlock()

	c := g.checkouts[reference]
	id := "pm_" + reference.String() + "_" + strconv.Itoa(len(c.Others)+2)

	again := *c
	again.PaymentID, again.RefundedAmount, again.Others = id, again.RefundedAmount.Sub(again.RefundedAmount), nil
	g.debits[id] = &again
	c.Others = append(c.Others, gateways.Debit{PaymentID: id, Amount: c.Amount, Currency: c.Currency, PaidAt: c.PaidAt})

	return id
}

// Again is what was taken once more, by the payment's id.
func (g *Gateway) Again(id string) gateways.Checkout {
	g.mu.Lock()
	defer g.mu.Unlock()

	return *g.debits[id]
}

// payment is the checkout by the payment that is meant; nil when there is none.
func (g *Gateway) payment(r gateways.CheckoutRef) *gateways.Checkout {
	if again := g.debits[r.PaymentID]; again != nil && again.ID == r.ID {
		return again
	}

	return g.checkout(r.ID)
}
