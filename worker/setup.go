package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"rihla/internal/codec"
	"rihla/models"
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

// auditHour and auditMinute are 03:30 in Riyadh, in UTC: the quietest time of the day.
const auditHour, auditMinute = 0, 30

// ensureSchedules creates the schedules, or gives existing ones their present times and policies.
func ensureSchedules(ctx context.Context, log *slog.Logger, c client.Client, queue string, sweep time.Duration) error {
	if sweep == 0 {
		return nil
	}

	err := ensureSchedule(ctx, log, c, client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: sweep}}}, time.Minute,
		&client.ScheduleWorkflowAction{
			ID: models.SweepScheduleID(queue), Workflow: workflows.Sweep, TaskQueue: queue, StaticSummary: "Sweep: resume unprocessed work",
		})
	if err != nil {
		return err
	}

	nightly := client.ScheduleSpec{Calendars: []client.ScheduleCalendarSpec{{
		Hour: []client.ScheduleRange{{Start: auditHour}}, Minute: []client.ScheduleRange{{Start: auditMinute}},
	}}}

	return ensureSchedule(ctx, log, c, nightly, 6*time.Hour, &client.ScheduleWorkflowAction{
		ID: models.AuditScheduleID(queue), Workflow: workflows.Audit, Args: []any{workflows.AuditOptions{}}, TaskQueue: queue,
		StaticSummary: "Audit: recompute the books from their proofs",
	})
}

// ensureSchedule creates one schedule under the id of its workflows. catchUp is how late a missed run may start: the
// default of a year would run every missed one after an outage. One that exists gets today's times, policies and action,
// and stays paused if an operator has paused it.
func ensureSchedule(
	ctx context.Context, log *slog.Logger, c client.Client,
	spec client.ScheduleSpec, catchUp time.Duration, action *client.ScheduleWorkflowAction,
) error {
	action.WorkflowTaskTimeout = workflows.TaskTimeout
	policies := client.SchedulePolicies{Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: catchUp}

	_, err := c.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: action.ID, Spec: spec, Overlap: policies.Overlap, CatchupWindow: policies.CatchupWindow, Action: action,
	})
	if !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return wrapSchedule(err)
	}

	err = c.ScheduleClient().GetHandle(ctx, action.ID).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			s := &in.Description.Schedule
			s.Spec, s.Policy, s.Action = &spec, &policies, action // encrypted with the key of today

			return &client.ScheduleUpdate{Schedule: s}, nil
		},
	})
	if errors.Is(err, codec.ErrMissingKey) || errors.Is(err, codec.ErrNotEncrypted) {
		log.WarnContext(ctx, "schedule not updated: its payload cannot be decrypted", "schedule", action.ID, "error", err)

		return nil
	}

	return wrapSchedule(err)
}

func wrapSchedule(err error) error {
	if err == nil {
		return nil
	}

	return fmt.Errorf("keep schedule: %w", err)
}
