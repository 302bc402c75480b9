package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"rihla/activities"
)

// Sweep runs once per tick of its Temporal Schedule and gives what a crash left behind back to its owner.
func Sweep(ctx workflow.Context) (activities.Swept, error) {
	var out activities.Swept

	actx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout:    10 * time.Second,
		HeartbeatTimeout:       heartbeatTimeout,
		ScheduleToCloseTimeout: 15 * time.Second, // the next tick tries again
		Summary:                "Resume unprocessed events, payments, refunds and holds",
	})

	err := workflow.ExecuteActivity(actx, sweeper.Run).Get(ctx, &out)
	if err == nil {
		setDetails(ctx, fmt.Sprintf("Resumed: %d events, %d payments, %d refunds, %d campaigns. %d unpaid bookings were released.",
			out.Events, out.Payments, out.Refunds, out.Campaigns, out.Holds))
	}

	return out, err
}
