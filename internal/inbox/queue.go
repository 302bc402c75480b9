package inbox

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"rihla/internal/store/db"
	"rihla/models"
)

const (
	// maxInside bounds the deliveries of a channel that are being stored or wait for it. At a thousand a second the last of them waits
	// for a second, and with bodies of 64 KiB they take 64 MiB.
	maxInside = 1024
	// maxBatch bounds the events of one statement, and so how long the first of them waits for the others.
	maxBatch = 128
	// aloneAtOnce bounds the transactions of a channel side by side that store what a batch could not.
	aloneAtOnce = 4
	// batchTime bounds a batch. A request gives up by its own deadline.
	batchTime = 15 * time.Second
)

// Together stores those of the events that can be stored in one statement, and returns them by their ids.
type Together func(ctx context.Context, events []models.WebhookEvent) (map[uuid.UUID]Stored, error)

// Alone stores one event, whatever it is about.
type Alone func(ctx context.Context, e models.WebhookEvent, now time.Time) (Stored, error)

// Queue stores verified webhooks: each channel has a queue of its own with a bound, and the events that arrive while others are written
// go into the next statement together. It is safe for concurrent use.
type Queue struct {
	together Together
	alone    Alone
	log      *slog.Logger
	channels map[models.Channel]*waiting
}

// NewQueue is an empty queue: Store has StoreOpenEvents and StoreEvent.
func NewQueue(log *slog.Logger, together Together, alone Alone) *Queue {
	q := &Queue{together: together, alone: alone, log: log, channels: map[models.Channel]*waiting{}}

	for _, channel := range slices.Concat(models.Channels(), models.BackupChannels()) {
		q.channels[channel] = &waiting{alone: make(chan struct{}, aloneAtOnce)}
	}

	return q
}

// waiting is the queue of a channel.
type waiting struct {
	mu      sync.Mutex
	inside  int
	next    []*delivery // for the next batch
	writing bool        // a batch is under way

	alone chan struct{} // a place for each transaction
}

// delivery waits for the batch that its event is in.
type delivery struct {
	ctx   context.Context //nolint:containedctx // of the request, which may give up before its event is in a batch
	event models.WebhookEvent
	done  chan outcome
}

type outcome struct {
	stored Stored
	ok     bool // else the event is to be stored alone
	err    error
}

// Put stores a verified event as Store.StoreEvent does, and returns after its commit. Error: SERVICE_UNAVAILABLE at once when
// the channel's queue is full, ErrFull.
func (q *Queue) Put(ctx context.Context, e models.WebhookEvent, now time.Time) (Stored, error) {
	l := q.channels[e.Channel]
	if !l.enter() {
		return Stored{}, ErrFull
	}
	defer l.leave()

	if e.MayBeOpen() {
		o := q.batched(ctx, l, e)
		if o.ok || o.err != nil {
			return o.stored, o.err
		}
	}

	select {
	case l.alone <- struct{}{}:
	case <-ctx.Done():
		return Stored{}, ctx.Err()
	}

	defer func() { <-l.alone }()

	return q.alone(ctx, e, now)
}

// ErrFull reports that a channel has as many deliveries under way as it may.
var ErrFull = models.NewError(models.CodeServiceUnavailable, "webhook.queue_full")

func (l *waiting) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.inside >= maxInside {
		return false
	}

	l.inside++

	return true
}

func (l *waiting) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.inside--
}

// batched has the event stored with those that arrive while the batch before is written: at once, when there is none.
func (q *Queue) batched(ctx context.Context, l *waiting, e models.WebhookEvent) outcome {
	d := &delivery{ctx: ctx, event: e, done: make(chan outcome, 1)}

	l.mu.Lock()

	l.next = append(l.next, d)
	if !l.writing {
		l.writing = true

		go q.write(l)
	}

	l.mu.Unlock()

	select {
	case o := <-d.done:
		return o
	case <-ctx.Done():
		return outcome{err: ctx.Err()}
	}
}

// write stores batches until no event waits. There is one at a time, so that events are stored in the order of their arrival.
func (q *Queue) write(l *waiting) {
	for {
		batch := l.take()
		if batch == nil {
			return
		}

		q.writeBatch(batch)
		clear(batch) // what has been answered is kept by nothing
	}
}

// take removes the next batch; nil, and the writing is over, when no event waits.
func (l *waiting) take() []*delivery {
	l.mu.Lock()
	defer l.mu.Unlock()

	n := min(len(l.next), maxBatch)
	if n == 0 {
		l.writing, l.next = false, nil

		return nil
	}

	batch := l.next[:n:n]
	l.next = l.next[n:]

	return batch
}

// writeBatch stores the events of the requests that still wait. When the statement fails for another reason than that the database is
// away, or panics, one of the events may be the cause: each is stored alone then, and fails alone.
func (q *Queue) writeBatch(batch []*delivery) {
	ctx, cancel := context.WithTimeout(context.Background(), batchTime)
	defer cancel()

	events := make([]models.WebhookEvent, 0, len(batch))

	for _, d := range batch {
		if d.ctx.Err() == nil {
			events = append(events, d.event)
		}
	}

	if len(events) == 0 {
		return
	}

	stored, err := q.storeTogether(ctx, events)

	switch {
	case err == nil:
	case db.IsUnavailable(err) || ctx.Err() != nil:
		stored = nil
	default:
		q.log.WarnContext(ctx, "webhooks not stored together; each is stored alone", "events", len(events), "error", err)

		stored, err = nil, nil
	}

	for _, d := range batch {
		one, ok := stored[d.event.ID]
		d.done <- outcome{stored: one, ok: ok, err: err}
	}
}

// storeTogether turns a panic into an error. No request's middleware is above this goroutine: a panic would end the process, and all
// deliveries with it.
func (q *Queue) storeTogether(ctx context.Context, events []models.WebhookEvent) (stored map[uuid.UUID]Stored, err error) {
	defer func() {
		if p := recover(); p != nil {
			stored, err = nil, fmt.Errorf("panic: %T", p) // its value may hold what was delivered
			q.log.ErrorContext(ctx, "panic while webhooks were stored together", "error", err, "stack", string(debug.Stack()))
		}
	}()

	return q.together(ctx, events)
}
