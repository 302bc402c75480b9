package workflows_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
	"rihla/workflows"
)

func TestOutboxDeliversUntilThereAreNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.OnActivity(posts.DeliverNotifications, mock.Anything).Return(activities.Delivered{Sent: 50, More: true}, nil).Times(2)
	w.OnActivity(posts.DeliverNotifications, mock.Anything).Return(activities.Delivered{Sent: 7, Failed: 2}, nil).Once()

	w.ExecuteWorkflow(workflows.Outbox)
	require.Equal(t, activities.Delivered{Sent: 107, Failed: 2}, requireDone[activities.Delivered](w))
	require.WithinDuration(t, began.Add(2*time.Second), w.Now(), time.Second, "then it waits a little for more")
}

func TestOutboxIsWoken(t *testing.T) {
	t.Parallel()

	wake := func(w *world) { w.SignalWorkflow(workflows.SignalWake, nil) }

	t.Run("while it is idle", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.OnActivity(posts.DeliverNotifications, mock.Anything).Return(activities.Delivered{Sent: 2}, nil).Times(3)
		w.at(time.Second, func() {
			w.SignalWorkflowSkippingWorkflowTask(workflows.SignalWake, nil)
			wake(w)
		})
		w.at(2500*time.Millisecond, func() { wake(w) })

		w.ExecuteWorkflow(workflows.Outbox)
		require.Equal(t, 6, requireDone[activities.Delivered](w).Sent)
	})

	t.Run("while it delivers", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.OnActivity(posts.DeliverNotifications, mock.Anything).Return(func(context.Context) (activities.Delivered, error) {
			wake(w)

			return activities.Delivered{Sent: 2}, nil
		}).Once()
		w.OnActivity(posts.DeliverNotifications, mock.Anything).Return(activities.Delivered{Sent: 1}, nil).Once()

		w.ExecuteWorkflow(workflows.Outbox)
		require.Equal(t, 3, requireDone[activities.Delivered](w).Sent, "what was queued meanwhile may have missed the batch")
	})

	t.Run("too late", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.OnActivity(posts.DeliverNotifications, mock.Anything).Return(activities.Delivered{Sent: 2}, nil).Once()
		w.at(3*time.Second, func() { t.Error("it should have ended") })

		w.ExecuteWorkflow(workflows.Outbox)
		require.Equal(t, 2, requireDone[activities.Delivered](w).Sent)
	})
}

// A backlog is shared by several deliverers until it is gone.
func TestOutboxSplitsABacklog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)

	var mu sync.Mutex // the parts of a round are delivered side by side

	calls, parts := 0, map[activities.Part]int{}

	w.OnActivity(posts.DeliverNotifications, mock.Anything).Return(activities.Delivered{Sent: 100, More: true, Split: 4}, nil).Once()
	w.OnActivity(posts.DeliverPart, mock.Anything, mock.Anything).Return(func(_ context.Context, p activities.Part) (activities.Delivered, error) {
		mu.Lock()
		defer mu.Unlock()

		parts[p]++

		if calls++; calls == 8 { // it wakes one deliverer, not four
			w.SignalWorkflow(workflows.SignalWake, nil)
		}

		return activities.Delivered{Sent: 10, Failed: 1, More: parts[p] == 1 && p.Index == 2}, nil
	})

	w.OnActivity(posts.DeliverNotifications, mock.Anything).Return(activities.Delivered{Sent: 1}, nil).Once()

	w.ExecuteWorkflow(workflows.Outbox)
	require.Equal(t, activities.Delivered{Sent: 181, Failed: 8}, requireDone[activities.Delivered](w))
	require.Equal(t, map[activities.Part]int{{Index: 0, Of: 4}: 2, {Index: 1, Of: 4}: 2, {Index: 2, Of: 4}: 2, {Index: 3, Of: 4}: 2}, parts)
}

func TestOutboxContinuesAsNew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.OnActivity(posts.DeliverNotifications, mock.Anything).Return(activities.Delivered{Sent: 50, More: true}, nil).Times(100)

	w.ExecuteWorkflow(workflows.Outbox)
	require.True(t, w.IsWorkflowCompleted())

	_, again := errors.AsType[*workflow.ContinueAsNewError](w.GetWorkflowError())
	require.True(t, again, "a history has an end")
}

func TestOutboxWithoutADatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.OnActivity(posts.DeliverNotifications, mock.Anything).Return(activities.Delivered{}, errDown).Times(10)

	w.ExecuteWorkflow(workflows.Outbox)
	require.True(t, w.IsWorkflowCompleted())
	require.ErrorContains(t, w.GetWorkflowError(), errDown.Error(), "the sweep wakes it again")
}

func TestSweep(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	swept := activities.Swept{Events: 3, Holds: 1}
	w.OnActivity(sweep.Run, mock.Anything).Return(activities.Swept{}, errDown).Once()
	w.OnActivity(sweep.Run, mock.Anything).Return(swept, nil).Once()
	w.ExecuteWorkflow(workflows.Sweep)
	require.Equal(t, swept, requireDone[activities.Swept](w))

	w = newWorld(t)
	w.OnActivity(sweep.Run, mock.Anything).Return(activities.Swept{}, errDown)
	w.ExecuteWorkflow(workflows.Sweep)
	require.Error(t, w.GetWorkflowError())
	require.False(t, w.Now().After(began.Add(20*time.Second)), "the next tick tries again")
}
