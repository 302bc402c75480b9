package worker_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"rihla/models"
	"rihla/worker"
	"rihla/workflows"
)

// Schedules of an older version, or with changes that a person made, get today's times, policies and time limits; a pause is kept.
func TestSchedulesOfOldAreBroughtUpToDate(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)

	for _, action := range []*client.ScheduleWorkflowAction{
		{ID: models.SweepScheduleID(h.queue), Workflow: workflows.Sweep, TaskQueue: h.queue},
		{ID: models.AuditScheduleID(h.queue), Workflow: "Audit", TaskQueue: h.queue}, // it had no options once
	} {
		_, err := h.temporal.ScheduleClient().Create(t.Context(), client.ScheduleOptions{
			ID: action.ID, Spec: client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: 24 * time.Hour}}},
			Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL, CatchupWindow: 48 * time.Hour, Paused: true,
			Action: action,
		})
		require.NoError(t, err)
	}

	w := worker.New(worker.Deps{
		Log: slog.Default(), Temporal: h.temporal, Store: h.store, Sender: h.mailbox, Namespace: "default", Queue: h.queue, SweepInterval: time.Minute,
	})
	require.NoError(t, w.Start(t.Context()))
	w.Stop()

	for id, catchUp := range map[string]time.Duration{
		models.SweepScheduleID(h.queue): time.Minute, models.AuditScheduleID(h.queue): 6 * time.Hour,
	} {
		schedule := h.temporal.ScheduleClient().GetHandle(t.Context(), id)
		t.Cleanup(func() { require.NoError(t, schedule.Delete(context.WithoutCancel(t.Context()))) })

		d, err := schedule.Describe(t.Context())
		require.NoError(t, err)
		require.Equal(t, enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, d.Schedule.Policy.Overlap)
		require.Equal(t, catchUp, d.Schedule.Policy.CatchupWindow)
		require.True(t, d.Schedule.State.Paused)

		action, ok := d.Schedule.Action.(*client.ScheduleWorkflowAction)
		require.True(t, ok)
		require.Equal(t, workflows.TaskTimeout, action.WorkflowTaskTimeout)
		require.False(t, len(d.Schedule.Spec.Intervals) == 1 && d.Schedule.Spec.Intervals[0].Every == 24*time.Hour)
	}
}
