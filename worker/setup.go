package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"rihla/workflows"
)

// ensureSearchAttributes adds what the workflows set to the namespace. A cluster that does not let this process do
// that (Temporal Cloud, a restricted role) must have them already; starting a workflow says so otherwise.
func ensureSearchAttributes(ctx context.Context, c client.Client, namespace string) error {
	missing := map[string]enumspb.IndexedValueType{}

	known, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return skipDenied(err)
	}

	for name, keyword := range workflows.SearchAttributes() {
		if _, ok := known.GetCustomAttributes()[name]; ok {
			continue
		}

		missing[name] = enumspb.INDEXED_VALUE_TYPE_BOOL
		if keyword {
			missing[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
		}
	}

	if len(missing) == 0 {
		return nil
	}

	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: missing,
	})
	if _, ok := errors.AsType[*serviceerror.AlreadyExists](err); ok {
		return nil // another worker was faster
	}

	return skipDenied(err)
}

func skipDenied(err error) error {
	if _, ok := errors.AsType[*serviceerror.PermissionDenied](err); ok || err == nil {
		return nil
	}

	return fmt.Errorf("prepare search attributes: %w", err)
}

// isAway tells an orchestrator that cannot be reached from one that refuses.
func isAway(err error) bool {
	if _, ok := errors.AsType[*serviceerror.Unavailable](err); ok {
		return true
	}

	_, ok := errors.AsType[*serviceerror.DeadlineExceeded](err)

	return ok
}

// SweepScheduleID is the id of the sweep's schedule; one per task queue.
func SweepScheduleID(queue string) string { return "sweep/" + queue }

// ensureSweep creates the schedule, or gives an existing one the present interval.
func ensureSweep(ctx context.Context, c client.Client, queue string, every time.Duration) error {
	if every == 0 {
		return nil
	}

	spec := client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: every}}}
	id := SweepScheduleID(queue)

	_, err := c.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: id, Spec: spec,
		Overlap:       enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		CatchupWindow: time.Minute, // the default of a year would run every missed sweep after an outage
		Action: &client.ScheduleWorkflowAction{
			ID: id, Workflow: workflows.Sweep, TaskQueue: queue, StaticSummary: "Sweep: nothing is left behind",
		},
	})
	if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return wrapSchedule(err)
	}

	err = c.ScheduleClient().GetHandle(ctx, id).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			in.Description.Schedule.Spec = &spec

			return &client.ScheduleUpdate{Schedule: &in.Description.Schedule}, nil
		},
	})

	return wrapSchedule(err)
}

func wrapSchedule(err error) error {
	if err == nil {
		return nil
	}

	return fmt.Errorf("keep sweep schedule: %w", err)
}
