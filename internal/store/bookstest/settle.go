package bookstest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/inbox"
	"rihla/models"
)

// Event is a gateway's webhook about an attempt; edit may be nil.
func Event(tx models.PaymentTransaction, kind models.EventType, edit func(*models.WebhookEvent)) models.WebhookEvent {
	amount := tx.Amount
	e := models.WebhookEvent{
		ID: models.NewID(), Channel: tx.PaymentMethod.Channel(), WebhookID: "evt-" + uuid.NewString(), Type: kind,
		CheckoutID: "ref-" + tx.ID.String(), MerchantReference: tx.ID.String(), Amount: &amount, Currency: tx.Currency,
		PaymentMethod: tx.PaymentMethod, ResultCode: "000", OccurredAt: time.Now(),
	}
	if kind == models.EventPaymentFailed {
		e.FailureReason = "Do not honour."
	}

	if edit != nil {
		edit(&e)
	}

	return e
}

// Deliver stores a webhook event.
func (b *Books) Deliver(t *testing.T, e models.WebhookEvent) inbox.Stored {
	t.Helper()

	stored, err := b.Store.Inbox.StoreEvent(t.Context(), e, time.Now())
	require.NoError(t, err)

	return stored
}

// Settle applies the stored events of a payment.
func (b *Books) Settle(t *testing.T, tx models.PaymentTransaction, at time.Time) models.Settled {
	t.Helper()

	s, err := b.Store.Payments.SettlePayment(t.Context(), tx.ID, at)
	require.NoError(t, err)
	require.Equal(t, tx.Gateway, s.Gateway)

	if tx.BookingID != nil {
		require.Equal(t, *tx.BookingID, s.Booking)
	} else {
		require.Zero(t, s.Booking)
	}

	s.Gateway, s.Booking, s.Heard = "", uuid.Nil, time.Time{} // so that tests say only what they are about

	return s
}

// Outcome is what became of an event.
func (b *Books) Outcome(t *testing.T, e models.WebhookEvent) string {
	t.Helper()

	var outcome string

	require.NoError(t, b.DB.QueryRowContext(t.Context(),
		"SELECT outcome FROM webhook_events WHERE channel = $1 AND webhook_id = $2", e.Channel, e.WebhookID).Scan(&outcome))

	return outcome
}

// Fingerprint is the whole state that a settlement may touch; the same twice means that nothing has changed.
func (b *Books) Fingerprint(t *testing.T) string {
	t.Helper()

	tables := []string{
		"payment_transactions", "transaction_state_changes", "bookings", "trips", "ad_campaigns", "financial_records",
		"ledger_transfers", "notifications", "incidents", "refunds",
	}
	out := make([]string, 0, len(tables))

	for _, table := range tables {
		var sum string

		require.NoError(t, b.DB.QueryRowContext(context.WithoutCancel(t.Context()),
			fmt.Sprintf("SELECT count(*) || ':' || COALESCE(md5(string_agg(r::text, '|' ORDER BY r::text)), '') FROM %s AS r", table)).Scan(&sum))

		out = append(out, table+"="+sum)
	}

	return strings.Join(out, "\n")
}
