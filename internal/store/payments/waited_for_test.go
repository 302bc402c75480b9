package payments_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/payments"
	"rihla/models"
)

// TestWaitForAnswer: one question per attempt and 20 seconds, however many poll.
func TestWaitForAnswer(t *testing.T) {
	t.Parallel()
	b := setup(t)

	booking := b.Book(t, b.Trip, 1)
	tx := b.Open(t, booking, 1)
	opened := b.Transaction(t, tx.ID).CreatedAt

	wait := func(at time.Time, want bool) {
		t.Helper()

		seen, err := b.PaymentStatus(t, booking.ID, at)
		require.NoError(t, err)
		require.Equal(t, want, seen.Unheard)

		noted, err := b.WaitForAnswer(t, tx.ID, at)
		require.NoError(t, err)
		require.Equal(t, want, noted)
	}
	claim := func(c models.Channel, at time.Time) []models.PaymentTransaction {
		t.Helper()

		rows, err := b.Store.Payments.ClaimWaitedFor(t.Context(), c, 10, at)
		require.NoError(t, err)

		return rows
	}

	wait(opened.Add(payments.UnheardFor-time.Millisecond), false)
	require.Empty(t, claim(models.ChannelGatewayA, opened))

	first := opened.Add(payments.UnheardFor)
	wait(first, true)
	wait(first, false)
	wait(first.Add(time.Hour), false)

	due, err := b.Store.Payments.LateChecksDue(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, []models.Channel{models.ChannelGatewayA}, due, "of which the orchestrator could not be told")

	require.Empty(t, claim(models.ChannelWalletB, first))
	require.Equal(t, tx.ID, claim(models.ChannelGatewayA, first)[0].ID)
	require.Empty(t, claim(models.ChannelGatewayA, first))

	wait(first.Add(payments.UnheardFor-time.Millisecond), false)

	// Sixteen customers' requests at once.
	second := first.Add(payments.UnheardFor)

	var (
		all   sync.WaitGroup
		noted atomic.Int32
	)

	for range 16 {
		all.Go(func() {
			if ok, err := b.WaitForAnswer(t, tx.ID, second); err == nil && ok {
				noted.Add(1)
			}
		})
	}

	all.Wait()
	require.EqualValues(t, 1, noted.Load())
	require.Len(t, claim(models.ChannelGatewayA, second), 1)

	// What was heard is to be settled, and what has ended is left to the late checks.
	third := second.Add(payments.UnheardFor)
	b.Deliver(t, bookstest.Event(tx, models.EventPaymentSucceeded, nil))

	ok, err := b.WaitForAnswer(t, tx.ID, third)
	require.NoError(t, err)
	require.False(t, ok)
	b.Settle(t, tx, time.Now())
	wait(third.Add(time.Hour), false)
}

// TestClaimWaitedForInParallel: two workers never ask about the same attempt.
func TestClaimWaitedForInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	later := time.Now().Add(time.Minute)

	for range 12 {
		tx := b.Open(t, b.Book(t, b.Trip, 1), 1)
		noted, err := b.WaitForAnswer(t, tx.ID, later)
		require.NoError(t, err)
		require.True(t, noted)
	}

	require.Equal(t, 12, takenInParallel(t, func() ([]models.PaymentTransaction, error) {
		return b.Store.Payments.ClaimWaitedFor(t.Context(), models.ChannelGatewayA, 2, later)
	}))
}
