package workflows_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
	"rihla/models"
	"rihla/workflows"
)

func (w *world) polls(t *testing.T) activities.Polled {
	t.Helper()
	w.RegisterActivity(polls)
	w.ExecuteWorkflow(workflows.PollStatus, models.ChannelWalletB)

	return requireDone[activities.Polled](w)
}

var polls = &activities.Polls{}

func TestPollStatusEndsWithTheSilence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.OnActivity(polls.PollStatus, mock.Anything, models.ChannelWalletB).Return(activities.Polled{Silent: true, Asked: 5, News: 1}, nil).Times(2)
	w.OnActivity(polls.PollStatus, mock.Anything, models.ChannelWalletB).Return(activities.Polled{}, nil).Once()

	require.Equal(t, activities.Polled{Asked: 10, News: 2}, w.polls(t))
	require.WithinDuration(t, began.Add(10*time.Second), w.Now(), time.Second)
}

// Questions that are left are asked in the next round, and not after the next sweep.
func TestPollStatusGoesOnWhileQuestionsAreLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.OnActivity(polls.PollStatus, mock.Anything, models.ChannelWalletB).Return(activities.Polled{Asked: 200, More: true}, nil).Times(3)
	w.OnActivity(polls.PollStatus, mock.Anything, models.ChannelWalletB).Return(activities.Polled{Asked: 7}, nil).Once()

	require.Equal(t, activities.Polled{Asked: 607}, w.polls(t))
	require.WithinDuration(t, began.Add(15*time.Second), w.Now(), time.Second, "the rounds of the test take no time")
}

// Rounds that ask for all of their time follow each other at once, and in a new run when there were many.
func TestPollStatusWorksABacklogOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.RegisterActivity(polls)
	w.OnActivity(polls.PollStatus, mock.Anything, models.ChannelWalletB).After(9*time.Second).
		Return(activities.Polled{Asked: 900, More: true}, nil).Times(30)
	w.ExecuteWorkflow(workflows.PollStatus, models.ChannelWalletB)
	require.True(t, w.IsWorkflowCompleted())

	_, again := errors.AsType[*workflow.ContinueAsNewError](w.GetWorkflowError())
	require.True(t, again)
	require.WithinDuration(t, began.Add(270*time.Second), w.Now(), 2*time.Second)
}

func TestPollStatusStaysShort(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.OnActivity(polls.PollStatus, mock.Anything, models.ChannelWalletB).Return(activities.Polled{Silent: true}, nil).Times(30)

	require.Equal(t, activities.Polled{Silent: true}, w.polls(t), "the sweep starts the next one")
	require.WithinDuration(t, began.Add(150*time.Second), w.Now(), time.Second)
}

func TestPollStatusWithoutADatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.RegisterActivity(polls)
	w.OnActivity(polls.PollStatus, mock.Anything, models.ChannelWalletB).Return(activities.Polled{}, errDown)
	w.ExecuteWorkflow(workflows.PollStatus, models.ChannelWalletB)

	require.True(t, w.IsWorkflowCompleted())
	require.Error(t, w.GetWorkflowError(), "it does not try for ever: the sweep will be back")
}
