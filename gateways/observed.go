package gateways

import (
	"context"
	"time"

	"github.com/google/uuid"
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

func (o observed) GetCheckout(ctx context.Context, id string) (Checkout, error) {
	return observe(o, "get_checkout", func() (Checkout, error) { return o.next.GetCheckout(ctx, id) })
}

func (o observed) FindCheckout(ctx context.Context, merchantReference uuid.UUID) (Checkout, error) {
	return observe(o, "find_checkout", func() (Checkout, error) { return o.next.FindCheckout(ctx, merchantReference) })
}

func (o observed) CancelCheckout(ctx context.Context, id string) (Checkout, error) {
	return observe(o, "cancel_checkout", func() (Checkout, error) { return o.next.CancelCheckout(ctx, id) })
}

func (o observed) CreateRefund(ctx context.Context, r RefundRequest) (Refund, error) {
	return observe(o, "create_refund", func() (Refund, error) { return o.next.CreateRefund(ctx, r) })
}

func (o observed) GetRefund(ctx context.Context, id string) (Refund, error) {
	return observe(o, "get_refund", func() (Refund, error) { return o.next.GetRefund(ctx, id) })
}

func (o observed) FindRefund(ctx context.Context, merchantReference uuid.UUID) (Refund, error) {
	return observe(o, "find_refund", func() (Refund, error) { return o.next.FindRefund(ctx, merchantReference) })
}
