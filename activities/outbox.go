package activities

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"golang.org/x/sync/semaphore"

	"rihla/internal/notify"
	"rihla/internal/store"
	"rihla/internal/store/outbox"
	"rihla/models"
)

// Outbox delivers queued notifications.
type Outbox struct {
	Store  *store.Store
	Sender notify.Sender
	Now    func() time.Time
	Log    *slog.Logger
	// AtOnce is how many messages of a channel are handed over side by side in this process; 0: 64.
	AtOnce map[models.NotificationChannel]int
	// Deliverers is into how many parts a backlog is divided for the workers to share; 0 or 1: it is not.
	Deliverers int
	// AccountPages is where the links of mails about accounts lead to, without a trailing slash.
	AccountPages string
	// TicketLink is the whole address of the ticket of a booking; nil: mails have no link to it.
	TicketLink func(booking uuid.UUID) string

	once  sync.Once
	slots map[models.NotificationChannel]*semaphore.Weighted
}

const (
	// deliverFor is how long a deliverer takes more messages, partFor one of several. One that has them until its end has met a backlog.
	deliverFor, partFor = time.Second, 5 * time.Second
	// atOnceByDefault lets a sender that needs 100 ms for a message deliver 640 of them a second.
	atOnceByDefault = 64
)

// Delivered counts what became of the messages that one deliverer has taken.
type Delivered struct {
	Sent   int  `json:"sent"`
	Failed int  `json:"failed,omitempty"`
	More   bool `json:"more,omitempty"` // it had to stop: there may be more
	// Split is by how many deliverers side by side what is left is to be delivered; 0: as before.
	Split int `json:"split,omitempty"`
}

// Part is a part of all addresses: the shards whose number leaves Index when it is divided by Of.
type Part struct {
	Index int `json:"index"`
	Of    int `json:"of"`
}

func (p Part) shards() (mine []int) {
	for _, shard := range outbox.AllShards() {
		if shard%p.Of == p.Index {
			mine = append(mine, shard)
		}
	}

	return mine
}

// DeliverNotifications sends due notifications until there are none, or for some seconds. A message that cannot be sent now goes back
// with back-off; one that never can is given up. The messages to one address are sent one after another, in the order in which they
// were queued. It fails only when the database does.
func (o *Outbox) DeliverNotifications(ctx context.Context) (Delivered, error) {
	out, err := o.deliver(ctx, outbox.AllShards(), deliverFor)
	if out.More && o.Deliverers > 1 && !stopping(ctx) {
		out.Split = min(o.Deliverers, outbox.Shards)
	}

	return out, err
}

// DeliverPart is DeliverNotifications for a part of all addresses.
func (o *Outbox) DeliverPart(ctx context.Context, p Part) (Delivered, error) {
	return o.deliver(ctx, p.shards(), partFor)
}

func (o *Outbox) deliver(ctx context.Context, shards []int, atMost time.Duration) (Delivered, error) {
	defer heartbeat(ctx)()

	return newDelivery(o, shards, atMost).run(ctx)
}

// slot takes one of the sender's slots, which all deliverers of this process share.
func (o *Outbox) slot(ctx context.Context, c models.NotificationChannel) (release func(), err error) {
	o.once.Do(func() {
		o.slots = map[models.NotificationChannel]*semaphore.Weighted{}
		for _, channel := range []models.NotificationChannel{models.NotifyEmail, models.NotifySMS} {
			o.slots[channel] = semaphore.NewWeighted(int64(o.atOnce(channel)))
		}
	})

	slots, ok := o.slots[c]
	if !ok {
		return func() {}, nil // no sender knows of the channel either
	}

	if err := slots.Acquire(ctx, 1); err != nil {
		return nil, err
	}

	return func() { slots.Release(1) }, nil
}

func (o *Outbox) atOnce(c models.NotificationChannel) int {
	if n := o.AtOnce[c]; n > 0 {
		return n
	}

	return atOnceByDefault
}

// send hands one message over. nil: it was taken; else why not.
func (o *Outbox) send(ctx context.Context, n *models.Notification) *outbox.Failure {
	err := o.handOver(ctx, n)
	if err == nil {
		return nil
	}

	f := &outbox.Failure{ID: n.ID, Attempts: n.Attempts, Permanent: notify.IsPermanent(err), Reason: "temporary failure"}
	// The error may quote the address: the log and the row get only its kind.
	kind := notify.KindOf(err)
	o.Log.WarnContext(ctx, "notification not delivered",
		"notification_id", n.ID, "channel", n.Channel, "attempts", n.Attempts, "permanent", f.Permanent, "failure", kind)

	if f.Permanent {
		f.Reason = "refused for good"
	}

	if errors.Is(err, context.DeadlineExceeded) {
		f.Reason = "timeout"
	} else if kind != "" {
		f.Reason += ": " + kind
	}

	if errors.Is(err, errNothingToPay) {
		f.Reason = "not sent: " + errNothingToPay.Error()
	}

	return f
}

// handOver turns a panic into an error: nothing above a lane recovers, and one message would end the worker, again and again.
func (o *Outbox) handOver(ctx context.Context, n *models.Notification) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %T", p) // its value may hold the address
			o.Log.ErrorContext(ctx, "panic while a notification was sent", "notification_id", n.ID, "error", err, "stack", string(debug.Stack()))
		}
	}()

	m := notify.MessageOf(n)
	if m.Link, err = o.link(ctx, n); err != nil {
		return err
	}

	if m.Details, err = o.details(ctx, n); err != nil {
		return err
	}

	return o.Sender.Send(ctx, m)
}

// stopping reports whether this worker has been asked to stop: another one goes on.
func stopping(ctx context.Context) bool {
	select {
	case <-stopChannel(ctx):
		return true
	default:
		return false
	}
}

// stopChannel is closed when this worker is asked to stop; nil outside of a worker.
func stopChannel(ctx context.Context) <-chan struct{} {
	if !activity.IsActivity(ctx) {
		return nil
	}

	return activity.GetWorkerStopChannel(ctx)
}
