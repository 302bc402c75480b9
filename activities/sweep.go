package activities

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/models"
)

// Deliverer hands stored events to the workflows that wait for them, and starts the ones that reconcile. It is
// implemented by package workflows, which imports this one.
type Deliverer interface {
	// Deliver signals the workflow that waits for the event, or starts the one that deals with late events.
	Deliver(ctx context.Context, d models.Delivery) error
	// Reconcile starts the workflow that asks the gateway about an attempt whose own workflow is gone.
	Reconcile(ctx context.Context, transaction uuid.UUID, gateway models.Gateway) error
	// ResumeRefund starts a refund's workflow again if none is running.
	ResumeRefund(ctx context.Context, r models.Refund) error
	// PollStatus starts the workflow that asks the gateway about attempts of a channel whose webhooks may be lost, unless it runs.
	PollStatus(ctx context.Context, c models.Channel) error
	// ResumeCampaign has a campaign's workflow look at it, and starts it again if none is running.
	ResumeCampaign(ctx context.Context, c models.AdCampaign) error
	// LookAtCancellation has a cancellation request looked at, and starts its workflow if none is running.
	LookAtCancellation(ctx context.Context, request uuid.UUID) error
	// LookAtTripCancellation has the cancellation of a trip looked at, and starts its workflow if none is running.
	LookAtTripCancellation(ctx context.Context, o models.TripCancellationOrder) error
	// PayoutDecided tells a manual payout that it was decided, and starts its workflow if none is running.
	PayoutDecided(ctx context.Context, r models.Refund) (wait func(context.Context) error, err error)
	// ApprovalDecided tells a refund that a second person decided about it, or that its time is over, and starts its workflow if none is
	// running.
	ApprovalDecided(ctx context.Context, r models.Refund) (wait func(context.Context) error, err error)
	// Show starts the workflow that shows an open incident, and ends that of a resolved one.
	Show(ctx context.Context, i models.ShownIncident) error
	// WakeOutbox starts the delivery of queued notifications.
	WakeOutbox(ctx context.Context) error
}

// Sweep is the safety net: it finds what a crash left behind and gives it to the workflow that owns it. It never
// writes a state itself, except that it gives up holds which no attempt is using, and orders the refund of money that came too
// late and that is not ordered.
type Sweep struct {
	Store          *store.Store
	Deliver        Deliverer
	WebhookSilence time.Duration // after how long without a webhook a channel counts as silent; 0: never
	Now            func() time.Time
	Log            *slog.Logger
}

// The ages at which something counts as left behind, and how much one sweep takes on.
const (
	eventAge       = 15 * time.Second // the relay in the API is given this long
	paymentGrace   = 2 * time.Minute
	refundGrace    = 2 * time.Minute
	orderAge       = 10 * time.Second // of a refund that nothing was sent for: its workflow may never have been started
	lateMoneyGrace = time.Minute
	campaignGrace  = 2 * time.Minute
	payoutAge      = 3 * time.Second // the API, which tells it at once, is given this long
	approvalAge    = 3 * time.Second
	keyAge         = 24 * time.Hour // rules: idempotency.replay
	tokenAge       = 24 * time.Hour // of an expired refresh token, which is refused anyway
	monthsAhead    = 3              // so long may workers stand still, or be refused the locks
	sweepBatch     = 500
	sweepWorkers   = 16
	holdBatch      = 50 // in one transaction: what is not done in time is rolled back
	// handOverTime is how long a sweep goes on handing over what is in one of its lists: the sooner the orchestrator takes things,
	// the more of them it gets. handAtMost is how long it may take over one of them, and handOver how long all lists take together.
	handOverTime     = 600 * time.Millisecond
	handOverTimeout  = 5 * time.Second
	handOverDeadline = 3 * time.Second
	releaseTime      = 1500 * time.Millisecond // how long holds are given up before that
)

// Swept counts what one sweep has given back to its owner.
type Swept struct {
	Events    int `json:"events,omitempty"`
	Payments  int `json:"payments,omitempty"`
	Refunds   int `json:"refunds,omitempty"`
	Owed      int `json:"owed,omitempty"` // late money whose refund was not ordered
	Payouts   int `json:"payouts,omitempty"`
	Approvals int `json:"approvals,omitempty"`
	Campaigns int `json:"campaigns,omitempty"`
	Requests  int `json:"requests,omitempty"` // to cancel, without a workflow
	Trips     int `json:"trips,omitempty"`    // that are called off, without a workflow
	Holds     int `json:"holds,omitempty"`
	Silent    int `json:"silent,omitempty"` // channels whose webhooks do not come
	Shown     int `json:"shown,omitempty"`  // incidents that were opened or resolved
	Ended     int `json:"ended,omitempty"`  // channels about whose ended attempts the gateway is queried again
}

