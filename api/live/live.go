// Package live tells dashboards and requests that wait for a payment of changes, as PostgreSQL announces them (LISTEN/NOTIFY).
package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"rihla/internal/store/payments"
)

const (
	// relistenSoon and relistenLate are how long to wait before listening again after the connection broke.
	relistenSoon = 200 * time.Millisecond
	relistenLate = 5 * time.Second
)

// Updates are the streams and the waiting requests of this process, and how they hear of changes.
type Updates struct {
	Dashboards *Dashboards
	Waiters    *Waiters

	store *payments.Store
	log   *slog.Logger
	now   func() time.Time
	ask   func(ctx context.Context, attempts []uuid.UUID)
}

// New makes them; ask has gateways asked about attempts of which nothing was heard.
func New(s *payments.Store, log *slog.Logger, now func() time.Time, ask func(context.Context, []uuid.UUID)) *Updates {
	return &Updates{Dashboards: newDashboards(log), Waiters: newWaiters(), store: s, log: log, now: now, ask: ask}
}

// Listen starts to hear what the database announces, for dashboards and for customers who wait, until the returned function ends that,
// and all streams with it: a server that shuts down would wait for them in vain. Requests that wait for a payment are answered then.
func (u *Updates) Listen() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())

	var running sync.WaitGroup

	running.Go(func() { u.listen(ctx) })
	running.Go(func() { u.Waiters.watch(ctx, u.lookAt) })
	running.Go(func() { u.Dashboards.watch(ctx, u.store.MoneyMoved) })

	return func() {
		u.Waiters.end()
		u.Dashboards.end()
		cancel()
		running.Wait()
	}
}

// listen goes on until ctx ends. Streams and requests that may have missed something while the connection was lost read again.
func (u *Updates) listen(ctx context.Context) {
	pause := relistenSoon

	for {
		err := u.store.Listen(ctx, u.log, payments.Listener{
			Ready: func() {
				pause = relistenSoon
				u.Waiters.listening(true)
				u.Dashboards.announce(reasonConnected, uuid.Nil)
			},
			Money:   func(e payments.DashboardEvent) { u.Dashboards.announce(e.Reason, e.ProviderID) },
			Decided: u.Waiters.tell,
		})

		u.Waiters.listening(false)

		if ctx.Err() != nil {
			return
		}

		u.log.WarnContext(ctx, "announcements paused: LISTEN failed; reconnecting", "error", err)

		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}

		pause = min(2*pause, relistenLate)
	}
}

// lookAt tells the requests whose payment has been decided without this process having heard of it, and has gateways asked about those
// of which nothing was heard.
func (u *Updates) lookAt(ctx context.Context, bookings []uuid.UUID) {
	decided, unheard, err := u.store.LookAtWaited(ctx, bookings, u.now())
	if err != nil {
		u.log.DebugContext(ctx, "waiting payments not looked at; the next look covers them", "bookings", len(bookings), "error", err)

		return
	}

	for _, booking := range decided {
		u.Waiters.tell(booking)
	}

	if len(unheard) > 0 {
		u.ask(ctx, unheard)
	}
}
