package operations

import (
	"context"
	"fmt"
	"sync"
	"time"

	"rihla/models"
)

const (
	// exportTimeout bounds how long one export may hold its snapshot of the ledger.
	exportTimeout = 10 * time.Minute
	// exportsAtOnce bounds how many connections of the pool exports may hold, and how many workbooks the disk.
	exportsAtOnce = 3
	// exportEnd bounds how long exports that are stopped take until their end is noted and nothing is left of them.
	exportEnd = 2 * auditTimeout
)

// exports are those that run in this process.
type exports struct {
	places chan struct{} // one for each that may run
	end    chan struct{} // closed when the service stops
	stop   func()        // closes it
}

func newExports() *exports {
	end := make(chan struct{})

	return &exports{places: make(chan struct{}, exportsAtOnce), end: end, stop: sync.OnceFunc(func() { close(end) })}
}

// begin takes a place, which done gives back. The context has what base has but for its end: the request is over when its
// handler is, and the file needs a deadline of its own. It ends when the service stops, too. Error: SERVICE_UNAVAILABLE
// when there is no place, or the service stops.
func (e *exports) begin(base context.Context) (ctx context.Context, done func(), err error) {
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

	ctx, cancel := context.WithTimeout(context.WithoutCancel(base), exportTimeout)

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
func (e *exports) over(ctx context.Context) error {
	for range exportsAtOnce {
		select {
		case e.places <- struct{}{}:
		case <-ctx.Done():
			return fmt.Errorf("exports that were stopped have not ended: %w", ctx.Err())
		}
	}

	return nil
}

// StopExports has all exports end, with their connections, and no further one begin: a server that shuts down would wait
// in vain for clients that do not read. The returned function waits until their end is in the audit log and their files
// are gone; the database is needed until then. It gives up after 10 seconds, with an error.
func (o *Operations) StopExports() (over func() error) {
	o.exports.stop()

	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), exportEnd)
		defer cancel()

		return o.exports.over(ctx)
	}
}
