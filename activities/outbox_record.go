package activities

import (
	"context"
	"time"

	"github.com/google/uuid"

	"rihla/internal/store/outbox"
)

// record writes down what became of messages since the last time, in one statement for each kind of result. What it could not write
// down it keeps.
func (d *delivery) record(ctx context.Context) error {
	d.mu.Lock()
	results := d.results
	d.results = nil
	d.mu.Unlock()

	var (
		sent, returned []uuid.UUID
		failed         []outbox.Failure
	)

	for _, r := range results {
		switch {
		case r.notTried:
			returned = append(returned, r.ID)
		case r.failure != nil:
			failed = append(failed, *r.failure)
		default:
			sent = append(sent, r.ID)
		}
	}

	err := d.Store.Outbox.NotificationsSent(ctx, sent, d.Now())
	if err == nil {
		err = d.Store.Outbox.NotificationsFailed(ctx, failed, d.Now())
	}

	if err == nil {
		err = d.giveBack(ctx, returned)
	}

	d.mu.Lock()
	defer d.mu.Unlock()

	if err != nil {
		d.results = append(results, d.results...)

		return err
	}

	for _, r := range results {
		delete(d.leased, r.ID)

		if !outbox.Limited(r.Notification) {
			continue
		}

		to := outbox.AddressOf(r.Notification)
		if d.underWay[to]--; d.underWay[to] == 0 {
			delete(d.underWay, to)
		}
	}

	d.out.Sent += len(sent)
	d.out.Failed += len(failed)
	d.out.More = d.out.More || len(returned) > 0

	return nil
}

// giveBack has messages that were not tried delivered soon. It gives nothing back once the lease is over: the next deliverer may have
// them already.
func (d *delivery) giveBack(ctx context.Context, ids []uuid.UUID) error {
	d.mu.Lock()
	holds, valid := d.holds(), d.valid
	d.mu.Unlock()

	if len(ids) == 0 || !holds {
		return nil
	}

	ctx, cancel := context.WithDeadline(ctx, valid)
	defer cancel()

	return d.Store.Outbox.ReturnNotifications(ctx, ids, d.Now())
}

// finish records the rest, when its activity has been canceled, too, and the database is away for a moment.
func (d *delivery) finish(ctx context.Context, failed error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordFor)
	defer cancel()

	const pause = 200 * time.Millisecond

	for {
		err := d.record(ctx)
		if err == nil {
			break
		}

		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}

	d.mu.Lock()
	defer d.mu.Unlock()

	d.out.More = d.out.More || !d.dry && len(d.held) > 0

	return failed
}

// renew takes the shards, or renews their lease, and that of the messages which are under way.
func (d *delivery) renew(ctx context.Context) error {
	began := time.Now()

	held, err := d.Store.Outbox.LeaseShards(ctx, d.owner, d.shards, d.Now())
	if err != nil {
		return err
	}

	d.mu.Lock()

	// Shards that this one was silent about for too long, and another deliverer has taken over. That may have given them back again.
	d.lost = d.lost || len(held) < len(d.held) || !d.valid.IsZero() && began.After(d.valid)
	d.valid, d.held = began.Add(outbox.DeliveryLease), held

	var old []uuid.UUID

	for id, at := range d.leased {
		if began.Sub(at) >= heartbeatInterval {
			old = append(old, id)
		}
	}
	d.mu.Unlock()

	if err := d.Store.Outbox.KeepNotifications(ctx, old, d.Now()); err != nil {
		return err
	}

	d.mu.Lock()
	defer d.mu.Unlock()

	for _, id := range old {
		if _, ok := d.leased[id]; ok {
			d.leased[id] = began
		}
	}

	return nil
}

// renewLeases renews the leases until stop is called, however slow recipients are: without it a lease would have to be so long that
// what a killed deliverer has claimed waits for half a minute.
func (d *delivery) renewLeases(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})

	go func() {
		defer close(done)

		tick := time.NewTicker(heartbeatInterval)
		defer tick.Stop()

		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}

			if err := d.renew(ctx); err != nil && ctx.Err() == nil {
				d.Log.WarnContext(ctx, "lease of notifications not renewed", "error", err)
			}
		}
	}()

	return func() {
		cancel()
		<-done
	}
}
