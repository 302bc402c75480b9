package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
)

// heartbeatInterval is well below the heartbeat timeout that workflows give to gateway calls.
const heartbeatInterval = time.Second

// heartbeat tells the orchestrator that the activity still runs, until stop is called: when its worker is killed, another
// one takes over after the heartbeat timeout instead of the far longer time limit of slow gateway calls.
func heartbeat(ctx context.Context) (stop func()) {
	if !activity.IsActivity(ctx) {
		return func() {}
	}

	ctx, stop = context.WithCancel(ctx)

	go func() {
		tick := time.NewTicker(heartbeatInterval)
		defer tick.Stop()

		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				activity.RecordHeartbeat(ctx)
			}
		}
	}()

	return stop
}
