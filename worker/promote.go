package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
)

// PromoteOptions say how a version of the workers takes over.
type PromoteOptions struct {
	VerifyOptions

	Deployment, BuildID string
	// Ramp is how much of all work it gets first, in percent, and for how long it is watched; 0: everything at once.
	Ramp  float32
	Watch time.Duration
	// Report gets each step in words.
	Report func(format string, args ...any)
}

// ErrNotPromoted says that the version is not the current one: it could not take on what runs, or did not do its work.
var ErrNotPromoted = errors.New("not promoted")

const (
	// callPatience is how long one call of the deployment may take. One was seen to wait for half a minute without an answer.
	callPatience = 15 * time.Second
	// watchEvery is how often the version is looked at while it ramps.
	watchEvery = 2 * time.Second
	// stuckAttempts is from which attempt on a workflow task counts as failing: the first may be lost with its worker.
	stuckAttempts = 3
	// watchedRuns is how many of the workflows that began meanwhile are looked at each time, the newest.
	watchedRuns = 100
)

// Promote makes the version current when its workers poll and, ramping, fail no task. Histories have been replayed before (Verify). When it
// fails, no part of the work is left to a version that is not current; what goes wrong on the version is ErrNotPromoted.
func Promote(ctx context.Context, c client.Client, o PromoteOptions) error {
	d := c.WorkerDeploymentClient().GetHandle(o.Deployment)

	if err := polls(ctx, d, o); err != nil {
		return err
	}

	current, ramping, err := routing(ctx, d)
	if err != nil {
		return err
	}

	if current == o.BuildID && ramping == "" {
		o.Report("%s is current already", o.BuildID)

		return nil
	}

	if current != o.BuildID {
		if err := takeOver(ctx, c, d, o); err != nil {
			return errors.Join(err, endRamp(context.WithoutCancel(ctx), d, o))
		}

		if _, ramping, err = routing(ctx, d); err != nil {
			return err
		}
	}

	if ramping != "" { // of another version: some of the work would still go there
		if err := endRamp(ctx, d, o); err != nil {
			return err
		}
	}

	o.Report("%s is current: all work goes to it", o.BuildID)

	return nil
}

// takeOver makes the version current, after a ramp if there is to be one.
func takeOver(ctx context.Context, c client.Client, d client.WorkerDeploymentHandle, o PromoteOptions) error {
	if o.Ramp > 0 {
		if err := ramp(ctx, d, o.BuildID, o.Ramp); err != nil {
			return fmt.Errorf("ramp %s: %w", o.BuildID, err)
		}

		o.Report("%s gets %v %% of the work for %v", o.BuildID, o.Ramp, o.Watch)

		if err := watch(ctx, c, o); err != nil {
			return err
		}
	}

	err := within(ctx, func(ctx context.Context) error {
		_, err := d.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: o.BuildID})

		return err
	})
	if err != nil {
		return fmt.Errorf("make %s current: %w", o.BuildID, err)
	}

	return nil
}

// polls makes sure that workers of the version are there.
func polls(ctx context.Context, d client.WorkerDeploymentHandle, o PromoteOptions) error {
	var queues int

	err := within(ctx, func(ctx context.Context) error {
		v, err := d.DescribeVersion(ctx, client.WorkerDeploymentDescribeVersionOptions{BuildID: o.BuildID})
		queues = len(v.Info.TaskQueuesInfos)

		return err
	})
	if _, none := errors.AsType[*serviceerror.NotFound](err); none || err == nil && queues == 0 {
		return fmt.Errorf("%w: no worker of %s has polled; start its workers first", ErrNotPromoted, o.BuildID)
	}

	if err != nil {
		return fmt.Errorf("describe %s: %w", o.BuildID, err)
	}

	o.Report("workers of %s poll %d task queues", o.BuildID, queues)

	return nil
}

