package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"rihla/gateways"
	"rihla/models"
)

const (
	// outageAfter is for how long a gateway may be out of order before somebody is told.
	outageAfter = 5 * time.Minute
	// outageRecent is how new a failure or an answer has to be: of a gateway that nobody asks, nobody knows how it is.
	outageRecent = 2 * time.Minute
	// outageUnseen is after how long an incident counts as left behind: who still sees the gateway down says so again
	// every outageAfter.
	outageUnseen        = 2*outageAfter + outageRecent
	outageCheckInterval = 10 * time.Second
)

// healthReporter is a gateway that knows how it has been doing, such as gateways.Guard.
type healthReporter interface{ Health() gateways.Health }

// outages keeps the incidents about gateways that do not answer. Each worker speaks for itself: the first one opens the
// incident, and who has seen the gateway down resolves it when it is up again. So does the first answer after a start,
// because nobody knows what an earlier process has left behind; who still sees the gateway down says so again. A worker
// that never saw it down only resolves what nobody has said again for a while: who said it is gone.
type outages struct {
	watched  map[models.Gateway]healthReporter
	reported map[models.Gateway]outageReport // what was last reported
	down     func(ctx context.Context, gateway models.Gateway, since time.Time) error
	up       func(ctx context.Context, gateway models.Gateway, unseen time.Duration) error
	log      *slog.Logger
	cancel   context.CancelFunc
	done     sync.WaitGroup
}

type outageReport struct {
	up         bool
	reportedAt time.Time // zero: nothing has been said
}

func (w outageReport) isUp() bool { return w.up && !w.reportedAt.IsZero() }

// isOld reports that another worker may have said otherwise since.
func (w outageReport) isOld() bool { return time.Since(w.reportedAt) >= outageAfter }

// isDown reports that the gateway was said to be down not long ago.
func (w outageReport) isDown() bool { return !w.up && !w.reportedAt.IsZero() && !w.isOld() }

func newOutages(d Deps) *outages {
	o := &outages{
		watched: map[models.Gateway]healthReporter{}, reported: map[models.Gateway]outageReport{}, cancel: func() {},
		down: d.Store.Incidents.ReportGatewayDown, up: d.Store.Incidents.ReportGatewayUp, log: d.Log,
	}

	for name, g := range d.Gateways {
		if h, ok := g.(healthReporter); ok {
			o.watched[name] = h
		}
	}

	return o
}

func (o *outages) start() {
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel = cancel

	o.done.Go(func() {
		tick := time.NewTicker(outageCheckInterval)
		defer tick.Stop()

		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				o.check(ctx)
			}
		}
	})
}

func (o *outages) stop() {
	o.cancel()
	o.done.Wait()
}

// check reports what has changed. What could not be written is tried again at the next look.
func (o *outages) check(ctx context.Context) {
	for name, g := range o.watched {
		var (
			err  error
			say  = outageReport{reportedAt: time.Now()}
			h    = g.Health()
			long = !h.DownSince.IsZero() && time.Since(h.DownSince) >= outageAfter && time.Since(h.LastFailure) <= outageRecent
			well = h.DownSince.IsZero() && !h.LastAnswer.IsZero()
		)

		switch {
		case long && !o.reported[name].isDown():
			err = o.down(ctx, name, h.DownSince)
		case well && !o.reported[name].isUp():
			say.up = true
			err = o.up(ctx, name, 0)
		case well && o.reported[name].isOld() && time.Since(h.LastAnswer) <= outageRecent:
			say.up = true
			err = o.up(ctx, name, outageUnseen)
		default:
			continue
		}

		if err != nil {
			o.log.WarnContext(ctx, "gateway incident not written; retried at the next check", "gateway", name, "error", err)

			continue
		}

		o.reported[name] = say
	}
}
