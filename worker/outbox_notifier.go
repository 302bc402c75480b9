package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// notifyPause is the least time between two wake-ups of the outbox: a burst of settlements costs one.
const notifyPause = time.Second

// outboxNotifier wakes the outbox workflow soon after rows were queued, outside the activity that queued them. It may lose a
// wake-up when the process dies: the next one begins with a wake-up, and the sweep looks into the outbox too.
type outboxNotifier struct {
	wake   func(context.Context) error
	log    *slog.Logger
	due    chan struct{}
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func newOutboxNotifier(log *slog.Logger, wake func(context.Context) error) *outboxNotifier {
	return &outboxNotifier{wake: wake, log: log, due: make(chan struct{}, 1), cancel: func() {}}
}

// Notify asks for a wake-up. It never blocks.
func (p *outboxNotifier) Notify() {
	select {
	case p.due <- struct{}{}:
	default: // one is due already
	}
}

func (p *outboxNotifier) start() {
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel

	p.done.Go(func() { p.run(ctx) })
}

func (p *outboxNotifier) stop() {
	p.cancel()
	p.done.Wait()
}

func (p *outboxNotifier) run(ctx context.Context) {
	pause := time.NewTicker(notifyPause)
	defer pause.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-p.due:
		}

		if err := p.wake(ctx); err != nil && ctx.Err() == nil {
			p.log.WarnContext(ctx, "outbox workflow not woken; the sweep retries", "error", err)
		}

		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}
