// Package fake is a gateway in memory that fails on request, for tests of workflows and activities. It keeps
// the promises of gateways.Gateway under every fault: one effect per reference, and never more paid back than paid.
package fake

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/models"
)

// Gateway implements gateways.Gateway. The zero value is not usable; see New. It is safe for concurrent use.
type Gateway struct {
	// Can are its capabilities: all methods, without bounds, settled by key, unless they are changed before it is used.
	Can gateways.Capabilities

	mu        sync.Mutex
	checkouts map[uuid.UUID]*gateways.Checkout
	requests  map[uuid.UUID]gateways.CheckoutRequest // by which they were made
	refunds   map[uuid.UUID]*gateways.Refund
	debits    map[string]*gateways.Checkout // of checkouts that were paid again, by the payment's id
	order     map[string]int                // id → order of creation
	script    map[Operation][]Fault
	always    map[Operation]Fault
	calls     map[Operation]int
	underWay  []func() // effects that Complete has
}

var _ gateways.Gateway = (*Gateway)(nil)

// New is a gateway that works.
func New() *Gateway {
	return &Gateway{
		Can:       gateways.Unbounded(),
		checkouts: make(map[uuid.UUID]*gateways.Checkout),
		requests:  make(map[uuid.UUID]gateways.CheckoutRequest),
		refunds:   make(map[uuid.UUID]*gateways.Refund),
		debits:    make(map[string]*gateways.Checkout),
		order:     make(map[string]int),
		script:    make(map[Operation][]Fault),
		always:    make(map[Operation]Fault),
		calls:     make(map[Operation]int),
	}
}

// CreateCheckout implements gateways.Gateway.
func (g *Gateway) CreateCheckout(ctx context.Context, r gateways.CheckoutRequest) (gateways.Checkout, error) {
	return call(ctx, g, CreateCheckout, func(Fault) (gateways.Checkout, error) {
		if c := g.checkouts[r.MerchantReference]; c != nil {
			if first := g.requests[r.MerchantReference]; first.Description != r.Description || !first.ExpiresAt.Equal(r.ExpiresAt) {
				return gateways.Checkout{}, &gateways.Error{Kind: gateways.KindRejected, Code: "idempotency_key_reused"}
			}

			return *c, nil
		}

		c := &gateways.Checkout{
			ID: "co_" + r.MerchantReference.String(), MerchantReference: r.MerchantReference, Status: gateways.CheckoutOpen,
			Amount: r.Amount, Currency: r.Currency, URL: "https://gateway.test/pay/" + r.MerchantReference.String(), ExpiresAt: r.ExpiresAt,
		}
		g.checkouts[r.MerchantReference], g.requests[r.MerchantReference] = c, r
		g.order[c.ID] = len(g.order)

		return *c, nil
	})
}

// Capabilities implements gateways.Gateway.
func (g *Gateway) Capabilities() gateways.Capabilities { return g.Can }

// ReadCheckout implements gateways.Gateway. By the gateway's id it is the operation GetCheckout, by our reference FindCheckout.
func (g *Gateway) ReadCheckout(ctx context.Context, r gateways.CheckoutRef) (gateways.Checkout, error) {
	if r.ID == "" {
		return call(ctx, g, FindCheckout, func(Fault) (gateways.Checkout, error) { return orNotFound(g.checkouts[r.MerchantReference]) })
	}

	return call(ctx, g, GetCheckout, func(Fault) (gateways.Checkout, error) { return orNotFound(g.payment(r)) })
}

// CancelCheckout implements gateways.Gateway.
func (g *Gateway) CancelCheckout(ctx context.Context, r gateways.CheckoutRef) (gateways.Checkout, error) {
	return call(ctx, g, CancelCheckout, func(Fault) (gateways.Checkout, error) {
		c := g.checkout(r.ID)
		if c != nil && c.Status == gateways.CheckoutOpen {
			c.Status, c.ResultCode = gateways.CheckoutCanceled, "CANCELLED"
		}

		if c != nil && c.Status != gateways.CheckoutCanceled {
			return gateways.Checkout{}, rejected("checkout_not_open")
		}

		return orNotFound(c)
	})
}

// CreateRefund implements gateways.Gateway.
func (g *Gateway) CreateRefund(ctx context.Context, r gateways.RefundRequest) (gateways.Refund, error) {
	return call(ctx, g, CreateRefund, func(f Fault) (gateways.Refund, error) {
		key := r.MerchantReference

		if existing := g.refunds[key]; existing != nil && g.Can.Refunds == gateways.SettledByKey {
			return *existing, nil
		} else if existing != nil { // a second one
			key = uuid.New()
		}

		c := g.payment(r.Checkout)

		switch {
		case c == nil:
			return gateways.Refund{}, rejected("not_found")
		case c.Status != gateways.CheckoutPaid:
			return gateways.Refund{}, rejected("checkout_not_paid")
		case !r.Amount.IsPositive():
			return gateways.Refund{}, rejected("invalid_request")
		case c.Currency != r.Currency:
			return gateways.Refund{}, rejected("currency_mismatch")
		case c.RefundedAmount.Add(r.Amount).Cmp(c.Amount) > 0:
			return gateways.Refund{}, rejected("refund_exceeds_paid")
		}

		c.RefundedAmount = c.RefundedAmount.Add(r.Amount)
		refund := &gateways.Refund{
			ID: "re_" + key.String(), CheckoutID: c.ID, MerchantReference: r.MerchantReference,
			Amount: r.Amount, Currency: r.Currency, Status: gateways.RefundSucceeded,
		}

		if f.Mode == Pending {
			refund.Status = gateways.RefundPending
		}

		g.refunds[key] = refund
		g.order[refund.ID] = len(g.order)

		answer := *refund
		if g.Can.Refunds == gateways.SettledBySum {
			answer.ID = ""
		}

		return answer, nil
	})
}

