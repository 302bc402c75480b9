package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
)

// announceTime bounds one announcement: who waits looks by itself after a while.
const announceTime = 2 * time.Second

// announcer announces bookings whose payment is decided, outside the activity that decided it: what is decided while an announcement is
// under way goes with the next. What cannot be announced is given up.
type announcer struct {
	announce func(context.Context, []uuid.UUID) error
	log      *slog.Logger
	cancel   context.CancelFunc
	done     sync.WaitGroup

	mu      sync.Mutex
	decided []uuid.UUID
	due     chan struct{}
}

func newAnnouncer(log *slog.Logger, announce func(context.Context, []uuid.UUID) error) *announcer {
	return &announcer{announce: announce, log: log, due: make(chan struct{}, 1), cancel: func() {}}
}

// Decided has a booking announced. It never blocks.
func (a *announcer) Decided(booking uuid.UUID) {
	a.mu.Lock()
	a.decided = append(a.decided, booking)
	a.mu.Unlock()

	select {
	case a.due <- struct{}{}:
	default: // it goes with the others
	}
}

func (a *announcer) start() {
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel

	a.done.Go(func() { a.run(ctx) })
}

func (a *announcer) stop() {
	a.cancel()
	a.done.Wait()
}

func (a *announcer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			a.announceDue(ctx) // what the last activities of this worker have decided

			return
		case <-a.due:
			a.announceDue(ctx)
		}
	}
}

func (a *announcer) announceDue(ctx context.Context) {
	a.mu.Lock()
	decided := a.decided
	a.decided = nil
	a.mu.Unlock()

	if len(decided) == 0 {
		return
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), announceTime)
	defer cancel()

	if err := a.announce(ctx, decided); err != nil {
		a.log.WarnContext(ctx, "decided payments not announced; who waits looks by itself", "payments", len(decided), "error", err)
	}
}
