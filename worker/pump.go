package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// pumpPause is the least time between two wake-ups of the outbox: a burst of settlements costs one.
const pumpPause = time.Second

// pump wakes the outbox workflow soon after rows were queued, outside the activity that queued them. It may lose a
// wake-up when the process dies: the next one begins with a wake-up, and the sweep looks into the outbox too.
type pump struct {
	wake   func(context.Context) error
	poked  chan struct{}
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func newPump(wake func(context.Context) error) *pump {
	return &pump{wake: wake, poked: make(chan struct{}, 1), cancel: func() {}}
}

// Poke asks for a wake-up. It never blocks.
func (p *pump) Poke() {
	select {
	case p.poked <- struct{}{}:
	default: // one is due already
	}
}

func (p *pump) start() {
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel

	p.done.Go(func() { p.run(ctx) })
}

func (p *pump) stop() {
	p.cancel()
	p.done.Wait()
}

func (p *pump) run(ctx context.Context) {
	pause := time.NewTicker(pumpPause)
	defer pause.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-p.poked:
		}

		if err := p.wake(ctx); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "outbox not woken; the sweep will", "error", err)
		}

		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}