// routing is the version that gets the work, and the one that gets a part of it; "": workers without versions, and none.
func routing(ctx context.Context, d client.WorkerDeploymentHandle) (current, ramping string, err error) {
	err = within(ctx, func(ctx context.Context) error {
		found, err := d.Describe(ctx, client.WorkerDeploymentDescribeOptions{})
		if v := found.Info.RoutingConfig.CurrentVersion; v != nil {
			current = v.BuildID
		}

		if v := found.Info.RoutingConfig.RampingVersion; v != nil {
			ramping = v.BuildID
		}

		return err
	})
	if err != nil {
		return "", "", fmt.Errorf("describe the deployment: %w", err)
	}

	return current, ramping, nil
}

func ramp(ctx context.Context, d client.WorkerDeploymentHandle, build string, percent float32) error {
	return within(ctx, func(ctx context.Context) error {
		_, err := d.SetRampingVersion(ctx, client.WorkerDeploymentSetRampingVersionOptions{BuildID: build, Percentage: percent})

		return err
	})
}

// endRamp takes the part of the work away from the version that ramps.
func endRamp(ctx context.Context, d client.WorkerDeploymentHandle, o PromoteOptions) error {
	_, ramping, err := routing(ctx, d)
	if err == nil && ramping != "" {
		if err = ramp(ctx, d, "", 0); err == nil {
			o.Report("%s gets no more work", ramping)
		}
	}

	if err != nil {
		return fmt.Errorf("a part of the work may still go to a ramping version; take it away by `temporal worker deployment "+
			"set-ramping-version --delete`: %w", err)
	}

	return nil
}

// watch returns what goes wrong on the version within o.Watch. A workflow counts for it once its first task is done; one whose first task
// fails is found among all that began meanwhile. What waited before has been replayed.
func watch(ctx context.Context, c client.Client, o PromoteOptions) error {
	since := time.Now()
	on := fmt.Sprintf("TemporalWorkerDeploymentVersion = '%s:%s'", o.Deployment, o.BuildID)

	for {
		failed, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
			Namespace: o.Namespace,
			Query:     fmt.Sprintf("%s AND ExecutionStatus = 'Failed' AND CloseTime > '%s'", on, since.UTC().Format(time.RFC3339Nano)),
		})
		if err != nil {
			return fmt.Errorf("count failed workflows: %w", err)
		}

		if n := failed.GetCount(); n > 0 {
			return fmt.Errorf("%w: %d workflows failed on %s", ErrNotPromoted, n, o.BuildID)
		}

		v := o.VerifyOptions
		v.Limit = watchedRuns

		runs, err := listRuns(ctx, c, v, fmt.Sprintf("TaskQueue = '%s' AND ExecutionStatus = 'Running' AND StartTime >= '%s'",
			o.Queue, since.UTC().Format(time.RFC3339Nano)))
		if err != nil {
			return fmt.Errorf("list workflows: %w", err)
		}

		if err := stuck(ctx, c, runs); err != nil {
			return err
		}

		if time.Since(since) >= o.Watch {
			o.Report("no workflow failed; %d that began meanwhile run", len(runs))

			return nil
		}

		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchEvery):
		}
	}
}

// stuck finds a workflow whose task is tried again and again.
func stuck(ctx context.Context, c client.Client, runs []*commonpb.WorkflowExecution) error {
	for _, run := range runs {
		d, err := c.DescribeWorkflow(ctx, run.GetWorkflowId(), run.GetRunId())
		if err != nil {
			return fmt.Errorf("describe %s: %w", run.GetWorkflowId(), err)
		}

		if n := d.RawResponse.GetPendingWorkflowTask().GetAttempt(); n >= stuckAttempts {
			return fmt.Errorf("%w: %s cannot go on, its task is tried for the %d. time", ErrNotPromoted, run.GetWorkflowId(), n)
		}
	}

	return nil
}

// within tries a call again until it is answered, each time for callPatience.
func within(ctx context.Context, call func(context.Context) error) error {
	const tries = 4

	var err error

	for range tries {
		one, cancel := context.WithTimeout(ctx, callPatience)
		err = call(one)

		cancel()

		if _, slow := errors.AsType[*serviceerror.DeadlineExceeded](err); !slow && !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return err
		}
	}

	return err
}
