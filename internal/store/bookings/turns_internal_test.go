package bookings

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestTurns(t *testing.T) {
	t.Parallel()

	q := turns{trips: map[uuid.UUID]*tripTurns{}}
	trip := uuid.New()

	var (
		wg         sync.WaitGroup
		now, worst atomic.Int64
	)

	for range 50 {
		wg.Go(func() {
			leave, err := q.take(t.Context(), trip)
			if err != nil {
				return
			}

			for n := now.Add(1); ; {
				if most := worst.Load(); n <= most || worst.CompareAndSwap(most, n) {
					break
				}
			}

			now.Add(-1)
			leave()
		})
	}

	wg.Wait()
	require.LessOrEqual(t, worst.Load(), int64(turnsOfTrip))
	require.Empty(t, q.trips)

	// Other trips do not wait, and a request that is cut off leaves the queue.
	leaves := make([]func(), 0, turnsOfTrip)

	for range turnsOfTrip {
		leave, err := q.take(t.Context(), trip)
		require.NoError(t, err)

		leaves = append(leaves, leave)
	}

	leave, err := q.take(t.Context(), uuid.New())
	require.NoError(t, err)
	leave()

	ended, cancel := context.WithCancel(t.Context())
	cancel()

	_, err = q.take(ended, trip)
	require.ErrorIs(t, err, context.Canceled)

	for _, leave := range leaves {
		leave()
	}

	require.Empty(t, q.trips)
}