// Run sweeps once. What fails is left for the next sweep; only a database that does not answer is an error.
func (s *Sweep) Run(ctx context.Context) (Swept, error) {
	defer heartbeat(ctx)()

	var (
		r   = sweepRun{Sweep: s}
		err error
	)

	lists := []func(context.Context) error{
		r.payments, r.refunds, r.owed, r.payouts, r.approvals, r.campaigns, r.requests, r.trips,
		r.pollSilentChannels, r.runLateChecks, r.incidents, r.outbox,
	}
	rand.Shuffle(len(lists), func(i, j int) { //nolint:gosec // so that none is always the last: no secret
		lists[i], lists[j] = lists[j], lists[i]
	})

	first := []func(context.Context) error{r.releaseHolds, r.events}
	last := []func(context.Context) error{r.keys, r.months}

	for _, step := range slices.Concat(first, lists, last) {
		err = errors.Join(err, step(ctx))
	}

	return r.out, err
}

// sweepRun is one sweep.
type sweepRun struct {
	*Sweep

	out              Swept
	orchestratorDown atomic.Bool // the orchestrator does not answer: nothing more is handed over
	deadline         time.Time   // when nothing more is handed over either; holds come before
}

// readNext reads the next rows of a list and saves the cursor, so that the next sweep continues after them.
func readNext[T any](
	ctx context.Context, r *sweepRun, list string, read func(after db.SweepCursor) ([]T, db.SweepCursor, error),
) ([]T, error) {
	after, err := r.Store.DB.SweepCursor(ctx, list)
	if err != nil {
		return nil, err
	}

	found, next, err := read(after)
	if err == nil && !next.Is(after) {
		err = r.Store.DB.SaveSweepCursor(ctx, list, next)
	}

	return found, err
}

func (r *sweepRun) events(ctx context.Context) error {
	found, err := readNext(ctx, r, "events", func(after db.SweepCursor) ([]models.Delivery, db.SweepCursor, error) {
		return r.Store.Inbox.UnprocessedEvents(ctx, eventAge, after, sweepBatch, r.Now())
	})
	r.out.Events = handOverEach(ctx, r, found, r.Deliver.Deliver)

	return err
}

func (r *sweepRun) payments(ctx context.Context) error {
	found, err := readNext(ctx, r, "payments", func(after db.SweepCursor) ([]models.PaymentTransaction, db.SweepCursor, error) {
		return r.Store.Payments.StalePayments(ctx, paymentGrace, after, sweepBatch, r.Now())
	})
	r.out.Payments = handOverEach(ctx, r, found, func(ctx context.Context, t models.PaymentTransaction) error {
		return r.Deliver.Reconcile(ctx, t.ID, t.Gateway)
	})

	return err
}

func (r *sweepRun) refunds(ctx context.Context) error {
	found, err := readNext(ctx, r, "refunds", func(after db.SweepCursor) ([]models.Refund, db.SweepCursor, error) {
		return r.Store.Payments.StaleRefunds(ctx, refundGrace, orderAge, after, sweepBatch, r.Now())
	})
	r.out.Refunds = handOverEach(ctx, r, found, r.Deliver.ResumeRefund)

	return err
}

// owed orders the refunds of late money whose run has ended before it could.
func (r *sweepRun) owed(ctx context.Context) error {
	found, err := r.Store.Refunds.OwedLateMoney(ctx, lateMoneyGrace, sweepBatch, r.Now())
	r.out.Owed = handOverEach(ctx, r, found, func(ctx context.Context, transaction uuid.UUID) error {
		due, err := r.Store.Refunds.OrderLateRefund(ctx, transaction, r.Now())
		if err != nil {
			return err
		}

		return r.Deliver.ResumeRefund(ctx, due)
	})

	return err
}

func (r *sweepRun) payouts(ctx context.Context) error {
	found, err := r.Store.Refunds.DecidedPayouts(ctx, payoutAge, sweepBatch, r.Now())
	r.out.Payouts = handOverEach(ctx, r, found, func(ctx context.Context, due models.Refund) error {
		_, err := r.Deliver.PayoutDecided(ctx, due)

		return err
	})

	return err
}

// approvals tells refunds what was decided about them by a second person, or that their time is over.
func (r *sweepRun) approvals(ctx context.Context) error {
	found, err := r.Store.Refunds.DecidedApprovals(ctx, approvalAge, sweepBatch, r.Now())
	r.out.Approvals = handOverEach(ctx, r, found, func(ctx context.Context, due models.Refund) error {
		_, err := r.Deliver.ApprovalDecided(ctx, due)

		return err
	})

	return err
}

// pollSilentChannels starts polling of channels from which no webhook comes although customers are waiting.
func (r *sweepRun) pollSilentChannels(ctx context.Context) error {
	if r.WebhookSilence <= 0 {
		return nil
	}

	var silent []models.Channel

	for _, c := range models.AllChannels() {
		is, err := r.Store.Payments.ChannelSilent(ctx, c, r.WebhookSilence, r.Now())
		if err != nil {
			return err
		}

		if is {
			silent = append(silent, c)
		}
	}

	r.out.Silent = handOverEach(ctx, r, silent, r.Deliver.PollStatus)

	return nil
}

