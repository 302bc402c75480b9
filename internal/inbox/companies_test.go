package inbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// TestHintHasTheGatewayAsked: a message whose content is not proven changes nothing, whatever it says; the attempt is the next to be
// asked about, and of one that is paid, what has been given back.
func TestHintHasTheGatewayAsked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	now := time.Now()

	open, ended := b.Open(t, b.Book(t, b.Trip, 1), 1), b.Open(t, b.Book(t, b.Trip, 1), 1)
	_, err := b.Store.Payments.EndPayment(t.Context(), ended.ID, models.FailureExpired, "", now)
	require.NoError(t, err)

	paid := b.Paid(t, 1)
	stranger := open
	stranger.ID, stranger.Reference = models.NewID(), nil

	for _, tt := range []struct {
		name string
		tx   models.PaymentTransaction
		edit func(*models.WebhookEvent)
		ask  bool
	}{
		{"an open attempt", open, nil, true},
		{"by the company's id alone", open, func(e *models.WebhookEvent) { e.MerchantReference = "" }, true},
		{"by our id alone", open, func(e *models.WebhookEvent) { e.CheckoutID = "" }, true},
		{"one that ended without money", ended, nil, true},
		{"one that is paid", paid, nil, true},
		{"of another channel", open, func(e *models.WebhookEvent) { e.Channel = models.ChannelWalletB }, false},
		{"nothing of ours", stranger, func(e *models.WebhookEvent) { e.CheckoutID = "foreign" }, false},
	} {
		e := bookstest.Event(tt.tx, models.EventPaymentSucceeded, tt.edit)
		e.Hint = true

		stored, err := b.Store.Inbox.StoreEvent(t.Context(), e, now)
		require.NoError(t, err, tt.name)
		require.Equal(t, tt.ask, stored.Ask, tt.name)
		require.False(t, stored.Deliver, tt.name)
		require.True(t, stored.Known, tt.name)
	}

	require.Zero(t, b.Count(t, "SELECT count(*) FROM incidents"))
	require.Equal(t, 7, b.Count(t, "SELECT count(*) FROM webhook_events WHERE type = 'notice' AND processed_at IS NOT NULL AND outcome = 'IGNORED'"))

	waited, err := b.Store.Payments.ClaimWaitedFor(t.Context(), models.ChannelGatewayA, 9, now)
	require.NoError(t, err)
	require.Len(t, waited, 1)
	require.Equal(t, open.ID, waited[0].ID)

	rechecks, err := b.Store.Payments.ClaimRechecks(t.Context(), models.ChannelGatewayA, time.Minute, 9, now)
	require.NoError(t, err)
	require.Len(t, rechecks, 1, "what has been given back of the one that is paid")
	require.Equal(t, paid.ID, rechecks[0].ID)
}

// TestDisputedPayment: a person has to answer the bank. Nothing moves, and every word about it is in one incident.
func TestDisputedPayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	paid := b.Paid(t, 1)

	for range 2 {
		stored := b.Deliver(t, bookstest.Event(paid, models.EventPaymentDisputed, nil))
		require.True(t, stored.Known)
		require.False(t, stored.Deliver)
	}

	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM incidents WHERE kind = 'PAYMENT_DISPUTED' AND status = 'OPEN'
		AND jsonb_array_length(details -> 'events') = 2`))
	require.Equal(t, models.TransactionPaid, b.Transaction(t, paid.ID).Status)

	unknown := b.Deliver(t, bookstest.Event(paid, models.EventPaymentDisputed, func(e *models.WebhookEvent) {
		e.MerchantReference, e.CheckoutID = models.NewID().String(), "foreign"
	}))
	require.False(t, unknown.Known)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'UNKNOWN_REFERENCE'"))
}

// TestUnreadableEvents: what the driver cannot read is kept and has no effect; each channel and cause has one incident, which is open again
// with the next message.
func TestUnreadableEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)

	unreadable := func(c models.Channel, cause string, hint bool) models.WebhookEvent {
		body, proof := `{"id":"evt"}`, "stripe-signature: t=1,v1=x"

		return models.WebhookEvent{
			ID: models.NewID(), Channel: c, WebhookID: "evt_" + models.NewID().String(), Type: models.EventUnreadable, Unreadable: cause, Hint: hint,
			OccurredAt: time.Now(), Body: &body, Signature: &proof,
		}
	}

	for range 25 {
		for _, e := range []models.WebhookEvent{
			unreadable(models.ChannelGatewayA, "they have API version 1", false), unreadable(models.ChannelGatewayA, "they are of the live mode", true),
			unreadable(models.ChannelWalletB, "they have API version 1", false),
		} {
			stored := b.Deliver(t, e)
			require.True(t, stored.Known, "it is answered 200")
			require.False(t, stored.Deliver || stored.Ask || stored.Duplicate)
			require.Equal(t, "IGNORED", b.Outcome(t, e))
		}
	}

	require.Equal(t, 75, b.Count(t, "SELECT count(*) FROM webhook_events WHERE type = 'unreadable' AND body IS NOT NULL"))
	require.Equal(t, 3, b.Count(t, `SELECT count(*) FROM incidents WHERE kind = 'UNKNOWN_EVENT' AND status = 'OPEN'
		AND jsonb_array_length(details -> 'events') = 20 AND message LIKE 'Signed messages of the gateway cannot be read: they %'`))

	one := b.Incidents(t)[0]
	_, err := b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, one.ID, "registered anew")
	require.NoError(t, err)

	again := unreadable(models.Channel(one.Details["channel"].(string)), one.Details["cause"].(string), false) //nolint:forcetypeassert // as written above
	b.Deliver(t, again)
	require.Equal(t, 3, b.Count(t, "SELECT count(*) FROM incidents WHERE status = 'OPEN'"))
}

// TestRowsOfTheVersionBefore: a worker that has not been replaced yet writes attempts without a channel.
func TestRowsOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for _, m := range models.PaymentMethods() {
		var channel models.Channel

		booking := b.Book(t, b.Trip, 1)
		require.NoError(t, b.DB.QueryRowContext(t.Context(), `
			INSERT INTO payment_transactions (id, kind, attempt, user_id, provider_id, booking_id, amount, vat_rate, vat_amount, payment_method,
				gateway, status, expires_at, commission_rate)
			VALUES (gen_random_uuid(), 'PAYMENT', 1, $1, $2, $3, 115, 0.15, 15, $4, $5, 'PENDING', now(), 0.1) RETURNING channel`,
			b.Customer.ID, b.Provider.ID, booking.ID, m, m.Gateway()).Scan(&channel))
		require.Equal(t, m.Channel(), channel)
	}
}
