package payments_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/payments"
	"rihla/models"
)

func TestEndedToAsk(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.Paid(t, 1)
	b.Open(t, b.Book(t, b.Trip, 1), 1)

	wrong := b.Open(t, b.Book(t, b.Trip, 1), 1)
	b.Deliver(t, bookstest.Event(wrong, models.EventPaymentSucceeded, func(e *models.WebhookEvent) { *e.Amount = models.Halalas(1) }))
	b.Settle(t, wrong, time.Now())

	first, second := b.Open(t, b.Book(t, b.Trip, 1), 1), b.Open(t, b.Book(t, b.Trip, 1), 1)
	ended := time.Now()

	for i, tx := range []models.PaymentTransaction{first, second} {
		_, err := b.Store.Payments.EndPayment(t.Context(), tx.ID, models.FailureExpired, "", ended.Add(time.Duration(i)*time.Second))
		require.NoError(t, err)
	}

	ask := func(after time.Duration, want ...models.PaymentTransaction) {
		t.Helper()

		due, err := b.Store.Payments.LateChecksDue(t.Context(), ended.Add(after))
		require.NoError(t, err)
		require.Equal(t, len(want) > 0, len(due) > 0)

		rows, err := b.Store.Payments.ClaimLateChecks(t.Context(), models.ChannelGatewayA, time.Minute, payments.ClaimWindow{}, 10, ended.Add(after))
		require.NoError(t, err)
		require.Len(t, rows, len(want))

		for i := range want {
			require.Equal(t, want[i].ID, rows[i].ID)
		}
	}
	answered := func(tx models.PaymentTransaction, after time.Duration) {
		t.Helper()
		require.NoError(t, b.Store.Payments.CompleteLateCheck(t.Context(), new(b.Transaction(t, tx.ID)), ended.Add(after)))
	}

	ask(10*time.Minute - time.Second)
	ask(10*time.Minute, first)
	answered(first, 10*time.Minute)
	ask(10*time.Minute+time.Second, second)
	answered(second, 10*time.Minute+time.Second)
	ask(2*time.Hour - time.Second)

	// The gateway did not answer, or who asked was killed.
	ask(2*time.Hour, first)
	ask(2*time.Hour+time.Second, second)
	answered(second, 2*time.Hour+time.Second)
	ask(2*time.Hour + time.Minute - time.Second)
	ask(2*time.Hour+time.Minute, first)
	answered(first, 2*time.Hour+time.Minute)
	ask(24*time.Hour - time.Second)

	// The money of one has come.
	b.Deliver(t, bookstest.Event(first, models.EventPaymentSucceeded, nil))
	require.NotEqual(t, models.Settled{}, b.Settle(t, first, ended.Add(3*time.Hour)))
	answered(first, 4*time.Hour)
	ask(25*time.Hour, second)
	answered(second, 25*time.Hour)
	ask(1000 * time.Hour)
}

// TestEndedToAskWhatWasLost: who has taken attempts and was killed may not have asked about all of them.
func TestEndedToAskWhatWasLost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ended := time.Now()

	for range 2 {
		_, err := b.Store.Payments.EndPayment(t.Context(), b.Open(t, b.Book(t, b.Trip, 1), 1).ID, models.FailureExpired, "", ended)
		require.NoError(t, err)
	}

	take := func(at time.Time, lost payments.ClaimWindow) []models.PaymentTransaction {
		t.Helper()

		rows, err := b.Store.Payments.ClaimLateChecks(t.Context(), models.ChannelGatewayA, 10*time.Second, lost, 10, at)
		require.NoError(t, err)

		return rows
	}

	first := ended.Add(10 * time.Minute)
	taken := take(first, payments.ClaimWindow{})
	require.Len(t, taken, 2)
	require.NoError(t, b.Store.Payments.CompleteLateCheck(t.Context(), &taken[0], first.Add(time.Second)))

	// Another goes on with the same round.
	second := first.Add(3 * time.Second)
	round := payments.ClaimWindow{From: first.Add(-time.Second), To: second}
	require.Empty(t, take(second, payments.ClaimWindow{}), "somebody may be asking")
	lost := take(second, round)
	require.Len(t, lost, 1, "the other was answered")
	require.Equal(t, taken[1].ID, lost[0].ID)
	require.Empty(t, take(second.Add(time.Second), round), "it has been taken in this one")
}

// TestEndedToAskInParallel: two workers never ask about the same attempt.
func TestEndedToAskInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 12 {
		tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
		_, err := b.Store.Payments.EndPayment(t.Context(), tx.ID, models.FailureCancelled, "", time.Now())
		require.NoError(t, err)
	}

	require.Equal(t, 12, takenInParallel(t, func() ([]models.PaymentTransaction, error) {
		return b.Store.Payments.ClaimLateChecks(t.Context(), models.ChannelGatewayA, time.Hour, payments.ClaimWindow{}, 2, time.Now().Add(time.Hour))
	}))
}
