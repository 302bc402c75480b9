package inbox

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"rihla/internal/clock"
	"rihla/internal/store/db"
	"rihla/models"
)

const (
	queueSize         = 4096             // deliveries waiting in memory; what does not fit is found by the scan
	maxWorkers        = 32               // deliveries side by side at most
	deliverTimeout    = 3 * time.Second  // with an orchestrator that does not answer
	scanEvery         = time.Second      // how often the table is searched for events that are still unprocessed
	scanAge           = 2 * time.Second  // how old these must be
	scanBatch         = 500              // events in one reading
	redeliverAfter    = 10 * time.Second // how long a delivered event may take to be processed before it is delivered again
	maxRedeliverAfter = 2 * time.Minute  // and after that twice as long each time, up to this

	// pauseAfterFailure is how long a delivery that was not taken keeps its place. While the orchestrator is away there is one place, and a
	// call fails at once: the thousands of events in memory would be tried, and logged, as quickly as the processor can.
	pauseAfterFailure = 200 * time.Millisecond
)

// Relay carries stored webhook events to their workflows, at once, in parallel and outside the request that stored them: the gateway gets
// its answer at the database's speed. Losing what it holds in memory is harmless: the table is the truth.
type Relay struct {
	events  *Store
	deliver func(context.Context, models.Delivery) error
	queue   chan models.Delivery
	report  func(backlog int)
	log     *slog.Logger
	stop    context.CancelFunc
	done    sync.WaitGroup
	limit   *throttle

	mu     sync.Mutex
	sent   map[uuid.UUID]lastDelivery    // the last delivery of each event that may come up again
	queued map[uuid.UUID]models.Delivery // by attempt: its newest event, for one that is in the queue
}

// lastDelivery is a delivery that was taken.
type lastDelivery struct {
	at    time.Time
	pause time.Duration // until the event is delivered again, should it still be unprocessed
}

// NewRelay makes a relay that hands events to deliver.
func NewRelay(events *Store, log *slog.Logger, deliver func(context.Context, models.Delivery) error) *Relay {
	return &Relay{
		events: events, deliver: deliver, log: log, queue: make(chan models.Delivery, queueSize), report: func(int) {}, stop: func() {},
		limit: newThrottle(maxWorkers), sent: map[uuid.UUID]lastDelivery{}, queued: map[uuid.UUID]models.Delivery{},
	}
}

// Enqueue takes an event that has just been stored. It never blocks. Of several events of an open attempt that wait here the newest is
// delivered, for all: settling applies every stored event.
func (r *Relay) Enqueue(d models.Delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if _, waits := r.queued[d.TransactionID]; waits && standsForOthers(d) {
		r.queued[d.TransactionID] = d

		return
	}

	select {
	case r.queue <- d:
		if standsForOthers(d) {
			r.queued[d.TransactionID] = d
		}
	default: // the scan will find it
	}
}

// standsForOthers reports an event that goes to the workflow of an open attempt. The workflow of a refund gets each of its events, and a
// late event has a workflow of its own.
func standsForOthers(d models.Delivery) bool { return d.RefundID == uuid.Nil && !d.Ended }

// newest is the event to deliver for one that has left the queue.
func (r *Relay) newest(d models.Delivery) models.Delivery {
	if !standsForOthers(d) {
		return d
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	if last, ok := r.queued[d.TransactionID]; ok {
		d = last
	}

	delete(r.queued, d.TransactionID)

	return d
}

// Report has the number of waiting events told once a second. It must come before Start.
func (r *Relay) Report(to func(backlog int)) { r.report = to }

// Start begins with what an earlier process has left behind.
func (r *Relay) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel

	for range maxWorkers {
		r.done.Go(func() { r.work(ctx) })
	}

	r.done.Go(func() { r.scan(ctx) })
}

// Stop ends the relay; undelivered events are delivered by the next process or by the sweep.
func (r *Relay) Stop() {
	r.stop()
	r.done.Wait()
}

func (r *Relay) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case d := <-r.queue:
			r.deliverOne(ctx, r.newest(d))
		}
	}
}

func (r *Relay) deliverOne(ctx context.Context, d models.Delivery) {
	if !r.isDue(d.EventID) || !r.limit.acquire(ctx) {
		return
	}

	if !r.claim(d.EventID) { // another carrier has it by now
		r.limit.cancel()

		return
	}

	taken := r.tryOne(ctx, d)
	if !taken {
		select {
		case <-time.After(pauseAfterFailure):
		case <-ctx.Done():
		}
	}

	r.limit.release(taken)
}

// tryOne delivers an event, and reports whether it was taken.
func (r *Relay) tryOne(ctx context.Context, d models.Delivery) bool {
	ctx, cancel := context.WithTimeout(ctx, deliverTimeout)
	defer cancel()

	if err := r.deliver(ctx, d); err != nil {
		r.release(d.EventID)
		r.log.WarnContext(ctx, "webhook event not delivered; the relay retries", "event_id", d.EventID, "error", err)

		return false
	}

	return true
}

// isDue reports whether the pause after the event's last delivery is over.
func (r *Relay) isDue(id uuid.UUID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	last, ok := r.sent[id]

	return !ok || time.Since(last.at) >= last.pause
}

// claim takes an event that is due. An orchestrator that comes back to many of them needs its time: each further delivery
// of the same event would only be more work for it, so they become rarer.
func (r *Relay) claim(id uuid.UUID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	now, last := time.Now(), r.sent[id]
	if now.Sub(last.at) < last.pause {
		return false
	}

	r.sent[id] = lastDelivery{at: now, pause: max(redeliverAfter, min(2*last.pause, maxRedeliverAfter))}

	return true
}

func (r *Relay) release(id uuid.UUID) {
	r.mu.Lock()
	defer r.mu.Unlock()

	delete(r.sent, id)
}

// scan looks for events that were stored and have had no effect: from before a restart, from while the orchestrator
// was down, or from a burst that did not fit into memory.
func (r *Relay) scan(ctx context.Context) {
	tick := time.NewTicker(scanEvery)
	defer tick.Stop()

	var after db.SweepCursor

	for age := time.Duration(0); ; age = scanAge {
		r.forget()
		r.report(len(r.queue))

		found, next, err := r.events.UnprocessedEvents(ctx, age, after, scanBatch, clock.Now())
		after = next

		if err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "relay could not read unprocessed events", "error", err)
		}

		for _, d := range found {
			if r.isDue(d.EventID) {
				r.Enqueue(d)
			}
		}

		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// forget drops deliveries whose event has been due for as long as it had been waited for: it did not come up again.
func (r *Relay) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()

	for id, last := range r.sent {
		if time.Since(last.at) >= 2*last.pause {
			delete(r.sent, id)
		}
	}
}
