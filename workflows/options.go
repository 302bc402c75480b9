// Package workflows holds the business processes: a payment attempt, a refund, a campaign, the sweep and the outbox.
// Its code is deterministic and reads like the process; what touches the world is in activities.
package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
	"rihla/models"
)

// The activities, named through nil pointers: only their method names are used.
var (
	payments *activities.Payments
	outbox   *activities.Outbox
	sweeper  *activities.Sweep
	auditor  *activities.Audit
	poller   *activities.Polls
	gate     *activities.Gate
)

// Activities may run for as long as their own time limits allow, and no longer, so that the work of a worker that was
// killed is taken up again soon.
const (
	databaseTimeout = 5 * time.Second
	// databaseAtMost bounds all tries of a database step together. It has to be said: a local activity without it gives
	// up when StartToClose is over, tries and all, and a database that restarts takes longer than that. A day of tries
	// is a third of what a history may hold; after it the workflow fails, and the sweep goes on.
	databaseAtMost = 24 * time.Hour
	// gatewayTimeout bounds an activity that calls a gateway: up to three requests of at most 4 s, and the database.
	gatewayTimeout = 15 * time.Second
	// firstTryTimeout bounds the first try of a checkout. With the retries of the workflow task itself it stays below the time after
	// which the SDK would keep a task alive that waits for a local activity (0.8 of TaskTimeout), which costs events.
	firstTryTimeout = 1800 * time.Millisecond
	// heartbeatTimeout is after how long without a sign of life an activity that calls no gateway is given to another worker.
	heartbeatTimeout = 3 * time.Second
	// gatewayHeartbeat is the same for one that does. It is longer than the longest request (4 s) and the time between two
	// heartbeats (HeartbeatEvery) together, so that the request of a worker that was killed or has lost the orchestrator is over
	// before another worker sends the same.
	gatewayHeartbeat = 8 * time.Second
	// HeartbeatEvery is how often a worker passes heartbeats on; without it the SDK would wait for 0.8 of the timeout.
	HeartbeatEvery = 2 * time.Second
)

// moneyRetry retries for as long as it takes: money is on its way.
func moneyRetry() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second,
	}
}

// withDatabase is for the short steps that only touch the database. They run as local activities: one history event
// each instead of six (docs/decisions/0001).
func withDatabase(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout:    databaseTimeout,
		ScheduleToCloseTimeout: databaseAtMost,
		RetryPolicy:            moneyRetry(),
		Summary:                summary,
	})
}

// withFirstTry is for the first try of a call to a gateway, as a local activity: one event instead of six, and no task of its own.
// There is no second one.
func withFirstTry(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout:    firstTryTimeout,
		ScheduleToCloseTimeout: firstTryTimeout,
		RetryPolicy:            &temporal.RetryPolicy{MaximumAttempts: 1},
		Summary:                summary,
	})
}

// DefaultQueue is the task queue of the workflows unless TEMPORAL_TASK_QUEUE says otherwise.
const DefaultQueue = "payments"

// GatewayQueue is the task queue for calls to one gateway. Each has slots of its own, so that a gateway which is slow
// holds up no other gateway.
func GatewayQueue(queue string, gateway models.Gateway) string {
	name := "gateway-" + string(gateway)
	if queue != DefaultQueue {
		name += "@" + queue
	}

	return name
}

// TripsQueue is the task queue on which bookings of trips that are called off are cancelled. Its tasks are handed out at a bounded rate,
// over all trips and workers, so that the refunds of a day's trips hold up no payment (docs/decisions/0099).
func TripsQueue(queue string) string {
	name := "trips"
	if queue != DefaultQueue {
		name += "@" + queue
	}

	return name
}

// withPace is for the steps of TripsQueue.
func withPace(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              TripsQueue(workflow.GetInfo(ctx).TaskQueueName),
		StartToCloseTimeout:    databaseTimeout,
		ScheduleToCloseTimeout: databaseAtMost,
		RetryPolicy:            moneyRetry(),
		Summary:                summary,
	})
}

// withGateway is for calls to a gateway: regular activities, so that operators see every try. atMost bounds all tries
// together; zero means no bound.
func withGateway(ctx workflow.Context, gateway models.Gateway, summary string, atMost time.Duration) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              GatewayQueue(workflow.GetInfo(ctx).TaskQueueName, gateway),
		StartToCloseTimeout:    gatewayTimeout,
		HeartbeatTimeout:       gatewayHeartbeat,
		ScheduleToCloseTimeout: atMost,
		RetryPolicy:            moneyRetry(),
		Summary:                summary,
	})
}

// The search attributes by which operators find workflows. They are plain text for ever: ids and
// states only.
var (
	attrPaymentStatus = temporal.NewSearchAttributeKeyKeyword("PaymentStatus")
	attrGateway       = temporal.NewSearchAttributeKeyKeyword("Gateway")
	attrBookingID     = temporal.NewSearchAttributeKeyKeyword("BookingId")
	attrProviderID    = temporal.NewSearchAttributeKeyKeyword("ProviderId")
	attrNeedsReview   = temporal.NewSearchAttributeKeyBool("NeedsReview")
)

// SearchAttributes are the names and whether each is a keyword (else a bool), for setting up a namespace.
func SearchAttributes() map[string]bool {
	return map[string]bool{
		attrPaymentStatus.GetName(): true, attrGateway.GetName(): true, attrBookingID.GetName(): true,
		attrProviderID.GetName(): true, attrNeedsReview.GetName(): false,
	}
}
