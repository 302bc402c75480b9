package activities

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"rihla/internal/store/outbox"
	"rihla/models"
)

const (
	// recordEvery is how often what was sent is recorded, all of it in one statement: a deliverer that is killed leaves as much to be
	// sent twice.
	recordEvery = 50 * time.Millisecond
	// lookEvery is how often a deliverer that has found nothing more looks again, while it waits for slow recipients.
	lookEvery = time.Second
	// waitFor is how long a deliverer without a backlog looks for more while it waits for slow recipients.
	waitFor = 30 * time.Second
	// endWithin is how long a deliverer whose time is over goes on with what it has; then it gives back what it has not begun.
	endWithin = time.Second
	// recordFor is for how long a deliverer tries to record what it has sent while the database does not answer.
	recordFor = 5 * time.Second
	// lanesPerSlot is for how many addresses a deliverer has messages, so that each slot finds one; laneFull is of how many messages
	// to one address it has enough.
	lanesPerSlot, laneFull = 2, 8
)

// delivery is one run of a deliverer. It claims messages, has a lane for each address, which sends one after another, and records what
// became of them. All statements but the renewals of leases are its own, one at a time.
type delivery struct {
	*Outbox

	owner  uuid.UUID     // of the shards
	shards []int         // that it wants
	target int           // lanes
	began  time.Time     // when it had its shards
	atMost time.Duration // while there is a backlog

	stopped    bool // the worker is to stop
	short, dry bool // the last claim has found less than was asked for, and nothing is left
	looked     time.Time
	out        Delivered

	mu       sync.Mutex
	held     []int     // shards
	valid    time.Time // until when it holds them
	lost     bool      // another deliverer has had one of them meanwhile: what is claimed may be delivered already
	ending   bool      // lanes begin nothing more
	lanes    map[outbox.Address][]*models.Notification
	underWay map[outbox.Address]int  // messages that count (outbox.Limited), are claimed and not recorded yet
	leased   map[uuid.UUID]time.Time // since when each of them that has no result yet is
	results  []result
	idle     chan struct{} // the last lane has ended
}

// result is what became of a message: it was sent, it failed, or it was not tried.
type result struct {
	*models.Notification

	failure  *outbox.Failure
	notTried bool
}

func newDelivery(o *Outbox, shards []int, atMost time.Duration) *delivery {
	return &delivery{
		Outbox: o, owner: uuid.New(), shards: shards, atMost: atMost,
		target: lanesPerSlot * (o.atOnce(models.NotifyEmail) + o.atOnce(models.NotifySMS)),
		lanes:  map[outbox.Address][]*models.Notification{}, underWay: map[outbox.Address]int{}, leased: map[uuid.UUID]time.Time{},
		idle: make(chan struct{}, 1),
	}
}

func (d *delivery) run(ctx context.Context) (Delivered, error) {
	if err := d.acquire(ctx); err != nil {
		return Delivered{}, err
	}

	d.began = time.Now()

	stopRenewing := d.renewLeases(ctx)
	err := d.deliverAll(ctx)
	err = d.finish(ctx, err)

	stopRenewing()

	releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordFor)
	defer cancel()

	if failed := d.Store.Outbox.ReleaseShards(releasing, d.owner); failed != nil {
		d.Log.WarnContext(ctx, "shards of the outbox not released; their lease ends by itself", "error", failed)
	}

	return d.out, err
}

