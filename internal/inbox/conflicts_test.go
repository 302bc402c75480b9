package inbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/payments"
	"rihla/models"
)

// signed gives an event a body and what proves it.
func signed(e models.WebhookEvent, body string) models.WebhookEvent {
	proof := "webhook-timestamp: 1795000000\nwebhook-signature: v1,abc"
	e.Body, e.Signature = &body, &proof

	return e
}

func TestAWebhookIDIsOfOneMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	declined := signed(bookstest.Event(tx, models.EventPaymentFailed, nil), `{"type": "payment.failed", "data": {"amount": 115.00}}`)
	b.Deliver(t, declined)

	for name, body := range map[string]string{
		"byte by byte": *declined.Body, "encoded anew": `{"data":{"amount":115.0},"type":"payment.failed"}`,
	} {
		again := signed(declined, body)
		again.ID = models.NewID()
		stored := b.Deliver(t, again)
		require.True(t, stored.Duplicate, name)
		require.False(t, stored.Reused || stored.Deliver, name)
	}

	// Money under the id of a refusal: dropped as a duplicate it would be lost without a trace.
	for n := range 3 {
		other := signed(bookstest.Event(tx, models.EventPaymentSucceeded, nil), fmt.Sprintf(`{"type": "payment.succeeded", "n": %d}`, n))
		other.WebhookID = declined.WebhookID

		for range 2 {
			stored := b.Deliver(t, other)
			require.True(t, stored.Reused)
			require.False(t, stored.Duplicate || stored.Deliver)
		}
	}

	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM webhook_events WHERE type = 'payment.failed' AND body = $1", *declined.Body))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM webhook_events"))
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM incidents WHERE kind = 'WEBHOOK_ID_REUSED' AND status = 'OPEN'
		AND jsonb_array_length(details->'events') = 3`), "each message once")

	elsewhere := signed(bookstest.Event(tx, models.EventPaymentSucceeded, nil), `{}`)
	elsewhere.WebhookID, elsewhere.Channel = declined.WebhookID, models.ChannelWalletA
	require.False(t, b.Deliver(t, elsewhere).Reused, "another channel has ids of its own")
}

// Of what was stored before bodies were kept only the fields can be compared.
func TestAWebhookIDOfAnOldMessage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	old := bookstest.Event(tx, models.EventPaymentFailed, nil)
	b.Deliver(t, old)

	require.True(t, b.Deliver(t, signed(old, `{}`)).Duplicate)

	other := signed(bookstest.Event(tx, models.EventPaymentSucceeded, nil), `{}`)
	other.WebhookID = old.WebhookID
	require.True(t, b.Deliver(t, other).Reused)
}

// Received events are append-only; only their outcome can be updated.
func TestWhatAGatewaySaidNeverChanges(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Paid(t, 1)

	for _, query := range []string{
		"UPDATE webhook_events SET amount = amount + 1", "UPDATE webhook_events SET type = 'payment.failed'",
		"UPDATE webhook_events SET body = '{}', signature = 'forged'", "UPDATE webhook_events SET occurred_at = now()",
		"DELETE FROM webhook_events", "TRUNCATE webhook_events",
	} {
		_, err := b.DB.ExecContext(t.Context(), query)
		require.ErrorContains(t, err, "append-only", query)
	}

	b.Exec(t, "UPDATE webhook_events SET outcome = outcome, processed_at = processed_at")
}

// The timeline shows what was signed.
func TestTheTimelineHoldsTheBody(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	e := signed(bookstest.Event(tx, models.EventPaymentFailed, nil), `{"type":"payment.failed"}`)
	b.Deliver(t, e)

	all, err := b.Store.Payments.Timeline(t.Context(), tx.ID)
	require.NoError(t, err)

	var shown []any

	for _, entry := range all {
		if entry.Kind == payments.TimelineWebhook {
			shown = append(shown, entry.Details["body"], entry.Details["signature"])
		}
	}

	require.Equal(t, []any{*e.Body, *e.Signature}, shown)
}

// bare opens an attempt whose checkout is not saved yet.
func (b *books) bare(t *testing.T) models.PaymentTransaction {
	t.Helper()

	tx, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(b.Book(t, b.Trip, 1), 1, models.MethodCreditCard), time.Now)
	require.NoError(t, err)

	return tx
}

func (b *books) requireConflict(t *testing.T, tx models.PaymentTransaction, other uuid.UUID) {
	t.Helper()
	require.Equal(t, 1, b.Count(t, `SELECT count(*) FROM incidents WHERE kind = 'REFERENCE_CONFLICT' AND payment_transaction_id = $1
		AND details->'events'->0->>'other_transaction_id' = $2 AND workflow_id = $3`, tx.ID, other.String(), models.PaymentWorkflowID(tx.ID)))
}

// An event about one attempt that names the checkout of another: applied, it would give one checkout to two payments.
func TestAnEventThatNamesAnothersCheckout(t *testing.T) {
	t.Parallel()

	for name, edit := range map[string]func(*testing.T, *books) models.PaymentTransaction{
		"of an attempt without a checkout": func(t *testing.T, b *books) models.PaymentTransaction {
			t.Helper()

			return b.bare(t)
		},
		"of an attempt with a checkout": func(t *testing.T, b *books) models.PaymentTransaction {
			t.Helper()

			return b.Open(t, b.Book(t, b.Trip, 1), 1)
		},
		"of an attempt that has ended": func(t *testing.T, b *books) models.PaymentTransaction {
			t.Helper()

			tx := b.bare(t)
			_, err := b.Store.Payments.EndPayment(t.Context(), tx.ID, models.FailureExpired, "", time.Now())
			require.NoError(t, err)

			return tx
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			other := b.Paid(t, 1)
			tx := edit(t, b)
			before := b.Transaction(t, tx.ID)
			e := bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.CheckoutID = *other.Reference })

			stored := b.Deliver(t, e)
			require.True(t, stored.Known)
			require.False(t, stored.Deliver || stored.Duplicate)
			require.Equal(t, "INCIDENT", b.Outcome(t, e))
			b.requireConflict(t, tx, other.ID)

			_, err := b.Store.Payments.SettlePayment(t.Context(), tx.ID, time.Now())
			require.NoError(t, err)
			require.Equal(t, before, b.Transaction(t, tx.ID), "without effect")
		})
	}
}

// The other attempt learns its checkout only after the event was stored.
func TestAnEventThatNamesACheckoutSavedLater(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx, other := b.bare(t), b.bare(t)
	e := bookstest.Event(tx, models.EventPaymentSucceeded, nil)
	require.True(t, b.Deliver(t, e).Deliver)
	require.NoError(t, b.Store.Payments.SaveCheckout(t.Context(), other.ID, other.Channel, payments.OpenedCheckout{Reference: e.CheckoutID, URL: "https://gateway.test/x"}))

	settled := b.Settle(t, tx, time.Now())
	require.Equal(t, models.TransactionPending, settled.Status)
	require.True(t, settled.NeedsReview)
	require.Equal(t, "INCIDENT", b.Outcome(t, e))
	b.requireConflict(t, tx, other.ID)
}

// The gateway answers two requests with one checkout.
func TestSaveTheCheckoutOfAnother(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other, tx := b.Paid(t, 1), b.bare(t)

	for range 2 {
		err := b.Store.Payments.SaveCheckout(t.Context(), tx.ID, tx.Channel, payments.OpenedCheckout{Reference: *other.Reference})
		require.ErrorIs(t, err, payments.ErrReferenceTaken)
	}

	require.Nil(t, b.Transaction(t, tx.ID).Reference)
	b.requireConflict(t, tx, other.ID)
}

// An incident that hears the same webhook again and again does not grow by it.
func TestAnIncidentListsAnEventOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	e := bookstest.Event(b.Open(t, b.Book(t, b.Trip, 1), 1), models.EventPaymentSucceeded, func(e *models.WebhookEvent) {
		e.MerchantReference = uuid.NewString()
	})

	for range 5 {
		require.False(t, b.Deliver(t, e).Known)
	}

	require.Equal(t, 1, b.Count(t, "SELECT jsonb_array_length(details->'events') FROM incidents WHERE kind = 'UNKNOWN_REFERENCE'"))
}

// Gateways spell a currency as they like.
func TestACurrencyInSmallLetters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.Currency = strings.ToLower(e.Currency) }))
	require.Equal(t, models.TransactionPaid, b.Settle(t, tx, time.Now()).Status)
}
