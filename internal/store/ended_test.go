package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestEndedToAsk(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	b.paid(t, 1)
	b.open(t, b.book(t, b.Trip, 1), 1)

	wrong := b.open(t, b.book(t, b.Trip, 1), 1)
	b.deliver(t, word(wrong, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { *e.Amount = models.Halalas(1) }))
	b.settle(t, wrong, time.Now())

	first, second := b.open(t, b.book(t, b.Trip, 1), 1), b.open(t, b.book(t, b.Trip, 1), 1)
	ended := time.Now()

	for i, tx := range []models.PaymentTransaction{first, second} {
		_, err := b.s.EndPayment(t.Context(), tx.ID, models.FailureExpired, "", ended.Add(time.Duration(i)*time.Second))
		require.NoError(t, err)
	}

	ask := func(after time.Duration, want ...models.PaymentTransaction) {
		t.Helper()

		due, err := b.s.EndedDue(t.Context(), ended.Add(after))
		require.NoError(t, err)
		require.Equal(t, len(want) > 0, len(due) > 0)

		rows, err := b.s.EndedToAsk(t.Context(), models.ChannelGatewayA, 10, ended.Add(after))
		require.NoError(t, err)
		require.Len(t, rows, len(want))

		for i := range want {
			require.Equal(t, want[i].ID, rows[i].ID)
		}
	}

	ask(10*time.Minute - time.Second)
	ask(10*time.Minute, first)
	ask(10*time.Minute+time.Second, second)
	ask(2*time.Hour - time.Second)

	// The gateway did not answer.
	ask(2*time.Hour, first)
	require.NoError(t, b.s.AskEndedLater(t.Context(), &first, ended.Add(2*time.Hour+time.Minute)))
	ask(2*time.Hour+time.Second, second)
	ask(2*time.Hour+time.Minute, first)
	ask(24*time.Hour - time.Second)

	// The money of one has come.
	b.deliver(t, word(first, models.EventPaymentSucceeded, nil))
	require.NotEqual(t, models.Settled{}, b.settle(t, first, ended.Add(3*time.Hour)))
	require.NoError(t, b.s.AskEndedLater(t.Context(), &first, ended.Add(4*time.Hour)))
	ask(25*time.Hour, second)
	ask(1000 * time.Hour)
}

// TestEndedToAskInParallel: two workers never ask about the same attempt.
func TestEndedToAskInParallel(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)

	for range 12 {
		tx := b.open(t, b.book(t, b.Trip, 1), 1)
		_, err := b.s.EndPayment(t.Context(), tx.ID, models.FailureCancelled, "", time.Now())
		require.NoError(t, err)
	}

	require.Equal(t, 12, takenInParallel(t, func() ([]models.PaymentTransaction, error) {
		return b.s.EndedToAsk(t.Context(), models.ChannelGatewayA, 2, time.Now().Add(time.Hour))
	}))
}
