package inbox

import (
	"context"
	"sync"
)

// throttle lets as many deliveries through side by side as the orchestrator takes: half as many after each that it has not
// taken, one more once all of them have gone through. One that comes back to thousands of events is not stormed by all
// carriers at once, whose calls would time out together and be made again.
type throttle struct {
	mu    sync.Mutex
	freed *sync.Cond
	most  float64
	limit float64 // from 1 to most
	busy  int
}

func newThrottle(most int) *throttle {
	t := &throttle{most: float64(most), limit: float64(most)}
	t.freed = sync.NewCond(&t.mu)

	return t
}

// acquire waits for its turn; false when ctx is over before.
func (t *throttle) acquire(ctx context.Context) bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.full() {
		stop := context.AfterFunc(ctx, func() {
			t.mu.Lock()
			defer t.mu.Unlock()

			t.freed.Broadcast()
		})
		defer stop()
	}

	for t.full() && ctx.Err() == nil {
		t.freed.Wait()
	}

	if ctx.Err() != nil {
		return false
	}

	t.busy++

	return true
}

// full reports that the limit is reached; the caller holds the lock.
func (t *throttle) full() bool { return t.busy > 0 && float64(t.busy) >= t.limit }

// cancel leaves without having delivered anything, which says nothing about the orchestrator.
func (t *throttle) cancel() {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.busy--
	t.freed.Broadcast()
}

// release says how it went.
func (t *throttle) release(taken bool) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.busy--; taken {
		t.limit = min(t.most, t.limit+1/t.limit)
	} else {
		t.limit = max(1, t.limit/2) //nolint:mnd // half
	}

	t.freed.Broadcast()
}
