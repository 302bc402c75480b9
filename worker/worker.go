// Package worker says what runs on which task queue, with which limits, and keeps the Temporal Schedules.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"golang.org/x/sync/semaphore"

	"rihla/activities"
	"rihla/gateways"
	"rihla/internal/notify"
	"rihla/internal/store"
	"rihla/models"
	"rihla/workflows"
)

// Deps are what the activities work with.
type Deps struct {
	Temporal       client.Client
	Polls          client.Client // for the workers themselves; default: Temporal
	Store          *store.Store
	Gateways       map[models.MerchantAccount]gateways.Gateway
	Sender         notify.Sender
	Outbox         OutboxLimits
	Namespace      string        // of Temporal
	Queue          string        // task queue
	SweepInterval  time.Duration // of the safety net; 0 means no schedules, the audit's included
	Concurrency    int           // activities side by side; at most the database pool; default 16
	TripRate       float64       // bookings of trips that are called off which are cancelled a second, over all workers; default 2
	Now            func() time.Time
	Log            *slog.Logger
	AskFor         time.Duration // activities.Payments.AskFor
	SettleAfter    time.Duration // activities.Payments.SettleAfter
	WebhookSilence time.Duration // after how long without webhooks gateways are asked; 0: never
	// PollLimiters bound the polling of attempts at each gateway; nil: no bounds.
	PollLimiters map[models.MerchantAccount]activities.PollLimiters
	// Asked and Silent are called with the results of polling (activities.Polls); may be nil.
	Asked  func(c models.Channel, outcome string)
	Silent func(c models.Channel)
	// BuildID makes this a versioned worker of the Deployment: it gets tasks when its version is current or ramping.
	BuildID, Deployment string
	// Data and Failures read histories as the workers do, for the gate; nil: the SDK's.
	Data     converter.DataConverter
	Failures converter.FailureConverter
	// Settled is called for every payment attempt that has moved to a state; may be nil.
	Settled func(models.Settled)
}

// Worker serves one task queue.
type Worker struct {
	queues   []worker.Worker // the workflows' own, that of called-off trips, then one per gateway
	notifier *outboxNotifier
	outages  *outages
	decided  *announcer // bookings, to customers who wait
	money    *announcer // transactions, to dashboards
	// withdrawn are cancellation requests that ended with their bookings, to their workflows. What is given up the sweep finds.
	withdrawn *announcer
	upkeeps   []*upkeep
	deps      Deps
}

// New wires the activities and registers everything. It does not poll yet.
func New(d Deps) *Worker {
	if d.Now == nil {
		d.Now = time.Now
	}

	if d.Polls == nil {
		d.Polls = d.Temporal
	}

	if d.Concurrency == 0 {
		d.Concurrency = 16
	}

	if d.TripRate == 0 {
		d.TripRate = 2
	}

	return &Worker{
		notifier: newOutboxNotifier(d.Log, workflows.NewClient(d.Temporal, d.Queue).WakeOutbox), outages: newOutages(d),
		decided:   newAnnouncer(d.Log, "decided payments", 0, d.Store.Payments.AnnounceDecided),
		money:     newAnnouncer(d.Log, "moved money", moneyPause, d.Store.Payments.AnnounceMoney),
		withdrawn: newAnnouncer(d.Log, "withdrawn cancellation requests", 0, workflows.NewClient(d.Temporal, d.Queue).LookAtCancellations),
		upkeeps:   []*upkeep{newReportFolder(d), newListCleaner(d), newSealer(d), newScheduleKeeper(d)}, deps: d,
	}
}

