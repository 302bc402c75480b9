package e2e_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// storm is how many deliveries come at the same moment.
const storm = 100

// TestHundredDeliveriesOfOneWebhook is what gateways do on a bad day: they tell the same thing again and again, at once.
func TestHundredDeliveriesOfOneWebhook(t *testing.T) { //nolint:tparallel // its parts share one service, one after the other
	t.Parallel()

	service := harness.Start(t, harness.Options{})

	for name, tt := range map[string]struct {
		ids    int // how many different webhook-ids the deliveries have
		events func(i int) models.EventType
	}{
		"one id":        {1, always(models.EventPaymentSucceeded)},
		"different ids": {storm, always(models.EventPaymentSucceeded)},
		"ten ids":       {10, always(models.EventPaymentSucceeded)},
		// A gateway that contradicts itself: the money was taken, so the booking is paid whichever came first.
		"failures among them": {storm, func(i int) models.EventType {
			return []models.EventType{models.EventPaymentFailed, models.EventPaymentSucceeded}[i%2]
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := service.For(t)
			customer := s.As(models.RoleEndUser)
			b := customer.Book(2)
			happened := time.Now().UTC().Format(time.RFC3339)

			answers := atOnce(storm, func(i int) harness.Answer {
				event := eventOf(b, tt.events(i%tt.ids))
				event["timestamp"] = happened // one id is one message

				return deliver(s, models.ChannelGatewayA, fmt.Sprintf("%s-%d", b.ID, i%tt.ids), event)
			})
			requireReceipts(t, answers, tt.ids)

			require.Eventually(t, func() bool {
				return s.Count("SELECT count(*) FROM webhook_events WHERE transaction_id = $1 AND processed_at IS NULL", b.Payment.TransactionID) == 0
			}, patience, 20*time.Millisecond, "events stay unprocessed")

			requirePaidOnce(t, s, b)
			require.Equal(t, tt.ids, s.Count("SELECT count(*) FROM webhook_events WHERE transaction_id = $1", b.Payment.TransactionID))

			// One more, of a new id, after all is done.
			late := decoded[receipt](t, http.StatusOK, deliver(s, models.ChannelGatewayA, b.ID.String()+"-late", eventOf(b, models.EventPaymentSucceeded)))
			require.True(t, late.Duplicate)
			requirePaidOnce(t, s, b)
		})
	}

	t.Run("another message under a used id", func(t *testing.T) {
		for _, channel := range models.Channels() {
			reusedWebhookID(t, service.For(t), channel)
		}
	})

	cleanLogs(t, service)
}

// reusedWebhookID sends one message twice, and another one under its id.
func reusedWebhookID(t *testing.T, s *harness.Stack, channel models.Channel) {
	t.Helper()

	send := func(body string) harness.Answer {
		a, err := s.Anybody().Do(http.MethodPost, "/api/v1/payments/"+channel.Path(), []byte(body), s.Signed(channel, "one-id", []byte(body)))
		require.NoError(t, err)

		return a
	}

	require.False(t, decoded[receipt](t, http.StatusOK, send(`{"type":"checkout.seen","n":1}`)).Duplicate)
	require.True(t, decoded[receipt](t, http.StatusOK, send(`{"type":"checkout.seen","n":1}`)).Duplicate)
	require.True(t, decoded[receipt](t, http.StatusOK, send(`{"n": 1.0, "type": "checkout.seen"}`)).Duplicate)
	refused(t, send(`{"type":"checkout.seen","n":2}`), http.StatusConflict, models.CodeWebhookIDReused)
}

func always(kind models.EventType) func(int) models.EventType {
	return func(int) models.EventType { return kind }
}

// requireReceipts checks that every delivery was taken, and each id at most once as a new one. i%ids was its id.
func requireReceipts(t *testing.T, answers []harness.Answer, ids int) {
	t.Helper()

	fresh := map[int]int{}

	for i, a := range answers {
		r := decoded[receipt](t, http.StatusOK, a)
		require.True(t, r.Received)

		if !r.Duplicate {
			fresh[i%ids]++
		}
	}

	require.NotEmpty(t, fresh, "somebody was the first")

	for id, n := range fresh {
		require.Equal(t, 1, n, "id %d was new %d times", id, n)
	}
}

// requirePaidOnce checks that a booking was confirmed, booked and told exactly once.
func requirePaidOnce(t *testing.T, s *harness.Stack, b harness.Booking) {
	t.Helper()

	id := b.Payment.TransactionID

	require.Equal(t, models.TransactionPaid, s.As(models.RoleEndUser).Await(b.ID).PaymentStatus)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM bookings WHERE id = $1 AND status = 'CONFIRMED'", b.ID))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM financial_records WHERE booking_id = $1", b.ID))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM financial_records WHERE booking_id = $1 AND gross_amount = $2", b.ID, b.Amount.String()))
	// The ledger moves the payment's amount once: its net and its commission.
	require.Equal(t, 2, s.Count("SELECT count(*) FROM ledger_transfers WHERE transaction_id = $1", id))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM payment_transactions WHERE booking_id = $1 AND status = 'PAID'", b.ID))
	require.Equal(t, b.Seats, s.Count("SELECT seats_taken FROM trips WHERE id = $1", s.World.Trip.ID))
	require.Equal(t, 0, s.Count("SELECT count(*) FROM incidents WHERE booking_id = $1", b.ID))

	for _, channel := range []string{"EMAIL", "SMS"} {
		require.Eventually(t, func() bool {
			return s.Count(`SELECT count(*) FROM notifications WHERE transaction_id = $1 AND channel = $2 AND kind = $3 AND status = 'SENT'`,
				id, channel, models.NotifyPaymentSucceeded) == 1
		}, patience, 20*time.Millisecond, "the %s was not sent", channel)
		require.Equal(t, 1, s.Count("SELECT count(*) FROM notifications WHERE transaction_id = $1 AND channel = $2 AND kind = $3",
			id, channel, models.NotifyPaymentSucceeded))
		require.Equal(t, 1, s.Count("SELECT sum(attempts) FROM notifications WHERE transaction_id = $1 AND channel = $2 AND kind = $3",
			id, channel, models.NotifyPaymentSucceeded), "sent more than once")
	}
}