// acquire takes the shards. Those of a deliverer that was killed can be had when its lease is over; what another living one keeps, it
// delivers.
func (d *delivery) acquire(ctx context.Context) error {
	const pause = 200 * time.Millisecond

	for began := time.Now(); ; {
		if err := d.renew(ctx); err != nil || len(d.held) == len(d.shards) || time.Since(began) > outbox.DeliveryLease+pause {
			return err
		}

		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// deliverAll claims and records until nothing is left or the time is over. It returns when no lane is left.
func (d *delivery) deliverAll(ctx context.Context) (failed error) {
	tick := time.NewTicker(recordEvery)
	defer tick.Stop()

	stop, canceled := stopChannel(ctx), ctx.Done()

	for {
		if failed == nil && d.wantsMore() {
			failed = d.claim(ctx)
		}

		if failed != nil || d.over(endWithin) {
			d.end()
		}

		if d.done() {
			return failed
		}

		select {
		case <-d.idle:
		case <-tick.C:
		case <-stop:
			stop, d.stopped = nil, true
		case <-canceled:
			canceled = nil
			failed = ctx.Err()
		}

		if err := d.record(ctx); err != nil && failed == nil {
			failed = err
		}
	}
}

// over reports whether the time for claiming has been over for a while. As long as there is no backlog a deliverer goes on while it waits
// for slow recipients: others do not wait for these.
func (d *delivery) over(since time.Duration) bool {
	atMost := d.atMost
	if d.dry {
		atMost = waitFor
	}

	return d.stopped || time.Since(d.began) > atMost+since
}

// wantsMore reports whether it is worth while to claim: there is time, and room for a good part of the lanes.
func (d *delivery) wantsMore() bool {
	d.mu.Lock()
	defer d.mu.Unlock()

	const part = 4

	switch {
	case d.ending || d.over(0) || !d.holds():
		return false
	case len(d.lanes) == 0:
		return !d.dry
	case d.short:
		return time.Since(d.looked) >= lookEvery
	default:
		return len(d.lanes) <= d.target-d.target/part
	}
}

// done reports whether all lanes have ended and nothing more will be claimed.
func (d *delivery) done() bool {
	d.mu.Lock()
	defer d.mu.Unlock()

	return len(d.lanes) == 0 && (d.dry || d.ending || d.over(0) || !d.holds())
}

// holds reports whether there are shards whose lease is not over. Who has lost one does not hold any again: which of the messages in its
// lanes were that shard's it does not know.
func (d *delivery) holds() bool { return !d.lost && len(d.held) > 0 && time.Now().Before(d.valid) }

// end has lanes begin nothing more.
func (d *delivery) end() {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.ending = true
}

// claim takes due messages, leaves out what is not to be sent, and puts the rest into lanes.
func (d *delivery) claim(ctx context.Context) error {
	d.mu.Lock()

	if !d.holds() { // a claim of no shard is one of all
		d.mu.Unlock()

		return nil
	}

	limit, which := max(d.target-len(d.lanes), 1), outbox.Claim{Shards: d.held}

	for to, queue := range d.lanes {
		if len(queue) >= laneFull {
			which.Except = append(which.Except, to.To)
		}
	}
	d.mu.Unlock()

	d.looked = time.Now()

	rows, err := d.Store.Outbox.ClaimNotifications(ctx, which, limit, d.Now())
	if err != nil {
		return err
	}

	d.short = len(rows) < limit
	d.dry = d.short && len(which.Except) == 0

	d.mu.Lock()

	underWay := map[outbox.Address]int{}

	for i := range rows {
		to := outbox.AddressOf(&rows[i])
		if n := d.underWay[to]; n > 0 {
			underWay[to] = n
		}
	}
	d.mu.Unlock()

	due, err := d.Store.Outbox.WithholdNotifications(ctx, rows, underWay, d.Now())
	if err != nil {
		return err
	}

	d.out.Failed += len(rows) - len(due)
	d.enqueue(ctx, due)

	return nil
}

func (d *delivery) enqueue(ctx context.Context, due []models.Notification) {
	d.mu.Lock()
	defer d.mu.Unlock()

	for i := range due {
		n := &due[i]
		if _, known := d.leased[n.ID]; known {
			continue // its lease could not be renewed meanwhile
		}

		to := outbox.AddressOf(n)
		queue, busy := d.lanes[to]

		d.lanes[to] = append(queue, n)
		d.leased[n.ID] = d.looked

		if outbox.Limited(n) {
			d.underWay[to]++
		}

		if !busy {
			go d.lane(ctx, to)
		}
	}
}

// lane sends the messages to one address, one after another. One that fails does not hold up the next.
func (d *delivery) lane(ctx context.Context, to outbox.Address) {
	for n := d.next(to); n != nil; n = d.next(to) {
		release, err := d.slot(ctx, to.Channel)
		if err != nil {
			continue // canceled: the lease ends by itself
		}

		if !d.mayBegin() {
			release()
			d.put(result{Notification: n, notTried: true})

			continue
		}

		failure := d.send(ctx, n)

		release()

		if failure == nil || ctx.Err() == nil { // what was canceled may have been sent
			d.put(result{Notification: n, failure: failure})
		}
	}
}

// next is the next message of a lane; nil: the lane has ended.
func (d *delivery) next(to outbox.Address) *models.Notification {
	d.mu.Lock()
	defer d.mu.Unlock()

	queue := d.lanes[to]
	if len(queue) > 0 && !d.ending {
		d.lanes[to] = queue[1:]

		return queue[0]
	}

	for _, n := range queue {
		d.results = append(d.results, result{Notification: n, notTried: true})
	}

	delete(d.lanes, to)

	if len(d.lanes) == 0 {
		select {
		case d.idle <- struct{}{}:
		default:
		}
	}

	return nil
}

// mayBegin reports whether the address is still this deliverer's. One whose lease is over sends nothing more.
func (d *delivery) mayBegin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()

	return !d.ending && d.holds()
}

func (d *delivery) put(r result) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.results = append(d.results, r)
	if !r.notTried {
		delete(d.leased, r.ID)
	}
}
