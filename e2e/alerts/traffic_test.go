//go:build drill

package alerts_test

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

const webhookPath = "/api/v1/payments/webhook/gateway_a"

// side runs what n clients do until the context is done.
func side(n int, pause time.Duration, do func()) func(context.Context) {
	return func(ctx context.Context) {
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				for ctx.Err() == nil {
					do()

					select {
					case <-ctx.Done():
					case <-time.After(pause):
					}
				}
			})
		}

		all.Wait()
	}
}

// both runs them beside each other.
func both(causes ...func(context.Context)) func(context.Context) {
	return func(ctx context.Context) {
		var all sync.WaitGroup
		for _, cause := range causes {
			all.Go(func() { cause(ctx) })
		}

		all.Wait()
	}
}

// asks is a request for a page, whatever the answer.
func asks(c *harness.Caller, path string) func() {
	return func() { _, _ = c.Do(http.MethodGet, path, nil, nil) }
}

// book tries to book a seat, and says whether there is a checkout.
func book(s *harness.Stack, c *harness.Caller) (b harness.Booking, ok bool) {
	a, err := c.Do(http.MethodPost, "/api/v1/bookings", s.BookingRequest(1), nil)
	if err != nil || a.Status != http.StatusCreated || a.Data(&b) != nil {
		return b, false
	}

	return b, b.Payment.CheckoutURL != nil
}

// bookAnd books, and does on the gateway's page what outcome says.
func bookAnd(s *harness.Stack, c *harness.Caller, outcome string) func() {
	return func() {
		if b, ok := book(s, c); ok && outcome != "" {
			_ = s.Pay(*b.Payment.CheckoutURL, outcome)
		}
	}
}

// paidEvent is the gateway's webhook about a booking.
func paidEvent(t *testing.T, b harness.Booking) []byte {
	t.Helper()

	body, err := json.Marshal(map[string]any{
		"type": models.EventPaymentSucceeded, "timestamp": time.Now().UTC().Format(time.RFC3339),
		"data": map[string]any{
			"checkout_id": *b.Payment.Reference, "merchant_reference": b.Payment.TransactionID, "amount": b.Amount,
			"currency": models.Currency, "payment_method": models.MethodCreditCard, "result_code": "APPROVED",
		},
	})
	require.NoError(t, err)

	return body
}

// deliver sends a webhook, signed or not.
func deliver(s *harness.Stack, body []byte, signed bool) {
	id := "drill-" + uuid.NewString()
	header := s.Signed(models.ChannelGatewayA, id, body)

	if !signed {
		header = s.Signed(models.ChannelGatewayA, "another", body)
		header["webhook-id"] = id
	}

	_, _ = s.Anybody().Do(http.MethodPost, webhookPath, body, header)
}
