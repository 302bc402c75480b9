package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
)

// SignalWake tells the outbox that there is something to deliver.
const SignalWake = "wake"

const (
	// outboxIdle is how long the outbox waits for more before it ends: a burst of payments costs one workflow.
	outboxIdle = 2 * time.Second
	// outboxRetry is as long as a batch belongs to its deliverer: when that was killed, the next one finds it free. Sooner it
	// would find nothing, and the rest would wait for the sweep.
	outboxRetry = 3 * time.Second
	// outboxBatches bounds one run's history.
	outboxBatches = 100
)

// Outbox delivers queued notifications in batches until there are none. Payments only queue; that is why a payment's
// history does not grow by the customer's messages (docs/decisions/0001).
func Outbox(ctx workflow.Context) (activities.Delivered, error) {
	var total activities.Delivered

	wake := workflow.GetSignalChannel(ctx, SignalWake)
	actx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		HeartbeatTimeout:    heartbeatTimeout,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: outboxRetry, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second, MaximumAttempts: 10,
		},
		Summary: "Send one batch of notifications",
	})

	for range outboxBatches {
		drain(wake)

		var batch activities.Delivered
		if err := workflow.ExecuteActivity(actx, outbox.DeliverNotifications).Get(ctx, &batch); err != nil {
			return total, err
		}

		total.Sent += batch.Sent
		total.Failed += batch.Failed
		setDetails(ctx, fmt.Sprintf("%d sent, %d put back.", total.Sent, total.Failed))

		if batch.More {
			continue
		}

		woken, err := workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
			Timeout: outboxIdle, TimerOptions: workflow.TimerOptions{Summary: "Wait for more messages"},
		}, func() bool { return wake.Len() > 0 })
		if err != nil || !woken {
			return total, err
		}
	}

	return total, workflow.NewContinueAsNewError(ctx, Outbox)
}
