package payments_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/payments"
	"rihla/models"
)

const quiet = 2 * time.Minute

func TestSilent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	requireSilent := func(want bool, at time.Time, why string) {
		t.Helper()

		for _, c := range models.Channels() {
			silent, err := b.Store.Payments.ChannelSilent(t.Context(), c, quiet, at)
			require.NoError(t, err)
			require.Equal(t, want && c == models.ChannelGatewayA, silent, "%s: %s", c, why)
		}
	}

	requireSilent(false, time.Now().Add(time.Hour), "nobody waits")

	waiting := b.Open(t, b.Book(t, b.Trip, 1), 1)
	requireSilent(false, time.Now(), "nobody has waited for long")
	requireSilent(true, time.Now().Add(quiet+time.Second), "somebody waits, and nothing is heard")

	b.Paid(t, 1)
	requireSilent(false, time.Now().Add(quiet-time.Second), "another customer's webhook has come")
	requireSilent(true, time.Now().Add(quiet+time.Second), "that was long ago")

	// What the gateway says because it is asked is not a webhook.
	answer := bookstest.Event(waiting, models.EventPaymentSucceeded, nil)
	answer.WebhookID = models.PolledEventID(&waiting, "paid")
	b.Exec(t, `ALTER TABLE webhook_events DISABLE TRIGGER events_append_only;
		UPDATE webhook_events SET received_at = received_at - interval '1 hour';
		UPDATE payment_transactions SET captured_at = created_at WHERE captured_at IS NOT NULL;
		ALTER TABLE webhook_events ENABLE TRIGGER events_append_only`)
	b.Deliver(t, answer)
	requireSilent(true, time.Now().Add(quiet), "only an answer")

	_, err := b.Store.Payments.SettlePayment(t.Context(), waiting.ID, time.Now())
	require.NoError(t, err)
	requireSilent(false, time.Now().Add(time.Hour), "nobody waits any more")
}

func TestToAsk(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ask := func(at time.Time, limit int) (ids []uuid.UUID) {
		t.Helper()

		rows, err := b.Store.Payments.ClaimPaymentsToPoll(t.Context(), models.ChannelGatewayA, 30*time.Second, payments.ClaimWindow{}, limit, at)
		require.NoError(t, err)

		for _, tx := range rows {
			require.NotNil(t, tx.Reference)

			ids = append(ids, tx.ID)
		}

		return ids
	}

	open := make([]uuid.UUID, 0, 5)
	for range 5 {
		open = append(open, b.Open(t, b.Book(t, b.Trip, 1), 1).ID)
	}

	b.Paid(t, 1)

	unopened := b.Book(t, b.Trip, 1)
	_, _, err := b.Store.Payments.OpenPayment(t.Context(), b.Attempt(unopened, 1, models.MethodCreditCard), time.Now)
	require.NoError(t, err)

	now := time.Now()
	require.Empty(t, ask(now.Add(29*time.Second), 10), "their webhooks may still come")

	now = now.Add(31 * time.Second)
	require.ElementsMatch(t, open[:2], ask(now, 2), "the oldest first")
	require.ElementsMatch(t, open[2:4], ask(now, 2), "and then the others")
	require.ElementsMatch(t, open[4:], ask(now, 2))
	require.Empty(t, ask(now, 2))
	require.Empty(t, ask(now.Add(29*time.Second), 2))
	require.ElementsMatch(t, open, ask(now.Add(30*time.Second), 10))

	// After three hours, each is asked about every six minutes; after days, every quarter of an hour.
	now = now.Add(3 * time.Hour)
	require.Len(t, ask(now, 10), 5)
	require.Empty(t, ask(now.Add(5*time.Minute), 10))
	require.Len(t, ask(now.Add(7*time.Minute), 10), 5)

	now = now.Add(72 * time.Hour)
	require.Len(t, ask(now, 10), 5)
	require.Empty(t, ask(now.Add(14*time.Minute), 10))
	require.Len(t, ask(now.Add(15*time.Minute), 10), 5)
}

// TestToAskWhatWasLost: who has taken attempts and was killed may not have asked.
func TestToAskWhatWasLost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.Open(t, b.Book(t, b.Trip, 1), 1)

	taken := func(at time.Time, lost payments.ClaimWindow) int {
		t.Helper()

		rows, err := b.Store.Payments.ClaimPaymentsToPoll(t.Context(), models.ChannelGatewayA, 30*time.Second, lost, 10, at)
		require.NoError(t, err)

		return len(rows)
	}

	first := time.Now().Add(time.Hour)
	require.Equal(t, 1, taken(first, payments.ClaimWindow{}))

	// Another goes on with the round that has begun a second before.
	second := first.Add(3 * time.Second)
	round := payments.ClaimWindow{From: first.Add(-time.Second), To: second}
	require.Zero(t, taken(second, payments.ClaimWindow{From: first.Add(time.Second), To: second}), "it was asked in the round before")
	require.Equal(t, 1, taken(second, round))
	require.Zero(t, taken(second.Add(time.Second), round), "it has been taken in this one")
}

// TestToAskWhatIsKnown: an attempt whose webhook waits to be settled is not queried.
func TestToAskWhatIsKnown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	heard, unheard := b.Open(t, b.Book(t, b.Trip, 1), 1), b.Open(t, b.Book(t, b.Trip, 1), 1)
	b.Deliver(t, bookstest.Event(heard, models.EventPaymentSucceeded, nil))

	rows, err := b.Store.Payments.ClaimPaymentsToPoll(t.Context(), models.ChannelGatewayA, time.Second, payments.ClaimWindow{}, 10, time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, unheard.ID, rows[0].ID)
}

// TestToAskInParallel: two workers never ask about the same attempt.
func TestToAskInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)

	for range 12 {
		b.Open(t, b.Book(t, b.Trip, 1), 1)
	}

	require.Equal(t, 12, takenInParallel(t, func() ([]models.PaymentTransaction, error) {
		return b.Store.Payments.ClaimPaymentsToPoll(t.Context(), models.ChannelGatewayA, time.Second, payments.ClaimWindow{}, 2, time.Now().Add(time.Minute))
	}))
}

// takenInParallel is how much six who take side by side have taken together.
func takenInParallel(t *testing.T, take func() ([]models.PaymentTransaction, error)) int {
	t.Helper()

	var total atomic.Int32

	bookstest.Parallel(6, func(int) {
		for range 4 {
			rows, err := take()
			if err != nil {
				t.Error(err)
			}

			total.Add(int32(len(rows)))
		}
	})

	return int(total.Load())
}
