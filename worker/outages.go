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
	// outageAfter is for how long a gateway may be out of order before an incident notifies the operators.
	outageAfter = 5 * time.Minute
	// outageRecent is how new a failure or an answer has to be: without calls the state of a gateway is unknown.
	outageRecent = 2 * time.Minute
	// outageUnseen is after how long an incident counts as left behind: a worker that still sees the gateway down reports it
	// again every outageAfter.
	outageUnseen        = 2*outageAfter + outageRecent
	outageCheckInterval = 10 * time.Second
)

// healthReporter is a gateway that knows how it has been doing, such as gateways.Guard.
type healthReporter interface{ Health() gateways.Health }

// outages keeps the incidents about gateways that do not answer. Each worker reports for itself: the first one opens the
// incident, and a worker that has seen the gateway down resolves it when it is up again. So does the first answer after a
// start, because an earlier process may have left an incident behind; a worker that still sees the gateway down reports it
// again. A worker that never saw it down only resolves an incident without a report for a while: its reporter is gone.
type outages struct {
	watched  map[models.MerchantAccount]healthReporter
	reported map[models.MerchantAccount]outageReport // what was last reported
	down     func(ctx context.Context, account models.MerchantAccount, since time.Time) error
	up       func(ctx context.Context, account models.MerchantAccount, unseen time.Duration) error
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
		watched: map[models.MerchantAccount]healthReporter{}, reported: map[models.MerchantAccount]outageReport{}, cancel: func() {},
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

// check reports changes of the gateways' health. A report that could not be written is retried at the next check.
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
