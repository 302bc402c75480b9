package gateways_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/models"
)

// slow takes its time for every checkout, and honours the caller's limit.
type slow struct {
	*fake.Gateway

	took time.Duration
}

func (s slow) CreateCheckout(ctx context.Context, r gateways.CheckoutRequest) (gateways.Checkout, error) {
	select {
	case <-time.After(s.took):
		return s.Gateway.CreateCheckout(ctx, r)
	case <-ctx.Done():
		return gateways.Checkout{}, &gateways.Error{Code: "timeout", Err: ctx.Err()}
	}
}

// babbling answers about something else than it was asked.
type babbling struct {
	*fake.Gateway

	change func(*gateways.Checkout)
}

func (b babbling) ReadCheckout(ctx context.Context, r gateways.CheckoutRef) (gateways.Checkout, error) {
	c, err := b.Gateway.ReadCheckout(ctx, r)
	b.change(&c)

	return c, err
}

func (b babbling) CreateCheckout(ctx context.Context, r gateways.CheckoutRequest) (gateways.Checkout, error) {
	c, err := b.Gateway.CreateCheckout(ctx, r)
	b.change(&c)

	return c, err
}

// diary is what a Guard has reported.
type diary struct {
	mu      sync.Mutex
	states  []gateways.Circuit
	refused map[string]int
	pauses  []time.Duration
	odd     int
}

func (d *diary) reports() gateways.Reports {
	d.refused = map[string]int{}
	hold := func(write func()) {
		d.mu.Lock()
		defer d.mu.Unlock()
		write()
	}

	return gateways.Reports{
		Moved: func(_ gateways.Calls, to gateways.Circuit, _ gateways.ErrorKind) {
			hold(func() { d.states = append(d.states, to) })
		},
		NotSent: func(_ gateways.Calls, reason string) { hold(func() { d.refused[reason]++ }) },
		Paused:  func(_ gateways.Calls, p time.Duration) { hold(func() { d.pauses = append(d.pauses, p) }) },
		Anomaly: func(context.Context, gateways.Calls, string) { hold(func() { d.odd++ }) },
	}
}

func wanted() gateways.CheckoutRequest {
	return gateways.CheckoutRequest{
		MerchantReference: uuid.New(), Amount: models.MustMoney("115.00"), Currency: models.Currency, Method: models.MethodCreditCard,
	}
}

var guardLimits = gateways.Limits{Timeout: 4 * time.Second, BreakerFailures: 3, BreakerOpenFor: 10 * time.Second}

func create(t *testing.T, g gateways.Gateway) error {
	t.Helper()

	_, err := g.CreateCheckout(t.Context(), wanted())

	return err
}

// requireNotSent gives the time after which another try is worth it.
func requireNotSent(t *testing.T, err error, reason string) time.Duration {
	t.Helper()

	e, ok := err.(*gateways.Error) //nolint:errorlint // what a Gateway promises
	require.True(t, ok, "%v", err)
	require.Equal(t, gateways.KindNotSent, e.Kind, "%v", err)
	require.Equal(t, reason, e.Code)
	require.Positive(t, e.RetryAfter)

	return e.RetryAfter
}