// ReadRefund implements gateways.Gateway. By the gateway's id it is the operation GetRefund, by our reference or by sum FindRefund.
func (g *Gateway) ReadRefund(ctx context.Context, r gateways.RefundRef) (gateways.Refund, error) {
	if g.Can.Refunds == gateways.SettledBySum {
		return call(ctx, g, FindRefund, func(Fault) (gateways.Refund, error) {
			c := g.payment(r.Checkout)
			if c == nil || c.RefundedAmount.Equal(r.RefundedBefore) {
				return orNotFound[gateways.Refund](nil)
			}

			return gateways.Refund{
				CheckoutID: c.ID, MerchantReference: r.MerchantReference, Amount: c.RefundedAmount.Sub(r.RefundedBefore),
				Currency: c.Currency, Status: gateways.RefundSucceeded,
			}, nil
		})
	}

	if r.ID == "" {
		return call(ctx, g, FindRefund, func(Fault) (gateways.Refund, error) { return orNotFound(g.refunds[r.MerchantReference]) })
	}

	return call(ctx, g, GetRefund, func(Fault) (gateways.Refund, error) {
		for _, made := range g.refunds {
			if made.ID == r.ID {
				return *made, nil
			}
		}

		return orNotFound[gateways.Refund](nil)
	})
}

func (g *Gateway) checkout(id string) *gateways.Checkout {
	for _, c := range g.checkouts {
		if c.ID == id {
			return c
		}
	}

	return nil
}

func orNotFound[T any](item *T) (T, error) {
	if item == nil {
		var none T

		return none, &gateways.Error{Kind: gateways.KindNotFound, Code: "not_found", Message: "there is no such thing"}
	}

	return *item, nil
}

func rejected(code string) *gateways.Error {
	return &gateways.Error{Kind: gateways.KindRejected, Code: code, Message: "refused by the fake gateway"}
}

// call counts the call and lets the fault that waits for it decide about effect and answer.
func call[T any](ctx context.Context, g *Gateway, op Operation, effect func(Fault) (T, error)) (T, error) {
	g.mu.Lock()
	defer g.mu.Unlock()

	var none T

	g.calls[op]++

	if err := ctx.Err(); err != nil {
		return none, &gateways.Error{Kind: gateways.KindUnknown, Code: "canceled", Err: err}
	}

	f := g.next(op)

	switch f.Mode {
	case UnknownBeforeEffect:
		return none, &gateways.Error{Kind: gateways.KindUnknown, Code: "timeout", Message: "no answer, and no effect"}
	case UnknownAfterEffect:
		if _, err := effect(f); err != nil {
			return none, err
		}

		return none, &gateways.Error{Kind: gateways.KindUnknown, Code: "timeout", Message: "no answer, but the effect"}
	case Rejected:
		return none, rejected(cmp.Or(f.Code, "fault_injected"))
	case Conflict:
		g.underWay = append(g.underWay, func() { _, _ = effect(Fault{}) })

		return none, &gateways.Error{Kind: gateways.KindInProgress, Code: "request_in_progress"}
	case Unreachable:
		return none, &gateways.Error{Kind: gateways.KindUnreachable, Code: "connection"}
	case Unauthorized:
		return none, &gateways.Error{Kind: gateways.KindUnauthorized, Code: "unauthorized"}
	case FindLag:
		return orNotFound[T](nil)
	case RateLimited:
		return none, &gateways.Error{Kind: gateways.KindRateLimited, Code: "rate_limited", RetryAfter: cmp.Or(f.RetryAfter, time.Second)}
	default:
		return effect(f)
	}
}

// Checkouts are all checkouts, oldest first.
func (g *Gateway) Checkouts() []gateways.Checkout {
	g.mu.Lock()
	defer g.mu.Unlock()

	return sorted(g.checkouts, func(c *gateways.Checkout) int { return g.order[c.ID] })
}

// Refunds are all refunds, oldest first.
func (g *Gateway) Refunds() []gateways.Refund {
	g.mu.Lock()
	defer g.mu.Unlock()

	return sorted(g.refunds, func(r *gateways.Refund) int { return g.order[r.ID] })
}

func sorted[T any](items map[uuid.UUID]*T, rank func(*T) int) []T {
	list := make([]*T, 0, len(items))
	for _, item := range items {
		list = append(list, item)
	}

	slices.SortFunc(list, func(a, b *T) int { return rank(a) - rank(b) })

	values := make([]T, 0, len(list))
	for _, item := range list {
		values = append(values, *item)
	}

	return values
}

// RefundInDashboard gives money of a checkout back without a request through the interface.
func (g *Gateway) RefundInDashboard(reference uuid.UUID, amount models.Money) {
	g.mu.Lock()
	defer g.mu.Unlock()

	c := g.checkouts[reference]
	c.RefundedAmount = c.RefundedAmount.Add(amount)
}

// Paid is the money that customers paid in.
func (g *Gateway) Paid() models.Money {
	var total models.Money

	for _, c := range g.Checkouts() {
		if c.Status == gateways.CheckoutPaid {
			total = total.Add(c.Amount)
		}
	}

	return total
}

// Refunded is the money that went back or is about to: succeeded and pending refunds.
func (g *Gateway) Refunded() models.Money {
	var total models.Money

	for _, r := range g.Refunds() {
		if r.Status != gateways.RefundFailed {
			total = total.Add(r.Amount)
		}
	}

	return total
}
