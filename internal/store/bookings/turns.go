package bookings

import (
	"context"
	"sync"

	"github.com/google/uuid"
)

// turnsOfTrip is how many bookings of one trip this process has at the database at once: one that has the trip's row, and the next.
const turnsOfTrip = 2

// turns queues bookings of one trip in this process. In the database each of those that wait for a row is woken by every commit, to
// find that the next one has it, and holds a connection that other requests need.
type turns struct {
	mu    sync.Mutex
	trips map[uuid.UUID]*tripTurns
}

type tripTurns struct {
	slots chan struct{}
	users int // that have a slot or wait for one
}

// take waits for a turn; the caller must call leave when it is over. Error: that of the context.
func (t *turns) take(ctx context.Context, trip uuid.UUID) (leave func(), err error) {
	q := t.join(trip)

	select {
	case q.slots <- struct{}{}:
		return func() {
			<-q.slots
			t.quit(trip, q)
		}, nil
	case <-ctx.Done():
		t.quit(trip, q)

		return nil, ctx.Err()
	}
}

func (t *turns) join(trip uuid.UUID) *tripTurns {
	t.mu.Lock()
	defer t.mu.Unlock()

	q := t.trips[trip]
	if q == nil {
		q = &tripTurns{slots: make(chan struct{}, turnsOfTrip)}
		t.trips[trip] = q
	}

	q.users++

	return q
}

func (t *turns) quit(trip uuid.UUID, q *tripTurns) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if q.users--; q.users == 0 {
		delete(t.trips, trip)
	}
}
