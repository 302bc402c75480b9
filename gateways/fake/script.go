package fake

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/models"
)

// Operation is a call of gateways.Gateway: reading by the gateway's id (Get) and by our reference (Find) are two.
type Operation string

// The operations that can be made to fail.
const (
	CreateCheckout Operation = "CreateCheckout"
	GetCheckout    Operation = "GetCheckout"
	FindCheckout   Operation = "FindCheckout"
	CancelCheckout Operation = "CancelCheckout"
	CreateRefund   Operation = "CreateRefund"
	GetRefund      Operation = "GetRefund"
	FindRefund     Operation = "FindRefund"
)

// Mode is how a call goes.
type Mode int

// The modes.
const (
	Works               Mode = iota // no fault: to let a call pass between two faults
	UnknownBeforeEffect             // KindUnknown, and nothing happened
	UnknownAfterEffect              // KindUnknown, and yet it happened
	Rejected                        // KindRejected with Code
	RateLimited                     // KindRateLimited with RetryAfter, 1 s when 0
	Pending                         // CreateRefund only: the refund is decided later, by DecideRefund
	Conflict                        // creating calls only: KindInProgress, and the effect comes with Complete
	Unreachable                     // KindUnreachable, and nothing happened
	Unauthorized                    // KindUnauthorized, and nothing happened
	FindLag                         // FindRefund and FindCheckout only: KindNotFound, although it is there
)

// Fault is how one call goes.
type Fault struct {
	Mode       Mode
	Code       string
	RetryAfter time.Duration
}

// Script lets the next calls of an operation go as listed, one fault per call, in order.
func (g *Gateway) Script(op Operation, faults ...Fault) {
	g.mu.Lock()
	defer g.mu.Unlock()

	g.script[op] = append(g.script[op], faults...)
}

// Always lets every call of an operation that has no scripted fault go the same way, until Heal.
func (g *Gateway) Always(op Operation, f Fault) {
	g.mu.Lock()
	defer g.mu.Unlock()

	g.always[op] = f
}

// Heal forgets all faults.
func (g *Gateway) Heal() {
	g.mu.Lock()
	defer g.mu.Unlock()

	clear(g.script)
	clear(g.always)
}

func (g *Gateway) next(op Operation) Fault {
	if queue := g.script[op]; len(queue) > 0 {
		g.script[op] = queue[1:]

		return queue[0]
	}

	return g.always[op]
}

// Complete has the effects of all calls that were answered KindInProgress so far, in their order.
func (g *Gateway) Complete() {
	g.mu.Lock()
	defer g.mu.Unlock()

	for _, effect := range g.underWay {
		effect()
	}

	g.underWay = nil
}

// Calls is how often an operation was called, failed calls included.
func (g *Gateway) Calls(op Operation) int {
	g.mu.Lock()
	defer g.mu.Unlock()

	return g.calls[op]
}

// Pay is the customer paying. A checkout that is not open is paid all the same, as late money is.
func (g *Gateway) Pay(reference uuid.UUID) error {
	return g.change(reference, func(c *gateways.Checkout) {
		now := time.Now().UTC()
		c.Status, c.ResultCode, c.FailureReason, c.PaidAt = gateways.CheckoutPaid, "APPROVED", "", &now
	})
}

// PayOther is the gateway charging another amount or currency than it was asked for.
func (g *Gateway) PayOther(reference uuid.UUID, amount models.Money, currency string) error {
	return g.change(reference, func(c *gateways.Checkout) {
		now := time.Now().UTC()
		c.Status, c.ResultCode, c.Amount, c.Currency, c.PaidAt = gateways.CheckoutPaid, "APPROVED", amount, currency, &now
	})
}

// PayBy is the customer paying by another method than was asked for.
func (g *Gateway) PayBy(reference uuid.UUID, method models.PaymentMethod) error {
	if err := g.Pay(reference); err != nil {
		return err
	}

	return g.change(reference, func(c *gateways.Checkout) { c.Method = method })
}

// Decline is the bank refusing.
func (g *Gateway) Decline(reference uuid.UUID) error {
	return g.change(reference, func(c *gateways.Checkout) {
		c.Status, c.ResultCode, c.FailureReason = gateways.CheckoutFailed, "DECLINED", "The payment was declined."
	})
}

// Expire lets the time to pay pass.
func (g *Gateway) Expire(reference uuid.UUID) error {
	return g.change(reference, func(c *gateways.Checkout) {
		c.Status, c.ResultCode, c.FailureReason = gateways.CheckoutExpired, "EXPIRED", "The checkout was not paid in time."
	})
}

func (g *Gateway) change(reference uuid.UUID, change func(*gateways.Checkout)) error {
	g.mu.Lock()
	defer g.mu.Unlock()

	c := g.checkouts[reference]
	if c == nil {
		return fmt.Errorf("fake gateway: no checkout of reference %s", reference)
	}

	change(c)

	return nil
}

// DecideRefund ends a pending refund; the money of a failed one is with the merchant again.
func (g *Gateway) DecideRefund(reference uuid.UUID, succeed bool) error {
	g.mu.Lock()
	defer g.mu.Unlock()

	r := g.refunds[reference]
	if r == nil || r.Status != gateways.RefundPending {
		return fmt.Errorf("fake gateway: no pending refund of reference %s", reference)
	}

	if succeed {
		r.Status = gateways.RefundSucceeded

		return nil
	}

	r.Status, r.FailureReason = gateways.RefundFailed, "The bank refused the refund."
	c := g.checkout(r.CheckoutID)
	c.RefundedAmount = c.RefundedAmount.Sub(r.Amount)

	return nil
}
