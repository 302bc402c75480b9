package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"rihla/api/middleware"
	"rihla/models"
)

const (
	// streamsAtOnce bounds the open streams of this process, and streamsPerUser those of one user: each has a connection.
	streamsAtOnce  = 1000
	streamsPerUser = 10
	// heartbeat is how often a stream shows that it is there, and has its token checked. Proxies close connections that
	// are silent for about a minute.
	heartbeat = 15 * time.Second
	// refreshPause is the least time between two events of a stream: changes in between become one event.
	refreshPause = 500 * time.Millisecond
	// reasonConnected is that of the first event, and of the one after something may have been missed.
	reasonConnected = "CONNECTED"
)

// Dashboards are the open streams of this process.
type Dashboards struct {
	log     *slog.Logger
	mu      sync.Mutex
	streams map[*Subscription]bool
	perUser map[uuid.UUID]int
	ended   bool
}

func newDashboards(log *slog.Logger) *Dashboards {
	return &Dashboards{log: log, streams: map[*Subscription]bool{}, perUser: map[uuid.UUID]int{}}
}

// Subscription is one open stream.
type Subscription struct {
	user     uuid.UUID
	provider uuid.UUID     // whose money it tells of; uuid.Nil for everybody's
	wake     chan string   // has room for one reason: a refresh that is still to be sent covers a further one
	end      chan struct{} // closed when the service stops
}

// Open adds a stream. Error: SERVICE_UNAVAILABLE when there are too many, or the service stops.
func (d *Dashboards) Open(user, provider uuid.UUID) (*Subscription, error) {
	d.mu.Lock()
	defer d.mu.Unlock()

	switch {
	case d.ended:
		return nil, models.NewError(models.CodeServiceUnavailable, "request.stopping")
	case len(d.streams) >= streamsAtOnce, d.perUser[user] >= streamsPerUser:
		return nil, models.NewError(models.CodeServiceUnavailable, "dashboard.too_many")
	}

	s := &Subscription{user: user, provider: provider, wake: make(chan string, 1), end: make(chan struct{})}
	s.wake <- reasonConnected

	d.streams[s] = true
	d.perUser[user]++

	return s, nil
}

// Close removes a stream.
func (d *Dashboards) Close(s *Subscription) {
	d.mu.Lock()
	defer d.mu.Unlock()

	delete(d.streams, s)

	if d.perUser[s.user]--; d.perUser[s.user] == 0 {
		delete(d.perUser, s.user)
	}
}

// end has all streams end, and no further one begin.
func (d *Dashboards) end() {
	d.mu.Lock()
	defer d.mu.Unlock()

	if d.ended {
		return
	}

	d.ended = true
	for s := range d.streams {
		close(s.end)
	}
}

// announce wakes the streams that tell of a provider's money; uuid.Nil wakes all.
func (d *Dashboards) announce(reason string, provider uuid.UUID) {
	d.mu.Lock()
	defer d.mu.Unlock()

	for s := range d.streams {
		if provider != uuid.Nil && s.provider != uuid.Nil && s.provider != provider {
			continue
		}

		select {
		case s.wake <- reason:
		default: // it has not told of the one before yet
		}
	}
}

// lookForMoney is how long dashboards may go without being told of money that has moved: its announcement may be lost with the process
// that was about to make it.
const lookForMoney = 40 * time.Second

// watch looks now and then, while dashboards are open, whether money has moved, and has them all told when it has.
func (d *Dashboards) watch(ctx context.Context, moved func(context.Context, time.Duration) (bool, error)) {
	for looked := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(jittered(lookForMoney)):
		}

		if d.empty() {
			looked = time.Now()

			continue
		}

		began := time.Now()

		switch yes, err := moved(ctx, began.Sub(looked)); {
		case err != nil:
			d.log.DebugContext(ctx, "open dashboards not looked after; the next look covers this one", "error", err)
		case yes:
			d.announce(reasonConnected, uuid.Nil)

			fallthrough
		default:
			looked = began
		}
	}
}

func (d *Dashboards) empty() bool {
	d.mu.Lock()
	defer d.mu.Unlock()

	return len(d.streams) == 0
}

// flusher is where a stream is written to.
type flusher interface {
	io.Writer
	Flush() error
}

// Write is the life of a stream. It ends without an error when the client goes away, the token does not hold any more, or
// the service stops.
func (s *Subscription) Write(ctx context.Context, out io.Writer) error {
	w, ok := out.(flusher)
	if !ok {
		return errors.New("events cannot be written where nothing can be flushed")
	}

	beat := time.NewTicker(heartbeat)
	defer beat.Stop()

	var (
		wake  <-chan string = s.wake
		again <-chan time.Time
		err   = send(w, "retry: 3000\n\n")
	)

	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-s.end:
			return nil
		case reason := <-wake:
			wake, again = nil, time.After(refreshPause)
			if err = middleware.StillValid(ctx); err == nil {
				err = send(w, fmt.Sprintf("event: refresh\ndata: {\"reason\":%q}\n\n", reason))
			}
		case <-again:
			wake = s.wake
		case <-beat.C:
			if err = middleware.StillValid(ctx); models.CodeOf(err) != models.CodeUnauthenticated { // it may just not be known
				err = send(w, ": still here\n\n")
			}
		}
	}

	return nil
}

func send(w flusher, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}

	return w.Flush()
}
