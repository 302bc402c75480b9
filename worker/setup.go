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

// schedule is what a schedule of ours is to be. Its id is that of its workflows. catchUp is how late a missed run may start: the
// default of a year would run every missed one after an outage.
type schedule struct {
	spec    client.ScheduleSpec
	catchUp time.Duration
	action  *client.ScheduleWorkflowAction
}

// schedules are those of a task queue: the sweep's and the audit's. Without an interval for sweeps there are none.
func schedules(queue string, sweep time.Duration) []schedule {
	if sweep == 0 {
		return nil
	}

	nightly := client.ScheduleCalendarSpec{
		Hour: []client.ScheduleRange{{Start: auditHour}}, Minute: []client.ScheduleRange{{Start: auditMinute}},
	}

	return []schedule{
		{client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: sweep}}}, time.Minute, &client.ScheduleWorkflowAction{
			ID: models.SweepScheduleID(queue), Workflow: workflows.Sweep, TaskQueue: queue, StaticSummary: "Sweep: resume unprocessed work",
			WorkflowTaskTimeout: workflows.TaskTimeout,
		}},
		{client.ScheduleSpec{Calendars: []client.ScheduleCalendarSpec{nightly}}, 6 * time.Hour, &client.ScheduleWorkflowAction{
			ID: models.AuditScheduleID(queue), Workflow: workflows.Audit, Args: []any{workflows.AuditOptions{}}, TaskQueue: queue,
			StaticSummary: "Audit: recompute the books from their proofs", WorkflowTaskTimeout: workflows.TaskTimeout,
		}},
	}
}

// ensureSchedules creates the schedules, or gives existing ones their present times and policies.
func ensureSchedules(ctx context.Context, log *slog.Logger, c client.Client, queue string, sweep time.Duration) error {
	for _, s := range schedules(queue, sweep) {
		created, err := s.create(ctx, c)
		if err == nil && !created {
			err = s.update(ctx, log, c)
		}

		if err != nil {
			return fmt.Errorf("keep schedule: %w", err)
		}
	}

	return nil
}

// restoreSchedules makes schedules again that are missing, and returns how many were. Others are not touched: an operator may have
// paused or changed one.
func restoreSchedules(
	ctx context.Context, log *slog.Logger, c client.Client, queue string, sweep time.Duration,
) (restored int64, err error) {
	for _, s := range schedules(queue, sweep) {
		created, err := s.create(ctx, c)
		if err != nil {
			return restored, fmt.Errorf("restore schedule: %w", err)
		}

		if created {
			restored++

			log.WarnContext(ctx, "schedule was missing and is made again; to stop it, pause it", "schedule", s.action.ID)
		}
	}

	return restored, nil
}

func (s schedule) policies() client.SchedulePolicies {
	return client.SchedulePolicies{Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, CatchupWindow: s.catchUp}
}

// create makes the schedule, and reports whether there was none.
func (s schedule) create(ctx context.Context, c client.Client) (bool, error) {
	p := s.policies()

	_, err := c.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID: s.action.ID, Spec: s.spec, Overlap: p.Overlap, CatchupWindow: p.CatchupWindow, Action: s.action,
	})
	if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return false, nil
	}

	return err == nil, err
}

// update gives a schedule that exists today's times, policies and action. It stays paused if an operator has paused it.
func (s schedule) update(ctx context.Context, log *slog.Logger, c client.Client) error {
	policies := s.policies()

	err := c.ScheduleClient().GetHandle(ctx, s.action.ID).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			current := &in.Description.Schedule
			current.Spec, current.Policy, current.Action = &s.spec, &policies, s.action // encrypted with the key of today

			return &client.ScheduleUpdate{Schedule: current}, nil
		},
	})
	if errors.Is(err, codec.ErrMissingKey) || errors.Is(err, codec.ErrNotEncrypted) {
		log.WarnContext(ctx, "schedule not updated: its payload cannot be decrypted", "schedule", s.action.ID, "error", err)

		return nil
	}

	return err
}
