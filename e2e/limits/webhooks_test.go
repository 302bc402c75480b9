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

// webhooks fills one channel's limit, which only the gateway can: what it refuses is not stored, the other channels go on,
// and the gateway, which delivers again, loses nothing.
func webhooks(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer := s.As(models.RoleEndUser)
	booking := customer.Book(1)

	unsigned := func(path string) harness.Answer { return s.Anybody().Post(path, map[string]string{}) }
	send := func(channel models.Channel, path, id string, event []byte) harness.Answer {
		a, err := s.Anybody().Do(http.MethodPost, path, event, s.Signed(channel, id, event))
		require.NoError(t, err)

		return a
	}

	// Signed, but nothing that could be stored.
	fill := func() harness.Answer {
		for {
			if a := send(models.ChannelGatewayA, cardsPath, "msg_fill", []byte("{")); a.Status == http.StatusTooManyRequests {
				return a
			}
		}
	}

	for range 2 * webhookLimit {
		a := unsigned(cardsPath)
		require.Equal(t, http.StatusUnauthorized, a.Status, "a caller that cannot sign takes nothing from the channel")
		require.Equal(t, models.CodeInvalidSignature, a.Code())
		allowanceOf(t, a)
	}

	spend(t, webhookLimit, http.StatusBadRequest, func() harness.Answer {
		return send(models.ChannelGatewayA, cardsPath, "msg_fill", []byte("{"))
	})
	require.Equal(t, http.StatusBadRequest, send(models.ChannelBillPayment, billsPath, "msg_fill", []byte("{")).Status, "each channel has its own")
	require.Equal(t, http.StatusUnauthorized, unsigned(cardsPath).Status, "401 comes before 429")

	// A sound one is refused, too, and leaves nothing behind.
	event := []byte(`{"type":"payment.note","timestamp":"2026-01-01T00:00:00Z","data":{"checkout_id":"c","merchant_reference":"r"}}`)
	id := "msg_" + uuid.NewString()

	a := send(models.ChannelGatewayA, cardsPath, id, event)
	if a.Status == http.StatusTooManyRequests { // else a slot had come free
		limited(t, a, webhookLimit)
		require.Zero(t, s.Count("SELECT count(*) FROM webhook_events WHERE webhook_id = $1", id))
	}

	limited(t, fill(), webhookLimit)

	before := s.GatewayStats().WebhookFailures

	require.NoError(t, s.Pay(*booking.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(booking.ID).PaymentStatus)
	require.Greater(t, s.GatewayStats().WebhookFailures, before, "the limit had refused it at first")
	require.Equal(t, 1, s.Count("SELECT count(*) FROM webhook_events WHERE merchant_reference = $1",
		booking.Payment.TransactionID.String()))
}
