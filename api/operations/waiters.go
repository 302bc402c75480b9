package operations

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
)

// How often a waiting request reads its payment although it was not told to: seldom, for an announcement that was lost, and often while
// this process hears none.
const (
	lookSeldom = 15 * time.Second
	lookOften  = 500 * time.Millisecond
)

// waiters are the requests of this process that wait for the payment of a booking. Each has a channel with room for one notification: a
// read that is still to come covers a further one.
type waiters struct {
	mu    sync.Mutex
	of    map[uuid.UUID]map[chan struct{}]bool
	hears bool // what is announced
}

func newWaiters() *waiters { return &waiters{of: map[uuid.UUID]map[chan struct{}]bool{}} }

// add begins to wait: what is announced from now on arrives on told. leave ends that.
func (w *waiters) add(booking uuid.UUID) (told <-chan struct{}, leave func()) {
	c := make(chan struct{}, 1)

	w.mu.Lock()
	defer w.mu.Unlock()

	if w.of[booking] == nil {
		w.of[booking] = map[chan struct{}]bool{}
	}

	w.of[booking][c] = true

	return c, func() {
		w.mu.Lock()
		defer w.mu.Unlock()

		if delete(w.of[booking], c); len(w.of[booking]) == 0 {
			delete(w.of, booking)
		}
	}
}

// tell has who waits for the booking read.
func (w *waiters) tell(booking uuid.UUID) {
	w.mu.Lock()
	defer w.mu.Unlock()

	tellAll(w.of[booking])
}

// listening notes whether announcements are heard. When that changes everybody reads: something may have been missed, or will be.
func (w *waiters) listening(hears bool) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.hears = hears; hears {
		for _, all := range w.of {
			tellAll(all)
		}
	}
}

func tellAll(waiting map[chan struct{}]bool) {
	for c := range waiting {
		select {
		case c <- struct{}{}:
		default: // it has not read since the last word
		}
	}
}

// pause is how long to wait for a word before reading all the same. It varies, so that those who came together do not read together.
func (w *waiters) pause() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()

	longest := lookOften
	if w.hears {
		longest = lookSeldom
	}

	return longest/2 + rand.N(longest/2) //nolint:gosec // spreads load
}
