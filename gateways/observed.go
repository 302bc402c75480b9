package gateways

import (
	"context"
	"time"
)

// Observed reports every call to g: the operation, how it went (`ok` or the ErrorKind's name) and how long it took.
func Observed(g Gateway, report func(operation, outcome string, took time.Duration)) Gateway {
	return observed{next: g, report: report}
}

type observed struct {
	next   Gateway
	report func(operation, outcome string, took time.Duration)
}

func observe[T any](o observed, operation string, call func() (T, error)) (T, error) {
	began := time.Now()
	answer, err := call()

	outcome := "ok"
	if err != nil {
		outcome = KindOf(err).String()
	}

	o.report(operation, outcome, time.Since(began))

	return answer, err
}

func (o observed) CreateCheckout(ctx context.Context, r CheckoutRequest) (Checkout, error) {
	return observe(o, "create_checkout", func() (Checkout, error) { return o.next.CreateCheckout(ctx, r) })
}

func (o observed) ReadCheckout(ctx context.Context, r CheckoutRef) (Checkout, error) {
	return observe(o, "read_checkout", func() (Checkout, error) { return o.next.ReadCheckout(ctx, r) })
}

func (o observed) CancelCheckout(ctx context.Context, r CheckoutRef) (Checkout, error) {
	return observe(o, "cancel_checkout", func() (Checkout, error) { return o.next.CancelCheckout(ctx, r) })
}

func (o observed) CreateRefund(ctx context.Context, r RefundRequest) (Refund, error) {
	return observe(o, "create_refund", func() (Refund, error) { return o.next.CreateRefund(ctx, r) })
}

func (o observed) ReadRefund(ctx context.Context, r RefundRef) (Refund, error) {
	return observe(o, "read_refund", func() (Refund, error) { return o.next.ReadRefund(ctx, r) })
}

func (o observed) Capabilities() Capabilities { return o.next.Capabilities() }
