package limits_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// webhookLimit gives one back every ten seconds.
const webhookLimit = 6

// webhooks fills one channel's limit: what it refuses is not stored, the other channels go on, and the gateway, which
// delivers again, loses nothing.
func webhooks(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	booking := customer.Book(1)

	unsigned := func(path string) harness.Answer { return s.Anybody().Post(path, map[string]string{}) }
	fill := func() harness.Answer {
		for {
			if a := unsigned(cardsPath); a.Status == http.StatusTooManyRequests {
				return a
			}
		}
	}

	spend(t, webhookLimit, http.StatusUnauthorized, func() harness.Answer { return unsigned(cardsPath) })
	require.Equal(t, http.StatusUnauthorized, unsigned(billsPath).Status, "each channel has its own")

	// A sound one is refused, too, and leaves nothing behind.
	event := []byte(`{"type":"payment.note","timestamp":"2026-01-01T00:00:00Z","data":{"checkout_id":"c","merchant_reference":"r"}}`)
	id := "msg_" + uuid.NewString()

	a, err := s.Anybody().Do(http.MethodPost, cardsPath, event, s.Signed(models.ChannelGatewayA, id, event))
	require.NoError(t, err)

	if a.Status == http.StatusTooManyRequests { // else a slot had come free
		limited(t, a, webhookLimit)
		require.Zero(t, s.Count("SELECT count(*) FROM webhook_events WHERE webhook_id = $1", id))
	}

	limited(t, fill(), webhookLimit)

	before := s.GatewayStats().WebhookFailures

	require.NoError(t, s.Pay(booking.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(booking.ID).PaymentStatus)
	require.Greater(t, s.GatewayStats().WebhookFailures, before, "the limit had refused it at first")
	require.Equal(t, 1, s.Count("SELECT count(*) FROM webhook_events WHERE merchant_reference = $1",
		booking.Payment.TransactionID.String()))
}
