package operations

import (
	"context"
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

// Listen starts to hear what the database announces, for dashboards and for customers who wait, until the returned function ends that,
// and all streams with it: a server that shuts down would wait for them in vain. Requests that wait for a payment are answered then.
func (o *Operations) Listen() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())

	var running sync.WaitGroup

	running.Go(func() { o.listen(ctx) })
	running.Go(func() { o.waiters.watch(ctx, o.lookAt) })
	running.Go(func() { o.dashboards.watch(ctx, o.Store.Payments.MoneyMoved) })

	return func() {
		o.waiters.end()
		o.dashboards.end()
		cancel()
		running.Wait()
	}
}

// listen goes on until ctx ends. Streams and requests that may have missed something while the connection was lost read again.
func (o *Operations) listen(ctx context.Context) {
	pause := relistenSoon

	for {
		err := o.Store.Payments.Listen(ctx, o.Log, payments.Listener{
			Ready: func() {
				pause = relistenSoon
				o.waiters.listening(true)
				o.dashboards.announce(reasonConnected, uuid.Nil)
			},
			Money:   func(e payments.DashboardEvent) { o.dashboards.announce(e.Reason, e.ProviderID) },
			Decided: o.waiters.tell,
		})

		o.waiters.listening(false)

		if ctx.Err() != nil {
			return
		}

		o.Log.WarnContext(ctx, "announcements paused: LISTEN failed; reconnecting", "error", err)

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
func (o *Operations) lookAt(ctx context.Context, bookings []uuid.UUID) {
	decided, unheard, err := o.Store.Payments.LookAtWaited(ctx, bookings, o.Now())
	if err != nil {
		o.Log.DebugContext(ctx, "waiting payments not looked at; the next look covers them", "bookings", len(bookings), "error", err)

		return
	}

	for _, booking := range decided {
		o.waiters.tell(booking)
	}

	if len(unheard) > 0 {
		o.askGateways(ctx, unheard)
	}
}

// announceDecided has every process tell who waits for the booking's payment. Who is not told looks by itself.
func (o *Operations) announceDecided(ctx context.Context, booking uuid.UUID) {
	ctx, cancel := detached(ctx)
	defer cancel()

	if err := o.Store.Payments.AnnounceDecided(ctx, []uuid.UUID{booking}); err != nil {
		o.Log.WarnContext(ctx, "decided payment not announced; who waits looks by itself", "booking_id", booking, "error", err)
	}
}
