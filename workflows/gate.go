package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
)

// gateAtMost bounds all tries together: Temporal's worker controller gives a gate an hour.
const gateAtMost = 55 * time.Minute

// Gate is what Temporal's worker controller starts on a version before it gets a part of the work (docs/upgrading.md). It replays running
// and recent workflows with the build of that version, and fails when that cannot take one on. It takes no input: the controller would send
// it in plain text, which a worker with keys refuses.
func Gate(ctx workflow.Context) (activities.Gated, error) {
	var out activities.Gated

	actx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToCloseTimeout: gateAtMost,
		HeartbeatTimeout:       heartbeatTimeout,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute},
		Summary:                "Replay running and recent workflows with this build",
	})

	if err := workflow.ExecuteActivity(actx, gate.ReplayHistories).Get(ctx, &out); err != nil {
		setDetails(ctx, "This build cannot take over. `rihla worker verify` of the same build says why.")

		return out, err
	}

	setDetails(ctx, fmt.Sprintf("%d workflows replay.", out.Replayed))

	return out, nil
}