// runLateChecks starts the late checks that are due: a gateway may have taken money after an attempt has ended, and its webhook
// may be lost.
func (r *sweepRun) runLateChecks(ctx context.Context) error {
	due, err := r.Store.Payments.LateChecksDue(ctx, r.Now())
	r.out.Ended = handOverEach(ctx, r, due, r.Deliver.PollStatus)

	return err
}

// incidents has the orchestrator show which are open.
func (r *sweepRun) incidents(ctx context.Context) error {
	found, err := r.Store.Incidents.IncidentsToShow(ctx, sweepBatch)
	r.out.Shown = handOverEach(ctx, r, found, func(ctx context.Context, i models.ShownIncident) error {
		if err := r.Deliver.Show(ctx, i); err != nil {
			return err
		}

		return r.Store.Incidents.IncidentShown(ctx, i)
	})

	return err
}

func (r *sweepRun) campaigns(ctx context.Context) error {
	found, err := readNext(ctx, r, "campaigns", func(after db.SweepCursor) ([]models.AdCampaign, db.SweepCursor, error) {
		return r.Store.Payments.StaleCampaigns(ctx, campaignGrace, after, sweepBatch, r.Now())
	})
	r.out.Campaigns = handOverEach(ctx, r, found, r.Deliver.ResumeCampaign)

	return err
}

func (r *sweepRun) requests(ctx context.Context) error {
	found, err := r.Store.Cancellations.LeftBehind(ctx, orderAge, sweepBatch, r.Now())
	r.out.Requests = handOverEach(ctx, r, found, r.Deliver.LookAtCancellation)

	return err
}

func (r *sweepRun) trips(ctx context.Context) error {
	found, err := r.Store.TripCancellations.LeftBehind(ctx, orderAge, sweepBatch, r.Now())
	r.out.Trips = handOverEach(ctx, r, found, r.Deliver.LookAtTripCancellation)

	return err
}

func (r *sweepRun) holds(ctx context.Context) error {
	for {
		n, err := r.Store.Payments.ReleaseExpiredHolds(ctx, holdBatch, r.Now())
		r.out.Holds += n

		if err != nil || n < holdBatch {
			return err
		}
	}
}

// releaseHolds gives up holds, which needs the database only: first, and not for long: seats may be locked by a transaction that hangs.
func (r *sweepRun) releaseHolds(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()

	err := r.holds(limited)
	r.deadline = time.Now().Add(handOverDeadline)

	if limited.Err() != nil && ctx.Err() == nil {
		r.Log.WarnContext(ctx, "sweep did not release all expired holds; the next sweep continues", "error", err)

		return nil
	}

	return err
}

func (r *sweepRun) outbox(ctx context.Context) error {
	due, err := r.Store.Payments.NotificationsDue(ctx, r.Now())
	if due {
		handOverEach(ctx, r, []struct{}{{}}, func(ctx context.Context, _ struct{}) error { return r.Deliver.WakeOutbox(ctx) })
	}

	return err
}

func (r *sweepRun) keys(ctx context.Context) error {
	_, keys := r.Store.DB.PurgeKeys(ctx, keyAge)
	_, tokens := r.Store.Accounts.PurgeRefreshTokens(ctx, tokenAge)

	return errors.Join(keys, tokens)
}

// months makes the partitions of months to come.
func (r *sweepRun) months(ctx context.Context) error {
	made, err := r.Store.DB.MakeMonths(ctx, monthsAhead)
	if made > 0 {
		r.Log.InfoContext(ctx, "made partitions of months to come", "partitions", made)
	}

	return err
}

// handOverEach hands over items, some side by side, for a while, and counts those that were taken. The next sweep goes on with the
// others: an orchestrator that comes back to thousands of things is slow, and pressing it would make it slower. They come in
// no order, so that it is not always the same ones that it does not get to.
func handOverEach[T any](ctx context.Context, r *sweepRun, items []T, do func(context.Context, T) error) int {
	var (
		group errgroup.Group
		count atomic.Int32
		until = time.Now().Add(handOverTime)
	)

	group.SetLimit(sweepWorkers)

	for _, i := range rand.Perm(len(items)) { //nolint:gosec // an order, no secret
		group.Go(func() error {
			if now := time.Now(); r.orchestratorDown.Load() || now.After(until) || now.After(r.deadline) {
				return nil
			}

			limited, cancel := context.WithTimeout(ctx, handOverTimeout)
			defer cancel()

			if err := do(limited, items[i]); err == nil {
				count.Add(1)
			} else {
				r.orchestratorDown.CompareAndSwap(false, limited.Err() != nil)
				r.Log.WarnContext(ctx, "sweep could not deliver to a workflow; the next sweep retries", "error", err) // the next one tries it again
			}

			return nil
		})
	}

	_ = group.Wait()

	return int(count.Load())
}
