package actors

import (
	"context"
	"time"

	"rihla/chaos/schedule"
	"rihla/models"
)

// bring brings one failure about, ends it, and counts what it has really hit.
func (p *Run) bring(ctx context.Context, f schedule.Fault) {
	p.Journal.Stepf("FAULT", "%s", f)

	switch f.Kind { //nolint:exhaustive // the others are in strike
	case schedule.Kill:
		p.kill(ctx, f)

		return
	case schedule.Restart:
		ran, err := p.env.Restart(ctx, f.For, f.Parts...)
		p.note(err)
		p.struck(f, ran)

		return
	case schedule.Replace:
		ran, err := p.env.Replace(ctx, f)
		p.note(err)
		p.struck(f, ran)
		p.Journal.Count("replaced by "+string(f.Release), len(ran))

		return
	case schedule.Freeze:
		p.struck(f, p.env.Freeze(ctx, f.For, f.Parts...))

		return
	case schedule.ClockWrong, schedule.ClockOverMidnight:
		wrong := f.Shift
		if f.Kind == schedule.ClockOverMidnight {
			wrong = overMidnight(time.Now(), f.Shift)
		}

		p.note(p.env.SetClocks(wrong, f.Parts...))
		pause(ctx, f.For)
		p.note(p.env.SetClocks(0, f.Parts...))
		p.struck(f, f.Parts)

		return
	case schedule.Misbehaves:
		if !p.env.Gateway.Has(f.Order) {
			p.Journal.Stepf("FAULT", "it means nothing at this company")

			return
		}

		p.note(p.env.Gateway.Misbehave(f.Order))
		p.Journal.Count("gateway: "+f.Order.Operation+" "+f.Order.Mode, f.Order.Times)

		return
	}

	hit := p.strike(ctx, f)

	p.Journal.Stepf("FAULT", "over: %s; it has hit %d", f, hit)
	p.Journal.Count(string(f.Kind), min(hit, 1))
}

// strike is a failure of what stands between the processes, from its beginning to its end. It tells how many it has hit.
func (p *Run) strike(ctx context.Context, f schedule.Fault) (hit int) {
	switch f.Kind { //nolint:exhaustive // the others are in bring
	case schedule.BreakConnections:
		hit = p.env.BreakConnections(ctx)
	case schedule.StallDatabase:
		if p.env.StallDatabase(ctx, f.For) {
			hit = 1
		}
	case schedule.CutGateway:
		open := p.env.Gateway.Cut()
		pause(ctx, f.For)

		hit = open()
	case schedule.RefuseGateway:
		open := p.env.Gateway.Refuse()
		pause(ctx, f.For)

		var err error

		hit, err = open()
		p.note(err)
	case schedule.SlowGateway:
		end := p.env.Gateway.Slow(f.Delay)
		pause(ctx, f.For)

		hit = end()
	}

	return hit
}

// overMidnight is how wrong a clock is that shows so much after the next midnight in Riyadh, or before the last one.
func overMidnight(now time.Time, beyond time.Duration) time.Duration {
	today := models.DateIn(now)
	if beyond < 0 {
		return today.Start().Sub(now) + beyond
	}

	return today.AddDays(1).Start().Sub(now) + beyond
}

// struck counts the parts that a failure has hit: what does not run cannot be killed.
func (p *Run) struck(f schedule.Fault, parts []schedule.Part) {
	p.Journal.Stepf("FAULT", "over: %s; it has hit %v", f, parts)

	for _, part := range parts {
		p.Journal.Count(string(f.Kind)+" of "+string(part), 1)
	}
}

func (p *Run) kill(ctx context.Context, f schedule.Fault) {
	killed, ok := p.killInTime(ctx, f)
	if !ok {
		p.Journal.Stepf("FAULT", "its moment never came: %s", f)

		return
	}

	pause(ctx, f.For)
	p.note(p.env.Start(ctx, f.Parts...))
	p.struck(f, killed)
}

// lastMoment is how long after its time a kill waits for its moment.
const lastMoment = 2500 * time.Millisecond

// killInTime kills at once, or in the moment that the fault waits for, and tells what ran; false when that does not come.
func (p *Run) killInTime(ctx context.Context, f schedule.Fault) (killed []schedule.Part, ok bool) {
	if f.On == "" {
		return p.env.Kill(f.Parts...), true
	}

	done := make(chan struct{})
	giveUp := p.env.Hooks.Once(f.On, func() {
		defer close(done)

		killed = p.env.Kill(f.Parts...)
		p.Journal.Stepf("FAULT", "now: %s", f)
		p.Journal.Count("kills "+string(f.On), min(len(killed), 1))
	})

	ctx, cancel := context.WithTimeout(ctx, lastMoment)
	defer cancel()

	select {
	case <-done:
		return killed, true
	case <-ctx.Done():
		ok = giveUp()

		return killed, ok
	}
}

func (p *Run) note(err error) {
	if err != nil {
		p.Journal.Problemf("harness", "%v", err)
	}
}

// lull is how long the gateway goes on misbehaving after the last fault, so that late requests meet it too.
const lull = 700 * time.Millisecond

// heal ends whatever is broken still, but for what is to hit refunds: most are asked for when the rush is over, and when
// every actor has come to its end it is over, too (behave).
func (p *Run) heal(ctx context.Context) error {
	pause(ctx, lull)
	p.behave("create_checkout", "cancel", "status", "webhook")

	if err := p.env.Heal(ctx); err != nil {
		return err
	}

	p.Healed = time.Now()
	close(p.healed)
	p.Journal.Stepf("harness", "everything is up again")

	return nil
}

// behave has the gateway misbehave no more, and takes back from the tally what has hit nothing.
func (p *Run) behave(operations ...string) {
	left, err := p.env.Gateway.Behave(operations...)
	p.note(err)

	for what, n := range left {
		p.Journal.Count("gateway: "+what, -n)
	}
}
