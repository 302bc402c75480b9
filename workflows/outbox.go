package workflows

import (
	"errors"
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
	// outboxRetry is as long as addresses belong to their deliverer: when that was killed, the next one finds them free.
	outboxRetry = 3 * time.Second
	// outboxBatches bounds one run's history: activities.
	outboxBatches = 100
)

// Outbox delivers queued notifications until there are none. When one deliverer has not sent all in its time, several share what is
// left. Payments only queue; that is why a payment's history does not grow by the customer's messages (docs/decisions/0001).
func Outbox(ctx workflow.Context) (activities.Delivered, error) {
	var total activities.Delivered

	wake := workflow.GetSignalChannel(ctx, SignalWake)
	actx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		HeartbeatTimeout:    heartbeatTimeout,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: outboxRetry, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second, MaximumAttempts: 10,
		},
		Summary: "Send notifications",
	})

	for parts, round := 1, 0; round < outboxBatches; round += parts {
		drain(wake)

		batch, err := deliverParts(actx, parts)
		if err != nil {
			return total, err
		}

		total.Sent += batch.Sent
		total.Failed += batch.Failed
		setDetails(ctx, fmt.Sprintf("%d sent, %d put back.", total.Sent, total.Failed))

		if batch.More {
			if batch.Split > 1 && splitsBacklogs(ctx) {
				parts = batch.Split
			}

			continue
		}

		parts = 1

		woken, err := workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
			Timeout: outboxIdle, TimerOptions: workflow.TimerOptions{Summary: "Wait for more messages"},
		}, func() bool { return wake.Len() > 0 })
		if err != nil || !woken {
			return total, err
		}
	}

	return total, workflow.NewContinueAsNewError(ctx, Outbox)
}

// deliverParts has one deliverer send what is due, or several of them side by side, on whichever workers: each a part of the addresses.
func deliverParts(ctx workflow.Context, parts int) (sum activities.Delivered, err error) {
	if parts == 1 {
		err = workflow.ExecuteActivity(ctx, outbox.DeliverNotifications).Get(ctx, &sum)

		return sum, err
	}

	all := make([]workflow.Future, parts)
	for i := range all {
		all[i] = workflow.ExecuteActivity(ctx, outbox.DeliverPart, activities.Part{Index: i, Of: parts})
	}

	var failed []error

	for _, one := range all {
		var part activities.Delivered

		failed = append(failed, one.Get(ctx, &part))
		sum.Sent += part.Sent
		sum.Failed += part.Failed
		sum.More = sum.More || part.More
	}

	return sum, errors.Join(failed...)
}
