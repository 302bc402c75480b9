package activities

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"rihla/internal/notify"
	"rihla/internal/store"
	"rihla/models"
)

// Outbox delivers queued notifications.
type Outbox struct {
	Store  *store.Store
	Sender notify.Sender
	Now    func() time.Time
	Log    *slog.Logger
}

// The size of a batch, and how many of it are sent side by side.
const (
	outboxBatch    = 50
	outboxParallel = 8
)

// Delivered counts what became of one batch.
type Delivered struct {
	Sent   int  `json:"sent"`
	Failed int  `json:"failed,omitempty"`
	More   bool `json:"more,omitempty"` // the batch was full: there may be more
}

// DeliverNotifications sends one batch of due notifications. A message that cannot be sent now goes back with
// back-off; one that never can is given up. It fails only when the database does.
func (o *Outbox) DeliverNotifications(ctx context.Context) (Delivered, error) {
	claimed, err := o.Store.Outbox.ClaimNotifications(ctx, outboxBatch, o.Now())
	if err != nil {
		return Delivered{}, err
	}

	due, err := o.Store.Outbox.WithholdNotifications(ctx, claimed, o.Now())
	if err != nil {
		return Delivered{}, err
	}

	defer heartbeat(ctx)()
	defer o.renewLeases(ctx, due)()

	sent := make([]bool, len(due))

	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(outboxParallel)

	for i := range due {
		group.Go(func() error {
			var err error

			sent[i], err = o.deliver(gctx, &due[i])

			return err
		})
	}

	if err := group.Wait(); err != nil {
		return Delivered{}, err
	}

	d := Delivered{Failed: len(claimed) - len(due), More: len(claimed) == outboxBatch}

	for _, ok := range sent {
		if ok {
			d.Sent++
		} else {
			d.Failed++
		}
	}

	return d, nil
}

// renewLeases renews the claim on a batch until stop is called, however slow its recipients are: without it a lease would have
// to be so long that a batch whose deliverer was killed waits for half a minute.
func (o *Outbox) renewLeases(ctx context.Context, batch []models.Notification) (stop func()) {
	ctx, stop = context.WithCancel(ctx)

	go func() {
		tick := time.NewTicker(heartbeatInterval)
		defer tick.Stop()

		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}

			if err := o.Store.Outbox.KeepNotifications(ctx, batch, o.Now()); err != nil && ctx.Err() == nil {
				o.Log.WarnContext(ctx, "lease of notifications not renewed", "error", err)
			}
		}
	}()

	return stop
}

func (o *Outbox) deliver(ctx context.Context, n *models.Notification) (bool, error) {
	err := o.Sender.Send(ctx, notify.MessageOf(n))
	if err == nil {
		return true, o.Store.Outbox.NotificationSentNow(ctx, n.ID, o.Now())
	}

	permanent := notify.IsPermanent(err)
	// The error may quote the address: the log and the row get only its kind.
	o.Log.WarnContext(ctx, "notification not delivered",
		"notification_id", n.ID, "channel", n.Channel, "attempts", n.Attempts, "permanent", permanent)

	reason := "temporary failure"
	if permanent {
		reason = "refused for good"
	}

	if errors.Is(err, context.DeadlineExceeded) {
		reason = "timeout"
	}

	return false, o.Store.Outbox.NotificationFailedNow(ctx, n, permanent, reason, o.Now())
}
