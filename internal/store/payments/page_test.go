package payments_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/inbox"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/payments"
	"rihla/models"
)

// TestPayPage: an attempt that is paid on a page of ours has what the page needs, for a day after its time to pay; no other has.
func TestPayPage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)
	tx, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(booking, 1, models.MethodCreditCard), time.Now)
	require.NoError(t, err)

	id := uuid.New()
	data := map[string]string{"page": id.String(), "integrity": "sha384-'\"?", "origin": "https://company.test"}

	for _, made := range []payments.OpenedCheckout{
		{Reference: "first", URL: "https://rihla.test/pay/1", PageData: data}, {Reference: "second", URL: "https://rihla.test/pay/2"},
	} {
		require.NoError(t, b.Store.Payments.SaveCheckout(t.Context(), tx.ID, tx.Channel, made))
	}

	p, err := b.Store.Payments.PayPage(t.Context(), id, tx.ExpiresAt.Add(24*time.Hour-time.Second))
	require.NoError(t, err)
	require.Equal(t, data, p.PageData)
	require.Equal(t, "first", *p.Reference)
	require.WithinDuration(t, time.Now(), *p.OpenedAt, time.Minute)
	require.Equal(t, tx.Purchase, p.Purchase)

	_, err = b.Store.Payments.PayPage(t.Context(), id, tx.ExpiresAt.Add(24*time.Hour+time.Second))
	require.Equal(t, models.CodeNotFound, models.CodeOf(err))

	for _, other := range []uuid.UUID{tx.ID, b.Open(t, b.Book(t, b.Trip, 1), 1).ID, uuid.Nil} {
		_, err = b.Store.Payments.PayPage(t.Context(), other, time.Now())
		require.Equal(t, models.CodeNotFound, models.CodeOf(err), "an attempt's own id opens nothing")
	}
}

// TestSealedMessages: a message that is encrypted anew for each delivery is the same when it says the same.
func TestSealedMessages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)

	sealed := func(edit func(*models.WebhookEvent)) models.WebhookEvent {
		return bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) {
			body := strings.ReplaceAll(models.NewID().String(), "-", "")
			proof := "x-initialization-vector: " + body[:24]
			e.WebhookID, e.Sealed, e.Body, e.Signature, e.CheckoutID = "payment:000.000.000", true, &body, &proof, ""

			if edit != nil {
				edit(e)
			}
		})
	}

	require.False(t, b.Deliver(t, sealed(nil)).Duplicate)

	again := b.Deliver(t, sealed(nil))
	require.True(t, again.Duplicate)
	require.False(t, again.Reused)

	other := b.Deliver(t, sealed(func(e *models.WebhookEvent) { more := e.Amount.Add(models.MustMoney("0.01")); e.Amount = &more }))
	require.True(t, other.Reused, "the same id with another amount")
}

// TestRefundEventWithoutCheckout: companies that give refunds references of their own do not repeat the checkout's id.
func TestRefundEventWithoutCheckout(t *testing.T) {
	t.Parallel()
	b := setup(t)
	paid := b.Paid(t, 1)
	refund := b.Reserve(t, b.Ask(paid, "10.00"))

	report := func(edit func(*models.WebhookEvent)) inbox.Stored {
		return b.Deliver(t, bookstest.Event(paid, models.EventRefundSucceeded, func(e *models.WebhookEvent) {
			e.MerchantReference, e.CheckoutID = refund.ID.String(), ""
			edit(e)
		}))
	}

	stored := report(func(*models.WebhookEvent) {})
	require.True(t, stored.Known)
	require.Equal(t, refund.ID, stored.RefundID)

	require.False(t, report(func(e *models.WebhookEvent) { e.CheckoutID = "foreign" }).Known)
	require.False(t, report(func(e *models.WebhookEvent) { e.Channel = models.ChannelWalletB }).Known)
}
