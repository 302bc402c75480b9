package exports

import (
	"context"
	"fmt"
	"sync"
	"time"

	"rihla/models"
)

const (
	// timeout bounds how long one export may hold its snapshot of the ledger.
	timeout = 10 * time.Minute
	// atOnce bounds how many connections of the pool exports may hold, and how many workbooks the disk.
	atOnce = 3
	// endTimeout bounds how long exports that are stopped take until their end is noted and nothing is left of them.
	endTimeout = 2 * auditTimeout
	// Known is after how long an export without a note of its end has none coming any more.
	Known = timeout + endTimeout
)

// Running are the exports that run in this process.
type Running struct {
	places chan struct{} // one for each that may run
	end    chan struct{} // closed when the service stops
	stop   func()        // closes it
}

// NewRunning has places for a few.
func NewRunning() *Running {
	end := make(chan struct{})

	return &Running{places: make(chan struct{}, atOnce), end: end, stop: sync.OnceFunc(func() { close(end) })}
}

// begin takes a place, which done gives back. The context has what base has but for its end: the request is over when its
// handler is, and the file needs a deadline of its own. It ends when the service stops, too. Error: SERVICE_UNAVAILABLE
// when there is no place, or the service stops.
func (e *Running) begin(base context.Context) (ctx context.Context, done func(), err error) {
	select {
	case <-e.end:
		return nil, nil, models.NewError(models.CodeServiceUnavailable, "request.stopping")
	default:
	}

	// A reader that is slow holds a connection to the database: a few of them must not hold all.
	select {
	case e.places <- struct{}{}:
	default:
		return nil, nil, models.NewError(models.CodeServiceUnavailable, "export.too_many")
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(base), timeout)

	go func() {
		select {
		case <-e.end:
			cancel()
		case <-ctx.Done():
		}
	}()

	return ctx, func() {
		cancel()
		<-e.places
	}, nil
}

// over waits until no export runs any more. None can begin afterwards.
func (e *Running) over(ctx context.Context) error {
	for range atOnce {
		select {
		case e.places <- struct{}{}:
		case <-ctx.Done():
			return fmt.Errorf("exports that were stopped have not ended: %w", ctx.Err())
		}
	}

	return nil
}

// Stop has all exports end, with their connections, and no further one begin: a server that shuts down would wait
// in vain for clients that do not read. The returned function waits until their end is in the audit log and their files
// are gone; the database is needed until then. It gives up after 10 seconds, with an error.
func (e *Running) Stop() (over func() error) {
	e.stop()

	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
		defer cancel()

		return e.over(ctx)
	}
}
