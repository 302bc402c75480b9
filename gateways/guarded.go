package gateways

import (
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"

	"rihla/models"
)

// Limits bound the calls to one gateway and say when its circuit opens. Each process counts for itself.
type Limits struct {
	Timeout         time.Duration // of one call; 0: what the driver gives it
	Rate            float64       // calls per second, over all kinds; 0: no limit
	Burst           int           // how many of them may come at once
	Concurrency     int           // calls under way; 0: no limit
	BreakerFailures int           // failures in a row that open the breaker of a kind of calls; 0: none does
	BreakerOpenFor  time.Duration // how long it stays open before one call tries again
}

// Calls is a kind of calls. Each has a breaker of its own: a gateway that opens no checkouts may well say how the open
// ones stand.
type Calls string

// The kinds of calls.
const (
	CallsCheckout Calls = "checkout"
	CallsCancel   Calls = "cancel"
	CallsRefund   Calls = "refund"
	CallsStatus   Calls = "status"
)

// AllCalls are all kinds of calls.
func AllCalls() []Calls { return []Calls{CallsCheckout, CallsCancel, CallsRefund, CallsStatus} }

// Reports are the callbacks of a Guard; nil ones are skipped. They must not block, nor call the Guard.
type Reports struct {
	Moved   func(c Calls, to Circuit, cause ErrorKind)         // a breaker has changed its state; cause is that of the last failure
	NotSent func(c Calls, reason string)                       // a call was not sent: open, paused, busy or rate
	Paused  func(c Calls, d time.Duration)                     // the gateway answered 429
	Waited  func(c Calls, d time.Duration)                     // what a call that was sent had waited for its turn
	Anomaly func(ctx context.Context, c Calls, problem string) // an answer that cannot be right
}

// Guard stands before a gateway and keeps one that fails from doing harm: it bounds the time, the rate and the number of
// calls, stops asking what does not answer, and pauses when the gateway asks for it. A call that it does not let out is
// KindNotSent, with the time after which it is worth another try.
type Guard struct {
	next    Gateway
	limits  Limits
	reports Reports
	limiter *rate.Limiter
	slots   chan struct{} // nil: no limit
	kinds   map[Calls]*circuit
}

var _ Gateway = (*Guard)(nil)

// Guarded puts a Guard before g.
func Guarded(g Gateway, limits Limits, reports Reports) *Guard {
	guard := &Guard{next: g, limits: limits, reports: reports.orSilent(), kinds: map[Calls]*circuit{}}

	if limits.Rate > 0 {
		guard.limiter = rate.NewLimiter(rate.Limit(limits.Rate), max(limits.Burst, 1))
	}

	if limits.Concurrency > 0 {
		guard.slots = make(chan struct{}, limits.Concurrency)
	}

	for _, calls := range AllCalls() {
		guard.kinds[calls] = newCircuit(calls, limits, guard.reports)
	}

	return guard
}

func (r Reports) orSilent() Reports {
	if r.Moved == nil {
		r.Moved = func(Calls, Circuit, ErrorKind) {}
	}

	if r.NotSent == nil {
		r.NotSent = func(Calls, string) {}
	}

	if r.Paused == nil {
		r.Paused = func(Calls, time.Duration) {}
	}

	if r.Waited == nil {
		r.Waited = func(Calls, time.Duration) {}
	}

	if r.Anomaly == nil {
		r.Anomaly = func(context.Context, Calls, string) {}
	}

	return r
}

// anomaly is what is wrong with an answer. An answer about another thing counts as no answer. An answer with another amount or
// currency is passed on, because the caller knows what was asked for, and counts against the gateway all the same.
type anomaly struct {
	problem  string
	believed bool
}

