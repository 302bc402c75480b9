package inbox_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// TestOpenEventsAreStoredAsByStoreEvent: an event of an open attempt leaves the same row and is handed over likewise, whichever way it
// was stored.
func TestOpenEventsAreStoredAsByStoreEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)

	body, signature := `{"type":"payment.succeeded","note":"it's {\"quoted\", \\ and ٣}"}`, "webhook-timestamp: 1\nwebhook-signature: v1,AA="

	event := func() models.WebhookEvent {
		tx := b.Open(t, b.Book(t, b.Trip, 1), 1)

		return bookstest.Event(tx, models.EventPaymentFailed, func(e *models.WebhookEvent) {
			e.Body, e.Signature, e.OccurredAt = &body, &signature, time.Date(2026, 11, 24, 12, 0, 0, 123456789, time.UTC)
			e.FailureReason = "Do not honour, \"NULL\", {NULL}."
		})
	}

	together := []models.WebhookEvent{event(), event(), event()}

	stored, err := b.Store.Inbox.StoreOpenEvents(t.Context(), together)
	require.NoError(t, err)
	require.Len(t, stored, len(together))

	columns := func(e *models.WebhookEvent) (row string) {
		require.NoError(t, b.Store.DB.Raw.QueryRowContext(t.Context(), `
			SELECT (to_jsonb(we) - 'id' - 'webhook_id' - 'transaction_id' - 'checkout_id' - 'merchant_reference' - 'received_at' - 'digest')::text
			FROM webhook_events AS we WHERE id = $1 AND transaction_id = merchant_reference::uuid AND checkout_id = 'ref-' || transaction_id
				AND received_at > now() - interval '1 minute' AND digest = event_digest(we)`, e.ID).Scan(&row))

		return row
	}

	for i := range together {
		alone := event()
		want := b.Deliver(t, alone)

		got := stored[together[i].ID]
		require.Equal(t, columns(&alone), columns(&together[i]))
		require.Equal(t, together[i].MerchantReference, got.TransactionID.String())
		require.NotEqual(t, uuid.Nil, got.BookingID)

		want.EventID, want.TransactionID, want.BookingID = got.EventID, got.TransactionID, got.BookingID
		require.Equal(t, want, got)
	}

	for i := range together {
		tx, err := b.Store.Payments.TransactionByID(t.Context(), stored[together[i].ID].TransactionID)
		require.NoError(t, err)
		require.Equal(t, models.TransactionFailed, b.Settle(t, tx, time.Now()).Status)
	}
}

// TestOtherEventsAreLeftToStoreEvent: what is not about an open attempt and its own checkout, or was received before, is not stored
// together with others, and does not keep them from being stored.
func TestOtherEventsAreLeftToStoreEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)

	open := func() models.PaymentTransaction { return b.Open(t, b.Book(t, b.Trip, 1), 1) }
	of := func(tx models.PaymentTransaction, edit func(*models.WebhookEvent)) models.WebhookEvent {
		return bookstest.Event(tx, models.EventPaymentSucceeded, edit)
	}

	good, twice := of(open(), nil), of(open(), nil)
	again := twice
	again.ID = models.NewID()

	received := of(open(), nil)
	b.Deliver(t, received)
	received.ID = models.NewID()

	booking := b.Book(t, b.Trip, 1)
	unopened, _, err := b.Store.Payments.OpenPayment(t.Context(), models.Attempt{
		BookingID: booking.ID, Number: 1, UserID: booking.UserID, Method: models.MethodCreditCard,
	}, time.Now)
	require.NoError(t, err)

	events := []models.WebhookEvent{
		of(b.Paid(t, 1), nil), // has ended
		of(open(), func(e *models.WebhookEvent) { e.Channel = models.ChannelWalletA }),
		of(open(), func(e *models.WebhookEvent) { e.CheckoutID = good.CheckoutID }),
		of(open(), func(e *models.WebhookEvent) { e.MerchantReference = uuid.NewString() }),
		of(open(), func(e *models.WebhookEvent) { e.GatewayPaymentID = "pay_1" }), // which the attempt is to keep
		of(unopened, nil),
		received, twice, again, good,
	}

	stored, err := b.Store.Inbox.StoreOpenEvents(t.Context(), events)
	require.NoError(t, err)
	require.Len(t, stored, 2)
	require.Contains(t, stored, good.ID)
	require.NotEqual(t, stored[twice.ID].Deliver, stored[again.ID].Deliver, "one of two with the same id")

	for i := range events {
		require.True(t, events[i].MayBeOpen())
	}

	for name, e := range map[string]models.WebhookEvent{
		"a refund":       bookstest.Event(open(), models.EventRefundSucceeded, nil),
		"a dispute":      bookstest.Event(open(), models.EventPaymentDisputed, nil),
		"unknown":        bookstest.Event(open(), "payment.pondered", nil),
		"a hint":         of(open(), func(e *models.WebhookEvent) { e.Hint = true }),
		"no reference":   of(open(), func(e *models.WebhookEvent) { e.MerchantReference = "" }),
		"not our id":     of(open(), func(e *models.WebhookEvent) { e.MerchantReference = "order 7" }),
		"no checkout id": of(open(), func(e *models.WebhookEvent) { e.CheckoutID = "" }),
	} {
		require.False(t, e.MayBeOpen(), name)
	}
}

// TestBatchesOfTheSameEvents: gateways deliver again while the first delivery is still being stored, to whichever process. Each event
// is stored once, and no batch fails.
func TestBatchesOfTheSameEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)

	events := make([]models.WebhookEvent, 6)
	for i := range events {
		events[i] = bookstest.Event(b.Open(t, b.Book(t, b.Trip, 1), 1), models.EventPaymentSucceeded, nil)
	}

	const batches = 12

	errs, counts := make([]error, batches), make([]int, batches)

	bookstest.Parallel(batches, func(n int) {
		mine := make([]models.WebhookEvent, len(events))
		for i := range events { // each batch in another order
			mine[i] = events[(i*5+n)%len(events)]
			mine[i].ID = models.NewID()
		}

		stored, err := b.Store.Inbox.StoreOpenEvents(t.Context(), mine)
		errs[n], counts[n] = err, len(stored)
	})

	total := 0

	for n := range batches {
		require.NoError(t, errs[n])

		total += counts[n]
	}

	require.Equal(t, len(events), total)
	require.Equal(t, len(events), b.Count(t, "SELECT count(*) FROM webhook_events"))
}
