package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"rihla/models"
	"rihla/workflows"
)

// waitingRequest stands as the database has it at each look: the last of states stays.
func waitingRequest(t *testing.T, departs time.Duration, states ...models.CancellationRequestStatus) (*world, uuid.UUID, *int) {
	t.Helper()

	w, id, looks := newWorld(t), uuid.New(), 0
	w.OnActivity(acts.LookAtCancellation, mock.Anything, id, mock.Anything).Return(
		func(_ context.Context, _ uuid.UUID, at time.Time) (models.OpenCancellation, error) {
			status := states[min(looks, len(states)-1)]
			looks++

			if until := began.Add(departs); status == models.CancellationRequested && !at.Before(until) {
				status = models.CancellationExpired
			}

			return models.OpenCancellation{
				Status: status, BookingID: uuid.New(), Until: began.Add(departs), RemindAt: began.Add(24 * time.Hour), Seats: 2, Amount: models.MustMoney("57.50"),
			}, nil
		})

	return w, id, &looks
}

func TestCancellationEndsWithItsDecision(t *testing.T) {
	t.Parallel()
	w, id, looks := waitingRequest(t, 72*time.Hour, models.CancellationRequested, models.CancellationApproved)
	w.RegisterDelayedCallback(func() { w.SignalWorkflow(workflows.SignalCancellationDecided, nil) }, time.Hour)
	w.ExecuteWorkflow(workflows.Cancellation, id)

	var status models.CancellationRequestStatus

	require.NoError(t, w.GetWorkflowResult(&status))
	require.Equal(t, models.CancellationApproved, status)
	require.Equal(t, 2, *looks)
	require.WithinDuration(t, began.Add(time.Hour), w.Now(), time.Second)
}

// Undecided: finance staff are reminded once, after a day, and the departure ends it.
func TestCancellationExpiresAtDeparture(t *testing.T) {
	t.Parallel()
	w, id, _ := waitingRequest(t, 60*time.Hour, models.CancellationRequested)
	w.OnActivity(acts.RemindOfCancellation, mock.Anything, id).Return(func(context.Context, uuid.UUID) error {
		require.WithinDuration(t, began.Add(24*time.Hour), w.Now(), time.Second)

		return nil
	}).Once()
	w.ExecuteWorkflow(workflows.Cancellation, id)

	var status models.CancellationRequestStatus

	require.NoError(t, w.GetWorkflowResult(&status))
	require.Equal(t, models.CancellationExpired, status)
	require.WithinDuration(t, began.Add(60*time.Hour), w.Now(), time.Second)
}

// A departure before the reminder is one without it.
func TestCancellationShortBeforeDeparture(t *testing.T) {
	t.Parallel()
	w, id, _ := waitingRequest(t, time.Hour, models.CancellationRequested)
	w.ExecuteWorkflow(workflows.Cancellation, id)
	require.NoError(t, w.GetWorkflowError())
	require.WithinDuration(t, began.Add(time.Hour), w.Now(), 2*time.Second)
}

// endlessRequest is one whose departure never comes.
func endlessRequest(t *testing.T) *world {
	t.Helper()

	w, id, _ := waitingRequest(t, 10*365*24*time.Hour, models.CancellationRequested)
	w.OnActivity(acts.RemindOfCancellation, mock.Anything, id).Return(nil)
	w.ExecuteWorkflow(workflows.Cancellation, id)

	return w
}