// newQueues makes the pollers. One that could not be started can never be started again, so every try has its own.
func (w *Worker) newQueues() []worker.Worker {
	d := w.deps
	temporalClient := workflows.NewClient(d.Temporal, d.Queue)
	payments := &activities.Payments{
		Store: d.Store, Gateways: d.Gateways, Now: d.Now, Log: d.Log, AskFor: d.AskFor, SettleAfter: d.SettleAfter,
		Queued: w.notifier.Notify, Settled: d.Settled, FirstTries: d.firstTries(),
		Decided: w.decided.Add, Money: w.money.Add, Withdrawn: w.withdrawn.Add,
	}

	local := d.Concurrency * (1 + len(payments.FirstTries))
	own := worker.New(d.Polls, d.Queue, worker.Options{
		MaxConcurrentActivityExecutionSize:      d.Concurrency,
		MaxConcurrentLocalActivityExecutionSize: local,
		// Each of them can wait for a local activity. More would only be taken up to be late: after an outage all payments want to go
		// on at once, and a task that is not over within workflows.TaskTimeout is done again.
		MaxConcurrentWorkflowTaskExecutionSize: local,
		DeadlockDetectionTimeout:               deadlockTimeout,
		WorkflowTaskPollerBehavior:             worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		ActivityTaskPollerBehavior:             worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		// A workflow task waits this long for the worker that has the workflow in memory, should that one be dead.
		StickyScheduleToStartTimeout: stickyTimeout,
		WorkerStopTimeout:            stopTimeout,
		MaxHeartbeatThrottleInterval: workflows.HeartbeatEvery,
		DeploymentOptions:            d.deployment(),
	})
	register(own, payments, d.newOutbox(),
		&activities.Sweep{Store: d.Store, Deliver: temporalClient, WebhookSilence: d.WebhookSilence, Now: d.Now, Log: d.Log},
		&activities.Audit{Store: d.Store, Now: d.Now}, newGate(d))

	polls := newPolls(d, temporalClient.Deliver)

	queues := make([]worker.Worker, 0, 2+len(d.Gateways)) //nolint:mnd // the own one and that of trips
	queues = append(queues, own, newTripsWorker(d, payments))

	for account := range d.Gateways {
		if !account.IsBackup() { // which is served by the same queue
			queues = append(queues, newGatewayWorker(d, account.Gateway(), payments, polls))
		}
	}

	return queues
}

// OutboxLimits are those of delivering messages, and where their links lead to; the zero value has the activity's own
// (activities.Outbox).
type OutboxLimits struct {
	AtOnce     map[models.NotificationChannel]int
	Deliverers int
	// AccountPages is where the links of mails about accounts lead to.
	AccountPages string
	// TicketLink is the address of a ticket; may be nil.
	TicketLink func(booking uuid.UUID) string
}

func (d Deps) newOutbox() *activities.Outbox {
	return &activities.Outbox{
		Store: d.Store, Sender: d.Sender, Now: d.Now, Log: d.Log, AtOnce: d.Outbox.AtOnce, Deliverers: d.Outbox.Deliverers,
		AccountPages: d.Outbox.AccountPages, TicketLink: d.Outbox.TicketLink,
	}
}

// firstTries are slots of each gateway's own: however slow they all are, as many local activities as without them have room.
func (d Deps) firstTries() map[models.Gateway]*semaphore.Weighted {
	slots := map[models.Gateway]*semaphore.Weighted{}

	for account := range d.Gateways {
		slots[account.Gateway()] = semaphore.NewWeighted(int64(d.Concurrency))
	}

	return slots
}

const (
	stickyTimeout = 2 * time.Second
	stopTimeout   = 10 * time.Second
	// deadlockTimeout is after how long workflow code that does not yield is taken for stuck. The SDK's second is too short for a
	// machine that has no time for it: the workflow would be replayed from its first event, which makes the machine busier.
	deadlockTimeout = 10 * time.Second
)

func newPolls(d Deps, deliver func(context.Context, models.Delivery) error) *activities.Polls {
	p := &activities.Polls{
		Store: d.Store, Gateways: d.Gateways, Deliver: deliver, WebhookSilence: d.WebhookSilence, Now: d.Now, Asked: d.Asked, Silent: d.Silent,
		Limiters: d.PollLimiters, Log: d.Log,
	}

	if p.Asked == nil {
		p.Asked = func(models.Channel, string) {}
	}

	if p.Silent == nil {
		p.Silent = func(models.Channel) {}
	}

	return p
}

