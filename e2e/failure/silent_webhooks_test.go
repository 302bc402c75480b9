package failure_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// answers are what the gateway said because it was asked, and webhooks what it said by itself.
const (
	answers  = "SELECT count(*) FROM webhook_events WHERE webhook_id LIKE 'status-query:%'"
	webhooks = "SELECT count(*) FROM webhook_events WHERE webhook_id NOT LIKE 'status-query:%'"
	asked    = "SELECT count(*) FROM payment_transactions WHERE asked_at IS NOT NULL"
)

// TestWebhooksFallSilent: the gateway takes money and none of its webhooks comes. Customers are booked all the same, soon
// and not when their time is over, until webhooks come again; from then on no attempt is polled.
func TestWebhooksFallSilent(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"WEBHOOK_SILENCE": "4s", "SWEEP_INTERVAL": "1s"}})
	customer := s.As(models.RoleEndUser)

	customer.BookPaid(1)
	require.Zero(t, s.Count(asked), "its webhook came")

	fault(s, "webhook", "drop", 1000)

	lost := make([]uuid.UUID, 0, 3)

	for range 3 {
		b := customer.Book(1)
		require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))

		lost = append(lost, b.ID)
	}

	waiting := customer.Book(1)
	declined := customer.Book(1)
	require.NoError(t, s.Pay(*declined.Payment.CheckoutURL, "decline"))

	for _, id := range lost {
		require.Equal(t, models.TransactionPaid, customer.Await(id).PaymentStatus)
	}

	require.Equal(t, models.FailureDeclined, *customer.Await(declined.ID).FailureCode)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM payment_transactions WHERE booking_id = $1 AND status = 'PENDING'", waiting.ID))
	require.Equal(t, 4, s.Count(answers))
	require.Equal(t, 1, s.Count(webhooks))
	require.Equal(t, 4, s.Count("SELECT count(*) FROM transaction_state_changes WHERE to_status = 'PAID'"), "each of them once, and the one that was heard")
	require.NotEmpty(t, s.AwaitWorkflow("PollStatus", 1))

	s.ClearFaults()

	// Webhooks come, one every second or two: the polling ends by itself, and the open attempt is not polled again.
	require.Eventually(t, func() bool {
		customer.BookPaid(1)

		return s.Count("SELECT count(*) FROM payment_transactions WHERE booking_id = $1 AND asked_at < now() - interval '8 seconds'", waiting.ID) == 1
	}, patience, 500*time.Millisecond)
	require.Equal(t, 4, s.Count(answers))
	awaitBooks(t, s)
}

// TestOneLostWebhook: one webhook is lost on a channel on which others come. Its customer polls, and is booked within seconds and not
// when the time to pay is over; the gateway is asked about an attempt once in 20 seconds, however many poll.
func TestOneLostWebhook(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer := s.As(models.RoleEndUser)
	unpaid, b := customer.Book(1), customer.Book(1)

	fault(s, "webhook", "drop", 1)
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
	customer.BookPaid(1)

	paid := time.Now()

	var pollers sync.WaitGroup

	for range 4 {
		pollers.Go(func() { customer.Await(unpaid.ID) })
		pollers.Go(func() { customer.Await(b.ID) })
	}

	status := customer.Await(b.ID)
	require.Equal(t, models.TransactionPaid, status.PaymentStatus, "within the 30 seconds of one request")
	require.Equal(t, models.BookingConfirmed, status.BookingStatus)
	t.Logf("booked %s after it was paid", time.Since(paid).Round(100*time.Millisecond))
	require.Equal(t, 1, s.Count(answers))
	require.Equal(t, 1, s.Count(webhooks))

	pollers.Wait()

	require.Equal(t, 2, s.Count(asked), "those that were waited for")
	require.Equal(t, 1, s.Count("SELECT count(*) FROM payment_transactions WHERE booking_id = $1 AND status = 'PENDING'", unpaid.ID))
	awaitBooks(t, s)
}
