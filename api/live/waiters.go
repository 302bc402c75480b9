package live

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// How often the payments that are waited for are read although nothing was announced: seldom, for an announcement that was lost, and
// often while this process hears none.
const (
	lookSeldom = 6 * time.Second // a gateway that is asked after payments.UnheardFor answers within a wait of 30 s
	lookOften  = 500 * time.Millisecond
	// lookTime bounds one such read, of at most lookAtOnce bookings.
	lookTime   = 5 * time.Second
	lookAtOnce = 1000
)

// Waiters are the requests of this process that wait for the payment of a booking. Each has a channel with room for one notification: a
// read that is still to come covers a further one.
type Waiters struct {
	mu    sync.Mutex
	of    map[uuid.UUID]map[chan struct{}]bool
	hears bool // what is announced
	// due has room for one early look: something may have been missed, or will be.
	due chan struct{}
	// over is closed when the process ends: requests that wait answer what is known.
	over chan struct{}
}

func newWaiters() *Waiters {
	return &Waiters{of: map[uuid.UUID]map[chan struct{}]bool{}, due: make(chan struct{}, 1), over: make(chan struct{})}
}

// Over is closed when the process ends.
func (w *Waiters) Over() <-chan struct{} { return w.over }

// end has all requests that wait, and those that come, answer what is known. It is called once.
func (w *Waiters) end() { close(w.over) }

// Add begins to wait: what is announced from now on arrives on told. leave ends that.
func (w *Waiters) Add(booking uuid.UUID) (told <-chan struct{}, leave func()) {
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

// tell has the requests that wait for the booking read.
func (w *Waiters) tell(booking uuid.UUID) {
	w.mu.Lock()
	defer w.mu.Unlock()

	tellAll(w.of[booking])
}

// listening notes whether announcements are heard, and has all payments looked at: something may have been missed, or will be.
func (w *Waiters) listening(hears bool) {
	w.mu.Lock()
	w.hears = hears
	w.mu.Unlock()

	select {
	case w.due <- struct{}{}:
	default:
	}
}

// watch looks after every pause, and when it is due, at all bookings that are waited for, by one read for as many of them as
// lookAtOnce: a request of its own reads when it comes, when it is notified, and when its time is over.
func (w *Waiters) watch(ctx context.Context, look func(ctx context.Context, bookings []uuid.UUID)) {
	for {
		pause := time.NewTimer(w.pause())

		select {
		case <-ctx.Done():
			pause.Stop()

			return
		case <-w.due:
			pause.Stop()
		case <-pause.C:
		}

		for some := range slices.Chunk(w.bookings(), lookAtOnce) {
			limited, cancel := context.WithTimeout(ctx, lookTime)
			look(limited, some)
			cancel()
		}
	}
}

// bookings are those that are waited for.
func (w *Waiters) bookings() []uuid.UUID {
	w.mu.Lock()
	defer w.mu.Unlock()

	return slices.Collect(maps.Keys(w.of))
}

func tellAll(waiting map[chan struct{}]bool) {
	for c := range waiting {
		select {
		case c <- struct{}{}:
		default: // it has not read since the last word
		}
	}
}

// pause is how long until the next look. It varies, so that processes that began together do not look together.
func (w *Waiters) pause() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()

	longest := lookOften
	if w.hears {
		longest = lookSeldom
	}

	return jittered(longest)
}

// jittered is between half of a time and all of it.
func jittered(longest time.Duration) time.Duration {
	return longest/2 + rand.N(longest/2) //nolint:gosec // spreads load
}