// newGatewayWorker serves the calls to one gateway: a slow gateway fills only its own slots.
func newGatewayWorker(d Deps, gateway models.Gateway, p *activities.Payments, polls *activities.Polls) worker.Worker {
	w := worker.New(d.Polls, workflows.GatewayQueue(d.Queue, gateway), worker.Options{
		DisableWorkflowWorker:              true,
		MaxConcurrentActivityExecutionSize: d.Concurrency,
		ActivityTaskPollerBehavior:         worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		WorkerStopTimeout:                  stopTimeout,
		MaxHeartbeatThrottleInterval:       workflows.HeartbeatEvery,
		DeploymentOptions:                  d.deployment(),
	})
	w.RegisterActivity(p)
	w.RegisterActivity(polls)

	return w
}

// newTripsWorker cancels the bookings of trips that are called off, as fast as Temporal hands them out.
func newTripsWorker(d Deps, p *activities.Payments) worker.Worker {
	w := worker.New(d.Polls, workflows.TripsQueue(d.Queue), worker.Options{
		DisableWorkflowWorker:              true,
		MaxConcurrentActivityExecutionSize: d.Concurrency,
		TaskQueueActivitiesPerSecond:       d.TripRate / workflows.TripTogether,
		ActivityTaskPollerBehavior:         worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		WorkerStopTimeout:                  stopTimeout,
		DeploymentOptions:                  d.deployment(),
	})
	w.RegisterActivity(p)

	return w
}

// deployment is what makes a versioned worker, when there is a build id. Every workflow upgrades by itself to the version
// that is current: one pinned to its version stands still when the last worker of that version is gone, and such a workflow
// is a customer's payment, the only outbox, or the sweep (docs/decisions/0009). The replay gate checks that new code takes
// old runs on.
func (d Deps) deployment() worker.DeploymentOptions {
	if d.BuildID == "" {
		return worker.DeploymentOptions{}
	}

	return worker.DeploymentOptions{
		UseVersioning:             true,
		Version:                   worker.WorkerDeploymentVersion{DeploymentName: d.Deployment, BuildID: d.BuildID},
		DefaultVersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
	}
}

// register enters every workflow and activity of the service.
func register(
	r worker.Registry, p *activities.Payments, o *activities.Outbox, s *activities.Sweep, a *activities.Audit, g *activities.Gate,
) {
	workflows.Register(r)

	r.RegisterActivity(p)
	r.RegisterActivity(o)
	r.RegisterActivity(s)
	r.RegisterActivity(a)
	r.RegisterActivity(g)
}

// Start prepares the namespace and the schedules, and begins to poll. A worker that starts while the orchestrator is away,
// or whose orchestrator goes away meanwhile, waits for it as one that was already running does.
func (w *Worker) Start(ctx context.Context) error {
	for {
		err := w.tryToStart(ctx)
		if err == nil {
			break
		}

		if !workflows.IsUnavailable(err) && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}

		w.deps.Log.WarnContext(ctx, "Temporal does not answer; retrying", "error", err)

		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}

	w.notifier.start()
	w.notifier.Notify() // a worker that was killed may have queued messages without a notification
	w.outages.start()
	w.decided.start()
	w.money.start()
	w.withdrawn.start()

	for _, u := range w.upkeeps {
		u.start()
	}

	w.deps.Log.InfoContext(ctx, "worker polls", "queue", w.deps.Queue)

	return nil
}

func (w *Worker) tryToStart(ctx context.Context) error {
	if err := ensureSearchAttributes(ctx, w.deps.Temporal, w.deps.Namespace); err != nil {
		return err
	}

	if err := ensureSchedules(ctx, w.deps.Log, w.deps.Temporal, w.deps.Queue, w.deps.SweepInterval); err != nil {
		return err
	}

	queues := w.newQueues()

	for i, q := range queues {
		if err := q.Start(); err != nil {
			w.stop(queues[:i])

			return fmt.Errorf("start worker: %w", err)
		}
	}

	w.queues = queues

	return nil
}

// Stop lets running activities finish and ends.
func (w *Worker) Stop() {
	w.stop(w.queues)
	w.notifier.stop()
	w.outages.stop()
	w.decided.stop()
	w.money.stop()
	w.withdrawn.stop()

	for _, u := range w.upkeeps {
		u.stop()
	}
}

// stop ends the queues side by side: each waits for what it runs.
func (w *Worker) stop(queues []worker.Worker) {
	var all sync.WaitGroup
	for _, q := range queues {
		all.Go(q.Stop)
	}

	all.Wait()
}
