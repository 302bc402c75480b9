package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
)

// announceTime bounds one announcement: a request that waits looks by itself after a while.
const announceTime = 2 * time.Second

// moneyPause is how long money that has moved waits for more of it: a dashboard tells of changes twice a second at most.
const moneyPause = 250 * time.Millisecond

// announcer announces what activities have committed, outside of them: what comes while an announcement is under way goes with the
// next. What cannot be announced is given up.
type announcer struct {
	announce func(context.Context, []uuid.UUID) error
	what     string        // for the log
	pause    time.Duration // before an announcement, for more to come
	log      *slog.Logger
	cancel   context.CancelFunc
	done     sync.WaitGroup

	mu   sync.Mutex
	next []uuid.UUID
	due  chan struct{}
}

func newAnnouncer(log *slog.Logger, what string, pause time.Duration, announce func(context.Context, []uuid.UUID) error) *announcer {
	return &announcer{announce: announce, what: what, pause: pause, log: log, due: make(chan struct{}, 1), cancel: func() {}}
}

// Add has an id announced. It never blocks.
func (a *announcer) Add(id uuid.UUID) {
	a.mu.Lock()
	a.next = append(a.next, id)
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
			a.announceDue(ctx) // what the last activities of this worker have committed

			return
		case <-a.due:
			a.waitForMore(ctx)
			a.announceDue(ctx)
		}
	}
}

func (a *announcer) waitForMore(ctx context.Context) {
	if a.pause == 0 {
		return
	}

	select {
	case <-time.After(a.pause):
	case <-ctx.Done():
	}
}

func (a *announcer) announceDue(ctx context.Context) {
	a.mu.Lock()
	due := a.next
	a.next = nil
	a.mu.Unlock()

	if len(due) == 0 {
		return
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), announceTime)
	defer cancel()

	if err := a.announce(ctx, due); err != nil {
		a.log.WarnContext(ctx, a.what+" not announced; callers that wait ask again by themselves", "payments", len(due), "error", err)
	}
}
