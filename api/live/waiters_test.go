package live

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestWaitersAreToldOfTheirOwnBooking(t *testing.T) {
	t.Parallel()

	w := newWaiters()
	mine, other := uuid.New(), uuid.New()

	first, leaveFirst := w.Add(mine)
	second, leaveSecond := w.Add(mine)
	third, leaveThird := w.Add(other)

	w.tell(mine)
	w.tell(mine) // not read since: one notification covers both
	w.tell(uuid.New())

	require.Len(t, first, 1)
	require.Len(t, second, 1)
	require.Empty(t, third)

	<-first
	leaveSecond()
	w.tell(mine)
	require.Len(t, first, 1)

	leaveFirst()
	leaveThird()
	w.tell(mine)
	require.Empty(t, w.of, "nothing is kept of who has left")
}

// While nothing is heard all payments are looked at often, and once at the moment when announcements are heard again.
func TestWaitersLookByThemselves(t *testing.T) {
	t.Parallel()

	w := newWaiters()
	told, leave := w.Add(uuid.New())
	defer leave()

	for range 100 {
		require.GreaterOrEqual(t, w.pause(), lookOften/2)
		require.Less(t, w.pause(), lookOften)
	}

	w.listening(true)
	require.Len(t, w.due, 1)
	require.Empty(t, told, "they do not all read at once")
	<-w.due

	for range 100 {
		require.GreaterOrEqual(t, w.pause(), lookSeldom/2)
		require.Less(t, w.pause(), lookSeldom)
	}

	w.listening(false)
	require.Less(t, w.pause(), lookOften)
	require.Empty(t, told)
}

// However many wait, each look is one read for many of them.
func TestWaitersAreLookedAtTogether(t *testing.T) {
	t.Parallel()

	w := newWaiters()
	for range lookAtOnce + 1 {
		_, leave := w.Add(uuid.New())
		defer leave()
	}

	ctx, cancel := context.WithCancel(t.Context())
	looks := make(chan []uuid.UUID)

	var running sync.WaitGroup

	running.Go(func() {
		w.watch(ctx, func(ctx context.Context, bookings []uuid.UUID) {
			select {
			case looks <- bookings:
			case <-ctx.Done():
			}
		})
	})
	defer running.Wait()
	defer cancel()

	w.listening(true)

	seen := map[uuid.UUID]bool{}

	for _, size := range []int{lookAtOnce, 1} {
		look := <-looks
		require.Len(t, look, size)

		for _, booking := range look {
			seen[booking] = true
		}
	}

	require.Len(t, seen, lookAtOnce+1)
}
