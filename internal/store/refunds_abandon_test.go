package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestAnAbandonedRefundIsNotMade(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	paid := b.paid(t, 1)
	r := b.ask(paid, "")

	for range 2 {
		abandoned, err := b.s.AbandonRefund(t.Context(), r.ID)
		require.NoError(t, err)
		require.True(t, abandoned)
	}

	_, err := b.s.ReserveRefund(t.Context(), r, time.Now())
	requireCode(t, models.CodeInvalidState, err)

	require.NoError(t, b.s.ReviveRefund(t.Context(), r.ID))
	b.reserve(t, r)

	abandoned, err := b.s.AbandonRefund(t.Context(), r.ID)
	require.NoError(t, err)
	require.False(t, abandoned, "what is reserved goes on")
	b.reserve(t, r)
}

// Whoever is first, its caller is told the truth: a refund that is said to be abandoned is not there.
func TestAbandoningRacesReserving(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	paid := b.paid(t, 1)

	for range 100 {
		r := b.ask(paid, "0.10")

		var (
			both       sync.WaitGroup
			abandoned  bool
			notAdopted error
			refused    error
		)

		both.Go(func() { abandoned, notAdopted = b.s.AbandonRefund(t.Context(), r.ID) })
		both.Go(func() { _, refused = b.s.ReserveRefund(t.Context(), r, time.Now()) })
		both.Wait()

		require.NoError(t, notAdopted)

		if abandoned {
			requireCode(t, models.CodeInvalidState, refused)

			continue
		}

		require.NoError(t, refused)
	}
}
