package operations

import (
	"context"
	"sync"
	"time"

	"rihla/api/middleware"
)

// resetsAtOnce bounds the new passwords that are being asked for in a process, and so the connections that they take from the rest. Most of
// them wait: each is begun between one and two times resetAfter after its answer.
const (
	resetsAtOnce = 32
	resetAfter   = 400 * time.Millisecond
)

// wake has one thing done at a time, however often it is wanted meanwhile: once more then. The zero value is ready.
type wake struct {
	mu             sync.Mutex
	running, again bool
}

// up has do run, beside the caller. What was there before the call is seen by a run that begins after it.
func (w *wake) up(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.running {
		w.again = true

		return
	}

	w.running = true

	go func() {
		for more := true; more; more = w.next() {
			do()
		}
	}()
}

// next reports whether another run was wanted.
func (w *wake) next() bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.running, w.again = w.again, false

	return w.running
}

// mailQueued has a mail delivered that was just queued and that its reader waits for. It may fail: the sweep finds the mail.
func (o *Operations) mailQueued(ctx context.Context) {
	o.wake.up(func() {
		ctx, cancel := detached(ctx)
		defer cancel()

		if err := o.Workflows.WakeOutbox(ctx); err != nil {
			o.Log.DebugContext(ctx, "outbox not woken; the sweep finds what is queued", "request_id", middleware.RequestID(ctx), "error", err)
		}
	})
}
