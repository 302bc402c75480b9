package activities

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"rihla/internal/store"
	"rihla/models"
)

// Deliverer hands stored events to the workflows that wait for them, and starts the ones that reconcile. It is
// implemented by the workflows room, which lies above this one.
type Deliverer interface {
	// Deliver signals the workflow that waits for the event, or starts the one that deals with late events.
	Deliver(ctx context.Context, d models.Delivery) error
	// Reconcile starts the workflow that asks the gateway about an attempt whose own workflow is gone.
	Reconcile(ctx context.Context, transaction uuid.UUID, gateway models.PaymentProvider) error
	// ResumeRefund starts a refund's workflow again if none is running.
	ResumeRefund(ctx context.Context, r models.RefundRequest) error
	// PollStatus starts the workflow that asks the gateway about attempts of a channel whose webhooks may be lost, unless it runs.
	PollStatus(ctx context.Context, c models.Channel) error
	// ResumeCampaign has a campaign's workflow look at it, and starts it again if none is running.
	ResumeCampaign(ctx context.Context, c models.AdCampaign) error
	// PayoutDecided tells a refund by hand that it was decided, and starts its workflow if none is running.
	PayoutDecided(ctx context.Context, r models.RefundRequest) (wait func(context.Context) error, err error)
	// WakeOutbox starts the delivery of queued notifications.
	WakeOutbox(ctx context.Context) error
}

// Sweep is the safety net: it finds what a crash left behind and gives it to the workflow that owns it. It never
// writes a state itself, except that it gives up holds which no attempt is using.
type Sweep struct {
	Store   *store.Store
	Deliver Deliverer
	Silence time.Duration // after how long without a webhook a channel counts as silent; 0: never
	Now     func() time.Time
}

// The ages at which something counts as left behind, and how much one sweep takes on.
const (
	eventAge      = 15 * time.Second // the relay in the API is given this long
	paymentGrace  = 2 * time.Minute
	refundGrace   = 2 * time.Minute
	campaignGrace = 2 * time.Minute
	payoutAge     = 3 * time.Second // the API, which tells it at once, is given this long
	keyAge        = 24 * time.Hour  // contract §1
	tokenAge      = 24 * time.Hour  // of an expired refresh token, which is refused anyway
	sweepBatch    = 500
	sweepWorkers  = 16
)

// Swept counts what one sweep has given back to its owner.
type Swept struct {
	Events    int `json:"events,omitempty"`
	Payments  int `json:"payments,omitempty"`
	Refunds   int `json:"refunds,omitempty"`
	Payouts   int `json:"payouts,omitempty"`
	Campaigns int `json:"campaigns,omitempty"`
	Holds     int `json:"holds,omitempty"`
	Silent    int `json:"silent,omitempty"` // channels whose webhooks do not come
	Ended     int `json:"ended,omitempty"`  // channels about whose ended attempts the gateway is asked again
}

// Run sweeps once. What fails is left for the next sweep; only a database that does not answer is an error.
func (s *Sweep) Run(ctx context.Context) (Swept, error) {
	defer alive(ctx)()

	var (
		out Swept
		err error
	)

	steps := []func(context.Context, *Swept) error{
		s.events, s.payments, s.refunds, s.payouts, s.campaigns, s.silence, s.ended, s.holds, s.outbox, s.keys,
	}
	for _, step := range steps {
		err = errors.Join(err, step(ctx, &out))
	}

	return out, err
}

// turn reads the next part of a list, and has the next sweep go on behind it.
func turn[T any](ctx context.Context, s *Sweep, list string, read func(after store.Turn) ([]T, store.Turn, error)) ([]T, error) {
	after, err := s.Store.Turn(ctx, list)
	if err != nil {
		return nil, err
	}

	found, next, err := read(after)
	if err == nil && !next.Is(after) {
		err = s.Store.SaveTurn(ctx, list, next)
	}

	return found, err
}

func (s *Sweep) events(ctx context.Context, out *Swept) error {
	found, err := turn(ctx, s, "events", func(after store.Turn) ([]models.Delivery, store.Turn, error) {
		return s.Store.UnprocessedEvents(ctx, eventAge, after, sweepBatch, s.Now())
	})
	out.Events = each(ctx, found, s.Deliver.Deliver)

	return err
}

