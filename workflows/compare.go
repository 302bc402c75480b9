package workflows

import (
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"rihla/models"
)

// Comparison asks for what a gateway has given back of a payment.
type Comparison struct {
	TransactionID uuid.UUID      `json:"transaction_id"`
	Gateway       models.Gateway `json:"gateway"`
}

// compareAtMost bounds all tries of a comparison: a request waits for it, and before a refund is sent it is made again.
const compareAtMost = 20 * time.Second

// Compare asks the gateway what it has given back of a payment, and keeps what differs from our books (rules: refunds.outside). It is
// started before a refund is shown or ordered.
func Compare(ctx workflow.Context, c Comparison) error {
	setDetails(ctx, "Asking "+string(c.Gateway)+" what it has given back of payment "+c.TransactionID.String()+".")

	actx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              GatewayQueue(workflow.GetInfo(ctx).TaskQueueName, c.Gateway),
		StartToCloseTimeout:    gatewayTimeout,
		HeartbeatTimeout:       gatewayHeartbeat,
		ScheduleToCloseTimeout: compareAtMost,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: 500 * time.Millisecond, BackoffCoefficient: 2},
		Summary:                "Compare what went back with " + string(c.Gateway),
	})

	if err := workflow.ExecuteActivity(actx, payments.ComparePayment, c.TransactionID).Get(ctx, nil); err != nil {
		setDetails(ctx, string(c.Gateway)+" did not say what it has given back. It is asked again before the refund is sent.")

		return err
	}

	setDetails(ctx, "Compared: what differs from the books is in the incident OUTSIDE_REFUND of the payment.")

	return nil
}
