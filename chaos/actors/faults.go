package actors

import (
	"context"
	"time"

	"rihla/chaos/schedule"
)

// bring brings one failure about, and ends it.
func (p *Play) bring(ctx context.Context, f schedule.Fault) {
	p.Journal.Stepf("FAULT", "%s", f)

	switch f.Kind {
	case schedule.Kill:
		if !p.killInTime(ctx, f) {
			p.Journal.Stepf("FAULT", "its moment never came: %s", f)

			return
		}

		pause(ctx, f.For)
		p.note(p.house.Start(ctx, f.Parts...))
	case schedule.BreakConnections:
		p.house.BreakConnections(ctx)
	case schedule.StallDatabase:
		p.house.StallDatabase(ctx, f.For)
	case schedule.Restart:
		p.note(p.house.Restart(ctx, f.For, f.Parts...))
	case schedule.Freeze:
		p.house.Freeze(ctx, f.For, f.Parts...)
	case schedule.ClockWrong:
		p.note(p.house.SetClocks(f.Shift, f.Parts...))
		pause(ctx, f.For)
		p.note(p.house.SetClocks(0, f.Parts...))
	case schedule.CutGateway:
		p.house.Gateway.Cut()
		pause(ctx, f.For)
		p.house.Gateway.Open()
	case schedule.SlowGateway:
		p.house.Gateway.Slow(f.Delay)
		pause(ctx, f.For)
		p.house.Gateway.Open()
	case schedule.Misbehaves:
		p.note(p.house.Gateway.Misbehave(f.Order))
		p.Journal.Count("gateway: "+f.Order.Operation+" "+f.Order.Mode, f.Order.Times)

		return
	}

	p.Journal.Stepf("FAULT", "over: %s", f)

	if len(f.Parts) == 0 {
		p.Journal.Count(string(f.Kind), 1)
	}

	for _, part := range f.Parts {
		p.Journal.Count(string(f.Kind)+" of "+string(part), 1)
	}
}

// lastMoment is how long after its time a kill waits for its moment.
const lastMoment = 2500 * time.Millisecond

// killInTime kills at once, or in the moment that the fault waits for; false when that does not come.
func (p *Play) killInTime(ctx context.Context, f schedule.Fault) bool {
	if f.On == "" {
		p.house.Kill(f.Parts...)

		return true
	}

	killed := make(chan struct{})
	giveUp := p.house.Moments.At(f.On, func() {
		p.house.Kill(f.Parts...)
		p.Journal.Stepf("FAULT", "now: %s", f)
		p.Journal.Count("kills "+string(f.On), 1)
		close(killed)
	})

	ctx, cancel := context.WithTimeout(ctx, lastMoment)
	defer cancel()

	select {
	case <-killed:
		return true
	case <-ctx.Done():
		return giveUp()
	}
}

func (p *Play) note(err error) {
	if err != nil {
		p.Journal.Problemf("harness", "%v", err)
	}
}

// lull is how long the gateway goes on misbehaving after the last fault, so that those who came late meet it too.
const lull = 700 * time.Millisecond

// heal ends whatever is broken still.
func (p *Play) heal(ctx context.Context) error {
	pause(ctx, lull)

	left, err := p.house.Gateway.Behave()
	p.note(err)

	for what, n := range left {
		p.Journal.Count("gateway: "+what, -n) // it has hit nothing
	}

	if err := p.house.Heal(ctx); err != nil {
		return err
	}

	p.Healed = time.Now()
	close(p.healed)
	p.Journal.Stepf("harness", "everything is up again")

	return nil
}