func (s *Sweep) payments(ctx context.Context, out *Swept) error {
	found, err := turn(ctx, s, "payments", func(after store.Turn) ([]models.PaymentTransaction, store.Turn, error) {
		return s.Store.StalePayments(ctx, paymentGrace, after, sweepBatch, s.Now())
	})
	out.Payments = each(ctx, found, func(ctx context.Context, t models.PaymentTransaction) error {
		return s.Deliver.Reconcile(ctx, t.ID, t.Gateway)
	})

	return err
}

func (s *Sweep) refunds(ctx context.Context, out *Swept) error {
	found, err := turn(ctx, s, "refunds", func(after store.Turn) ([]models.Refund, store.Turn, error) {
		return s.Store.StaleRefunds(ctx, refundGrace, after, sweepBatch, s.Now())
	})
	out.Refunds = each(ctx, found, func(ctx context.Context, r models.Refund) error {
		return s.Deliver.ResumeRefund(ctx, r.Request())
	})

	return err
}

func (s *Sweep) payouts(ctx context.Context, out *Swept) error {
	found, err := s.Store.DecidedPayouts(ctx, payoutAge, sweepBatch, s.Now())
	out.Payouts = each(ctx, found, func(ctx context.Context, r models.Refund) error {
		_, err := s.Deliver.PayoutDecided(ctx, r.Request())

		return err
	})

	return err
}

// silence has the gateways asked whose webhooks do not come although customers wait.
func (s *Sweep) silence(ctx context.Context, out *Swept) error {
	if s.Silence <= 0 {
		return nil
	}

	var silent []models.Channel

	for _, c := range models.Channels() {
		is, err := s.Store.Silent(ctx, c, s.Silence, s.Now())
		if err != nil {
			return err
		}

		if is {
			silent = append(silent, c)
		}
	}

	out.Silent = each(ctx, silent, s.Deliver.PollStatus)

	return nil
}

// ended has the gateways asked again about attempts that ended without money: some may have come late, and its webhook be lost.
func (s *Sweep) ended(ctx context.Context, out *Swept) error {
	due, err := s.Store.EndedDue(ctx, s.Now())
	out.Ended = each(ctx, due, s.Deliver.PollStatus)

	return err
}

func (s *Sweep) campaigns(ctx context.Context, out *Swept) error {
	found, err := turn(ctx, s, "campaigns", func(after store.Turn) ([]models.AdCampaign, store.Turn, error) {
		return s.Store.StaleCampaigns(ctx, campaignGrace, after, sweepBatch, s.Now())
	})
	out.Campaigns = each(ctx, found, s.Deliver.ResumeCampaign)

	return err
}

func (s *Sweep) holds(ctx context.Context, out *Swept) error {
	n, err := s.Store.ReleaseExpiredHolds(ctx, sweepBatch, s.Now())
	out.Holds = n

	return err
}

func (s *Sweep) outbox(ctx context.Context, _ *Swept) error {
	due, err := s.Store.NotificationsDue(ctx, s.Now())
	if err != nil || !due {
		return err
	}

	return s.Deliver.WakeOutbox(ctx)
}

func (s *Sweep) keys(ctx context.Context, _ *Swept) error {
	_, keys := s.Store.PurgeKeys(ctx, keyAge)
	_, tokens := s.Store.PurgeRefreshTokens(ctx, tokenAge)

	return errors.Join(keys, tokens)
}

// each hands over all items, some side by side, and counts those that were taken.
func each[T any](ctx context.Context, items []T, do func(context.Context, T) error) int {
	done := make([]bool, len(items))

	var group errgroup.Group

	group.SetLimit(sweepWorkers)

	for i, item := range items {
		group.Go(func() error {
			if err := do(ctx, item); err != nil {
				slog.WarnContext(ctx, "sweep could not hand over", "error", err)

				return nil // the next sweep tries it again
			}

			done[i] = true

			return nil
		})
	}

	_ = group.Wait()

	count := 0

	for _, ok := range done {
		if ok {
			count++
		}
	}

	return count
}
