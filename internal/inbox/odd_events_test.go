package inbox_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/payments"
	"rihla/models"
)

// TestWebhookBeforeItsPayment: the gateway is faster than our own row. It hears 404, sends the webhook again, and by then
// the payment is known.
func TestWebhookBeforeItsPayment(t *testing.T) {
	t.Parallel()

	for name, opened := range map[string]bool{"and before its checkout is saved": false, "and after its checkout is saved": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			booking := b.Book(t, b.Trip, 1)
			a := b.Attempt(booking, 1, models.MethodCreditCard)
			early := bookstest.Event(models.PaymentTransaction{
				ID: a.ID(), Amount: booking.Amount, Currency: booking.Currency, PaymentMethod: models.MethodCreditCard,
			}, models.EventPaymentSucceeded, nil)

			stored := b.Deliver(t, early)
			require.False(t, stored.Known || stored.Deliver)
			require.False(t, b.Deliver(t, early).Known, "as often as it comes too early")
			require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE status = 'OPEN'"))

			tx, _, err := b.Store.Payments.OpenPayment(t.Context(), a, time.Now)
			require.NoError(t, err)

			if opened {
				require.NoError(t, b.Store.Payments.SaveCheckout(t.Context(), tx.ID, tx.Channel, payments.OpenedCheckout{
					Reference: early.CheckoutID, URL: "https://gateway.test/x",
				}))
			}

			again := early
			again.ID = models.NewID()
			stored = b.Deliver(t, again)
			require.True(t, stored.Known && stored.Deliver)
			require.False(t, stored.Duplicate)
			require.Equal(t, early.ID, stored.EventID, "it is the same event")

			require.Equal(t, models.TransactionPaid, b.Settle(t, tx, time.Now()).Status)
			require.True(t, b.Deliver(t, again).Duplicate)
			require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM webhook_events"))
			require.Zero(t, b.Count(t, "SELECT count(*) FROM incidents WHERE status = 'OPEN'"))
		})
	}
}

// TestEarlyWebhookOfAnother: only what the event names can become its own.
func TestEarlyWebhookOfAnother(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
	strange := bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.MerchantReference = uuid.NewString() })
	b.Deliver(t, strange)

	same := bookstest.Event(tx, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { e.WebhookID = strange.WebhookID })
	require.True(t, b.Deliver(t, same).Duplicate, "the same id, about something else")
	require.Equal(t, models.TransactionPending, b.Settle(t, tx, time.Now()).Status)
}

// TestWebhooksInAnyOrder: a gateway says that a checkout failed, expired and was paid, twice and under several ids, in every
// order, settled one by one or together. The money is what counts, and it counts once.
func TestWebhooksInAnyOrder(t *testing.T) {
	t.Parallel()

	says := []models.EventType{models.EventPaymentFailed, models.EventPaymentExpired, models.EventPaymentSucceeded, models.EventPaymentSucceeded}

	for _, together := range []bool{false, true} {
		t.Run(fmt.Sprintf("together=%t", together), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			trip := b.InsertTrip(t, 40, nil)

			for n, order := range permutations(says) {
				tx := b.Open(t, b.Book(t, trip, 1), 1)
				name := fmt.Sprintf("%d: %v", n, order)

				for _, kind := range order {
					e := bookstest.Event(tx, kind, nil)
					b.Deliver(t, e)
					require.False(t, b.Deliver(t, e).Deliver && !together, name)

					if !together {
						b.Settle(t, tx, time.Now())
					}
				}

				require.Equal(t, models.TransactionPaid, b.Settle(t, tx, time.Now()).Status, name)
				require.Equal(t, models.BookingConfirmed, b.BookingNow(t, *tx.BookingID).Status, name)
				require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM financial_records WHERE booking_id = $1", *tx.BookingID), name)
				require.Zero(t, b.Count(t, "SELECT count(*) FROM webhook_events WHERE transaction_id = $1 AND processed_at IS NULL", tx.ID), name)
			}

			require.Zero(t, b.Count(t, "SELECT count(*) FROM incidents"))
		})
	}
}

// TestFailureAfterPayment: what was paid stays paid.
func TestFailureAfterPayment(t *testing.T) {
	t.Parallel()
	b := setup(t)
	tx := b.Paid(t, 1)
	before := b.BookingNow(t, *tx.BookingID)

	for _, kind := range []models.EventType{models.EventPaymentFailed, models.EventPaymentExpired} {
		e := bookstest.Event(tx, kind, nil)
		stored := b.Deliver(t, e)
		require.False(t, stored.Deliver, "no workflow is bothered")
		require.Equal(t, "IGNORED", b.Outcome(t, e))
	}

	require.Equal(t, models.TransactionPaid, b.Settle(t, tx, time.Now()).Status)
	require.Equal(t, before.Status, b.BookingNow(t, *tx.BookingID).Status)
}

// TestSuccessForAReplacedAttempt: the customer chose another method, and then paid on the page of the first. The second
// attempt is what is left to close.
func TestSuccessForAReplacedAttempt(t *testing.T) {
	t.Parallel()
	b := setup(t)
	booking := b.Book(t, b.Trip, 1)
	first := b.Open(t, booking, 1)

	_, err := b.Store.Payments.EndPayment(t.Context(), first.ID, models.FailureCancelled, "", time.Now())
	require.NoError(t, err)

	second := b.Open(t, booking, 2)
	b.Deliver(t, bookstest.Event(first, models.EventPaymentSucceeded, nil))

	s := b.Settle(t, first, time.Now())
	require.Equal(t, models.TransactionPaid, s.Status)
	require.Equal(t, second.ID, s.Sibling, "nobody should pay twice")

	// It is paid as well before it can be closed: that money goes back.
	b.Deliver(t, bookstest.Event(second, models.EventPaymentSucceeded, nil))
	require.True(t, b.Settle(t, second, time.Now()).RefundOwed)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE kind = 'LATE_PAYMENT'"))
}

func permutations(of []models.EventType) (all [][]models.EventType) {
	if len(of) < 2 {
		return [][]models.EventType{of}
	}

	seen := map[string]bool{}

	for i := range of {
		rest := slices.Delete(slices.Clone(of), i, i+1)
		for _, tail := range permutations(rest) {
			order := append([]models.EventType{of[i]}, tail...)

			key := fmt.Sprint(order)
			if !seen[key] {
				seen[key] = true

				all = append(all, order)
			}
		}
	}

	return all
}
