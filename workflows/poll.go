package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
	"rihla/models"
)

// A poll goes in rounds, and ends after some of them so that its history stays short: while the channel stays silent, the
// sweep starts the next one; while questions are left it goes on in a new run.
const (
	pollRounds  = 30
	pollPause   = 5 * time.Second  // from the begin of a round to the next, while questions are left
	pollSoon    = time.Second      // from its end
	pollTimeout = 20 * time.Second // of one round, which asks for 9 s and then waits for what it has asked
)

// PollStatus asks the gateway how the open attempts of a channel stand, for as long as no webhooks come on it, and whether it
// has taken money for those that have ended and whose turn it is, until there are none. It settles nothing: what the gateway says is
// stored, and handed over as a webhook is.
func PollStatus(ctx workflow.Context, c models.Channel) (activities.Polled, error) {
	var (
		total    activities.Polled
		unpaused bool // and goes on for as long as questions are left
	)

	for range pollRounds {
		began := workflow.Now(ctx)

		round, err := pollRound(ctx, c)
		if err != nil {
			return total, err // the sweep will be back
		}

		total = activities.Polled{Silent: round.Silent, Asked: total.Asked + round.Asked, News: total.News + round.News, More: round.More}

		pause := pollPause

		switch {
		case round.More && continuesWhilePollsDue(ctx):
			// A round that has asked for all of its time is followed by the next one soon; one whose turns were used up waits for more.
			pause = max(pollSoon, pollPause-workflow.Now(ctx).Sub(began))
			if unpaused = pollsAtTheGatewaysRate(ctx); unpaused && pause == pollSoon {
				pause = 0 // the gateway's guard says how fast it goes
			}

			setDetails(ctx, fmt.Sprintf("Polling %s: more attempts are due. %s", c, addPolled(total)))
		case round.Silent:
			setDetails(ctx, fmt.Sprintf("Polling %s: no webhooks although customers are waiting. %s", c, addPolled(total)))
		default:
			setDetails(ctx, fmt.Sprintf("Polling of %s done: webhooks arrive, or no attempt is open. %s", c, addPolled(total)))

			return total, nil
		}

		if pause == 0 {
			continue
		}

		if err := workflow.NewTimerWithOptions(ctx, pause, workflow.TimerOptions{Summary: "Until the next poll"}).Get(ctx, nil); err != nil {
			return total, err
		}
	}

	if total.More && unpaused {
		return total, workflow.NewContinueAsNewError(ctx, PollStatus, c)
	}

	return total, nil
}

func addPolled(p activities.Polled) string {
	return fmt.Sprintf("%d answers, %d with a new state.", p.Asked, p.News)
}

func pollRound(ctx workflow.Context, c models.Channel) (activities.Polled, error) {
	var out activities.Polled

	actx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              GatewayQueue(workflow.GetInfo(ctx).TaskQueueName, c.Gateway()),
		StartToCloseTimeout:    pollTimeout,
		HeartbeatTimeout:       heartbeatTimeout,
		ScheduleToCloseTimeout: 2 * pollTimeout,
		RetryPolicy:            &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2},
		Summary:                "Poll attempts whose webhooks may be lost",
	})
	err := workflow.ExecuteActivity(actx, poller.PollStatus, c).Get(ctx, &out)

	return out, err
}