// callGuarded makes one call of a kind and counts its outcome in the breaker.
func callGuarded[T any](
	ctx context.Context, g *Guard, calls Calls, call func(context.Context) (T, error), look func(T) anomaly,
) (T, error) {
	var none T

	c := g.kinds[calls]

	done, err := g.admit(ctx, c)
	if err != nil {
		return none, err
	}

	outcome := errAnomaly // of a driver that panics
	defer func() { done(outcome) }()

	limited, cancel := g.bounded(ctx)
	defer cancel()

	answer, err := call(limited)

	var odd anomaly
	if err == nil {
		odd = look(answer)
	}

	switch {
	case odd.problem != "":
		g.reports.Anomaly(ctx, calls, odd.problem)
	case errors.Is(ctx.Err(), context.Canceled):
		outcome = errCallerCanceled
	default:
		outcome = err
	}

	if odd.problem != "" && !odd.believed {
		return none, &Error{Kind: KindUnknown, Code: "bad_answer", Message: odd.problem}
	}

	return answer, c.paused(err)
}

func (g *Guard) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if g.limits.Timeout <= 0 {
		return ctx, func() {}
	}

	return context.WithTimeout(ctx, g.limits.Timeout)
}

// CreateCheckout implements Gateway.
func (g *Guard) CreateCheckout(ctx context.Context, r CheckoutRequest) (Checkout, error) {
	return callGuarded(ctx, g, CallsCheckout,
		func(ctx context.Context) (Checkout, error) { return g.next.CreateCheckout(ctx, r) },
		func(c Checkout) anomaly {
			if c.MerchantReference != r.MerchantReference || !models.SameCurrency(c.Currency, r.Currency) || !c.Amount.Equal(r.Amount) {
				return anomaly{problem: "the checkout in the answer does not match the request"}
			}

			return anomaly{}
		})
}

// ReadCheckout implements Gateway.
func (g *Guard) ReadCheckout(ctx context.Context, r CheckoutRef) (Checkout, error) {
	return callGuarded(ctx, g, CallsStatus,
		func(ctx context.Context) (Checkout, error) { return g.next.ReadCheckout(ctx, r) }, isCheckout(r))
}

// CancelCheckout implements Gateway.
func (g *Guard) CancelCheckout(ctx context.Context, r CheckoutRef) (Checkout, error) {
	return callGuarded(ctx, g, CallsCancel,
		func(ctx context.Context) (Checkout, error) { return g.next.CancelCheckout(ctx, r) }, isCheckout(r))
}

// CreateRefund implements Gateway.
func (g *Guard) CreateRefund(ctx context.Context, r RefundRequest) (Refund, error) {
	return callGuarded(ctx, g, CallsRefund,
		func(ctx context.Context) (Refund, error) { return g.next.CreateRefund(ctx, r) },
		func(f Refund) anomaly {
			if f.MerchantReference != r.MerchantReference || f.CheckoutID != r.Checkout.ID ||
				!models.SameCurrency(f.Currency, r.Currency) || !f.Amount.Equal(r.Amount) {
				return anomaly{problem: "the refund in the answer does not match the request"}
			}

			return anomaly{}
		})
}

// ReadRefund implements Gateway.
func (g *Guard) ReadRefund(ctx context.Context, r RefundRef) (Refund, error) {
	return callGuarded(ctx, g, CallsStatus,
		func(ctx context.Context) (Refund, error) { return g.next.ReadRefund(ctx, r) },
		func(f Refund) anomaly {
			if f.MerchantReference != r.MerchantReference || r.ID != "" && f.ID != r.ID {
				return anomaly{problem: "the answer has the id of another refund"}
			}

			return unexpectedCurrency(f.Currency)
		})
}

// Capabilities implements Gateway.
func (g *Guard) Capabilities() Capabilities { return g.next.Capabilities() }

// isCheckout holds an answer to what was asked about.
func isCheckout(r CheckoutRef) func(Checkout) anomaly {
	return func(c Checkout) anomaly {
		if c.MerchantReference != r.MerchantReference || r.ID != "" && c.ID != r.ID {
			return anomaly{problem: "the answer has the id of another checkout"}
		}

		return unexpectedCurrency(c.Currency)
	}
}

// unexpectedCurrency reports an answer in a currency that is never asked for.
func unexpectedCurrency(currency string) anomaly {
	if !models.SameCurrency(currency, models.Currency) {
		return anomaly{problem: "the currency is not supported", believed: true}
	}

	return anomaly{}
}
