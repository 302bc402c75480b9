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
	outageUnseen = 2*outageAfter + outageRecent
	outageLook   = 10 * time.Second
)

// healthy is a gateway that knows how it has been doing, such as gateways.Guard.
type healthy interface{ Health() gateways.Health }

// outages keeps the incidents about gateways that do not answer. Each worker speaks for itself: the first one opens the
// incident, and who has seen the gateway down resolves it when it is up again. So does the first answer after a start,
// because nobody knows what an earlier process has left behind; who still sees the gateway down says so again. A worker
// that never saw it down only resolves what nobody has said again for a while: who said it is gone.
type outages struct {
	watched map[models.PaymentProvider]healthy
	said    map[models.PaymentProvider]word // what was last reported
	down    func(ctx context.Context, gateway models.PaymentProvider, since time.Time) error
	up      func(ctx context.Context, gateway models.PaymentProvider, unseen time.Duration) error
	cancel  context.CancelFunc
	done    sync.WaitGroup
}

type word struct {
	up bool
	at time.Time // zero: nothing has been said
}

func (w word) isUp() bool { return w.up && !w.at.IsZero() }

// isOld reports that another worker may have said otherwise since.
func (w word) isOld() bool { return time.Since(w.at) >= outageAfter }

// isDown reports that the gateway was said to be down not long ago.
func (w word) isDown() bool { return !w.up && !w.at.IsZero() && !w.isOld() }

func newOutages(d Deps) *outages {
	o := &outages{
		watched: map[models.PaymentProvider]healthy{}, said: map[models.PaymentProvider]word{}, cancel: func() {},
		down: d.Store.Incidents.ReportGatewayDown, up: d.Store.Incidents.ReportGatewayUp,
	}

	for name, g := range d.Gateways {
		if h, ok := g.(healthy); ok {
			o.watched[name] = h
		}
	}

	return o
}

func (o *outages) start() {
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel = cancel

	o.done.Go(func() {
		tick := time.NewTicker(outageLook)
		defer tick.Stop()

		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				o.look(ctx)
			}
		}
	})
}

func (o *outages) stop() {
	o.cancel()
	o.done.Wait()
}

// look reports what has changed. What could not be written is tried again at the next look.
func (o *outages) look(ctx context.Context) {
	for name, g := range o.watched {
		var (
			err  error
			say  = word{at: time.Now()}
			h    = g.Health()
			long = !h.DownSince.IsZero() && time.Since(h.DownSince) >= outageAfter && time.Since(h.LastFailure) <= outageRecent
			well = h.DownSince.IsZero() && !h.LastAnswer.IsZero()
		)

		switch {
		case long && !o.said[name].isDown():
			err = o.down(ctx, name, h.DownSince)
		case well && !o.said[name].isUp():
			say.up = true
			err = o.up(ctx, name, 0)
		case well && o.said[name].isOld() && time.Since(h.LastAnswer) <= outageRecent:
			say.up = true
			err = o.up(ctx, name, outageUnseen)
		default:
			continue
		}

		if err != nil {
			slog.WarnContext(ctx, "the incident of a gateway could not be written", "gateway", name, "error", err)

			continue
		}

		o.said[name] = say
	}
}
