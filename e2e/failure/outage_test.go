package failure_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// outage is how long the orchestrator is away. E2E_OUTAGE=30s makes it the one that the service is held to; the shorter
// one goes through the same states.
func outage(t *testing.T) time.Duration {
	t.Helper()

	text := os.Getenv("E2E_OUTAGE")
	if text == "" {
		text = "10s"
	}

	d, err := time.ParseDuration(text)
	require.NoError(t, err)

	return d
}

// TestOrchestratorAway stops Temporal, alone and together with the API, while customers pay.
func TestOrchestratorAway(t *testing.T) { //nolint:tparallel // its parts stop and start the same Temporal
	t.Parallel()

	s := harness.Start(t, harness.Options{Private: true, Env: inLife()})

	t.Run("alone", func(t *testing.T) { orchestratorAlone(t, s.For(t)) })
	t.Run("with the API", func(t *testing.T) { orchestratorWithAPI(t, s.For(t)) })
	t.Run("manual payouts", func(t *testing.T) { payoutsWithoutOrchestrator(t, s.For(t)) })
	t.Run("approvals", func(t *testing.T) { approvalsWithoutOrchestrator(t, s.For(t)) })
	t.Run("the desk", func(t *testing.T) { deskWithoutOrchestrator(t, s.For(t)) })
	t.Run("refunds", func(t *testing.T) { refundsWithoutOrchestrator(t, s.For(t)) }) // the last: it takes from what the others count
}

func orchestratorAlone(t *testing.T, s *harness.Stack) {
	t.Helper()

	const customers = 30

	customer := s.As(models.RoleEndUser)
	l := newLoad(t, s, customers)
	pay := l.waitToPay(t.Context(), t, customers, time.Second)

	declined, lost, replaced := bookDeclined(t, s, customer), customer.Book(1), customer.Book(1)
	before := s.GatewayStats()

	require.NoError(t, s.Components.Temporal.Stop(t.Context()))

	gone, back := time.Now(), time.After(outage(t))

	pay()
	l.finish(t, customers)
	await(t, patience, func() error { return delivered(s, before, customers) })

	s.Fault(map[string]any{"operation": "webhook", "mode": "drop"})
	require.NoError(t, s.Pay(*lost.Payment.CheckoutURL, "succeed"))
	requireTaken(t, s, lost)

	made, same := s.Count(rows), uuid.NewString()

	refusedForNow(t, customer, "/api/v1/bookings", s.BookingRequest(1), same)
	refusedForNow(t, customer, intentPath(declined.ID), map[string]any{"payment_method": models.MethodWalletB}, uuid.NewString())
	refusedForNow(t, customer, intentPath(replaced.ID), map[string]any{"payment_method": models.MethodWalletB, "replace": true}, uuid.NewString())
	require.Equal(t, made, s.Count(rows), "nothing is left of them")

	a := customer.Get("/api/v1/bookings/" + lost.ID.String() + "/payment-status")
	require.Contains(t, string(a.Body), `"payment_status":"PENDING"`)
	require.Equal(t, customers+1, s.Count("SELECT count(*) FROM webhook_events WHERE processed_at IS NULL"))

	<-back
	require.NoError(t, s.Components.Temporal.Start(t.Context()))
	away := time.Since(gone)

	t.Logf("Temporal was away for %s; %d payments settled %s after it was back", away.Round(time.Second), customers+1,
		awaitBooks(t, s).Round(time.Millisecond))

	again := load{stack: s, caller: customer}
	_, ok := again.retryUntilDecided(t.Context(), "/api/v1/bookings", s.BookingRequest(1), map[string]string{"Idempotency-Key": same})
	require.True(t, ok, "%v", again.broken)
}

// delivered checks that the gateway got its 200 for every webhook, and at the first try.
func delivered(s *harness.Stack, before harness.GatewayStats, webhooks int) error {
	now := s.GatewayStats()
	if now.WebhooksDelivered-before.WebhooksDelivered != webhooks || now.WebhookFailures != before.WebhookFailures {
		return fmt.Errorf("of %d webhooks: %+v, before %+v", webhooks, now, before)
	}

	return nil
}

// requireTaken sends the webhook that the gateway has lost, and sees it accepted.
func requireTaken(t *testing.T, s *harness.Stack, b harness.Booking) {
	t.Helper()

	body, err := json.Marshal(map[string]any{
		"type": models.EventPaymentSucceeded, "timestamp": time.Now().UTC(),
		"data": map[string]any{
			"checkout_id": *b.Payment.Reference, "merchant_reference": b.Payment.TransactionID, "amount": b.Amount,
			"currency": models.Currency, "payment_method": models.MethodCreditCard, "result_code": "APPROVED",
		},
	})
	require.NoError(t, err)

	a, err := s.Anybody().Do(http.MethodPost, "/api/v1/payments/webhook/gateway_a", body,
		s.Signed(models.ChannelGatewayA, "evt_"+uuid.NewString(), body))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	require.JSONEq(t, `{"data":{"received":true,"duplicate":false}}`, string(a.Body))
}

// orchestratorWithAPI loses the process that holds the webhooks in memory, too: only the database knows of them.
func orchestratorWithAPI(t *testing.T, s *harness.Stack) {
	t.Helper()

	const customers = 30

	l := newLoad(t, s, customers)
	pay := l.waitToPay(t.Context(), t, customers, time.Second)
	before := s.GatewayStats()

	s.Components.Temporal.Kill()
	pay()
	l.finish(t, customers)
	await(t, patience, func() error { return delivered(s, before, customers) })
	require.Equal(t, customers, s.Count("SELECT count(*) FROM webhook_events WHERE processed_at IS NULL"))

	s.API.Kill()
	require.NoError(t, s.Components.Temporal.Start(t.Context()))
	s.API.Start()
	t.Logf("%d payments settled %s after the API was back", customers, awaitBooks(t, s).Round(time.Millisecond))
}
