// Package worker says what runs on which task queue, with which limits, and keeps the Temporal Schedules.
package worker

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"rihla/activities"
	"rihla/gateways"
	"rihla/internal/notify"
	"rihla/internal/store"
	"rihla/models"
	"rihla/workflows"
)

// Deps are what the activities work with.
type Deps struct {
	Temporal      client.Client
	Store         *store.Store
	Gateways      map[models.PaymentProvider]gateways.Gateway
	Sender        notify.Sender
	Namespace     string        // of Temporal
	Queue         string        // task queue
	SweepInterval time.Duration // of the safety net; 0 means no schedule
	Concurrency   int           // activities side by side; at most the database pool; default 16
	Now           func() time.Time
	// Settled is told of every payment attempt that has moved to a state; may be nil.
	Settled func(models.TransactionStatus, models.PaymentProvider)
}

// Worker serves one task queue.
type Worker struct {
	inner worker.Worker
	pump  *pump
	deps  Deps
}

// New wires the activities and registers everything. It does not poll yet.
func New(d Deps) *Worker {
	if d.Now == nil {
		d.Now = time.Now
	}

	if d.Concurrency == 0 {
		d.Concurrency = 16
	}

	door := workflows.NewClient(d.Temporal, d.Queue)
	w := &Worker{pump: newPump(door.WakeOutbox), deps: d}
	w.inner = worker.New(d.Temporal, d.Queue, worker.Options{
		MaxConcurrentActivityExecutionSize:      d.Concurrency,
		MaxConcurrentLocalActivityExecutionSize: d.Concurrency,
		WorkflowTaskPollerBehavior:              worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		ActivityTaskPollerBehavior:              worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		// How long a workflow task waits for the worker that has the workflow in memory, should that one be dead.
		StickyScheduleToStartTimeout: 2 * time.Second,
		WorkerStopTimeout:            10 * time.Second,
	})

	Register(w.inner, &activities.Payments{Store: d.Store, Gateways: d.Gateways, Now: d.Now, Queued: w.pump.Poke, Settled: d.Settled},
		&activities.Outbox{Store: d.Store, Sender: d.Sender, Now: d.Now},
		&activities.Sweep{Store: d.Store, Deliver: door, Now: d.Now})

	return w
}

// Register enters every workflow and activity of the service.
func Register(r worker.Registry, p *activities.Payments, o *activities.Outbox, s *activities.Sweep) {
	workflows.Register(r)

	r.RegisterActivity(p)
	r.RegisterActivity(o)
	r.RegisterActivity(s)
}

// Start prepares the namespace and the schedule, and begins to poll.
func (w *Worker) Start(ctx context.Context) error {
	if err := ensureSearchAttributes(ctx, w.deps.Temporal, w.deps.Namespace); err != nil {
		return err
	}

	if err := w.inner.Start(); err != nil {
		return fmt.Errorf("start worker: %w", err)
	}

	if err := ensureSweep(ctx, w.deps.Temporal, w.deps.Queue, w.deps.SweepInterval); err != nil {
		w.inner.Stop()
		return err
	}

	w.pump.start()
	slog.InfoContext(ctx, "worker polls", "queue", w.deps.Queue)

	return nil
}

// Stop lets running activities finish and ends.
func (w *Worker) Stop() {
	w.inner.Stop()
	w.pump.stop()
}
