package workflows_test

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/workflow"

	"rihla/models"
	"rihla/workflows"
)

// tripBooks stand for the database of a trip that is called off.
type tripBooks struct {
	mu        sync.Mutex
	order     models.TripCancellationOrder
	takes     time.Duration     // a refund
	together  int               // bookings that a task comes to
	booked    []uuid.UUID       // that are left
	blocked   map[uuid.UUID]int // how often each cannot be cancelled yet
	refunds   map[uuid.UUID]int // that were started
	cancelled map[uuid.UUID]int
	states    []models.OpenTripCancellation // at each look; the last one stays
	most      int                           // refunds that were under way at once
	running   int
	reported  int
	left      int // refunds that no gateway has decided
	last      time.Time
}

func underWay() models.OpenTripCancellation {
	return models.OpenTripCancellation{Status: models.TripCancellationRunning}
}

// callsOff is a world with a trip of n paid bookings. A refund takes refundTime.
func callsOff(t *testing.T, n int, refundTime time.Duration) (*world, *tripBooks) {
	t.Helper()

	b := &tripBooks{
		takes: refundTime, together: workflows.TripTogether,
		order:   models.TripCancellationOrder{ID: uuid.New(), TripID: uuid.New(), ProviderID: uuid.New()},
		blocked: map[uuid.UUID]int{}, refunds: map[uuid.UUID]int{}, cancelled: map[uuid.UUID]int{},
		states: []models.OpenTripCancellation{underWay()},
	}

	for range n {
		b.booked = append(b.booked, uuid.New())
	}

	slices.SortFunc(b.booked, compareIDs)
	w := newWorldWith(t, b.refund)
	b.mock(w)

	return w, b
}

func compareIDs(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }

// mock answers every activity from b. Activities run side by side, so that each of them locks.
func (b *tripBooks) mock(w *world) {
	w.OnUpsertMemo(mock.Anything).Return(nil).Maybe()
	w.OnActivity(acts.LookAtTripCancellation, mock.Anything, b.order.ID, mock.Anything).Return(b.look).Maybe()
	w.OnActivity(acts.NextTripBookings, mock.Anything, b.order.TripID, mock.Anything, mock.Anything).Return(b.next).Maybe()
	w.OnActivity(acts.CancelTripBookings, mock.Anything, b.order.ID, mock.Anything).Return(
		func(_ context.Context, _ uuid.UUID, bookings []uuid.UUID) (done []models.CancelledForTrip, _ error) {
			for _, id := range bookings[:min(len(bookings), b.together)] {
				done = append(done, b.cancel(id, w.Now()))
			}

			return done, nil
		}).Maybe()
	w.OnActivity(acts.ReportTripBlocked, mock.Anything, b.order.ID, mock.Anything).Return(b.report).Maybe()
	w.OnActivity(acts.TripCampaigns, mock.Anything, b.order.TripID).Return([]uuid.UUID(nil), nil).Maybe()
	w.OnActivity(acts.FinishTripCancellation, mock.Anything, b.order.ID).Return(b.finish).Maybe()
	w.OnActivity(acts.CountTripCancellation, mock.Anything, b.order.ID).Return(b.count).Maybe()
}

func (b *tripBooks) look(context.Context, uuid.UUID, time.Time) (models.OpenTripCancellation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	state := b.states[0]
	if len(b.states) > 1 {
		b.states = b.states[1:]
	}

	return state, nil
}

func (b *tripBooks) report(context.Context, uuid.UUID, models.CancelledForTrip) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.reported++

	return nil
}

func (b *tripBooks) finish(context.Context, uuid.UUID) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	return len(b.booked) == 0, nil
}

func (b *tripBooks) count(context.Context, uuid.UUID) (models.TripCancellationCounts, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.left = max(0, b.left-1)

	return models.TripCancellationCounts{
		Bookings: len(b.booked) + len(b.cancelled), Cancelled: len(b.cancelled), RefundsPending: b.left, Undecided: b.left,
	}, nil
}

// done counts what is cancelled while the workflow runs.
func (b *tripBooks) done() int {
	b.mu.Lock()
	defer b.mu.Unlock()

	return len(b.cancelled)
}

// refund stands for the workflow of a refund, which takes some time.
func (b *tripBooks) refund(ctx workflow.Context, o models.RefundOrder) (models.SettledRefund, error) {
	b.refunds[o.ID]++
	b.running++
	b.most = max(b.most, b.running)
	err := workflow.Sleep(ctx, b.takes)
	b.running--

	return models.SettledRefund{Status: models.RefundSucceeded}, err
}

func (b *tripBooks) next(_ context.Context, _, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	var ids []uuid.UUID

	for _, id := range b.booked {
		if compareIDs(id, after) > 0 && len(ids) < limit {
			ids = append(ids, id)
		}
	}

	return ids, nil
}

func (b *tripBooks) cancel(id uuid.UUID, now time.Time) models.CancelledForTrip {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.last = now

	if b.blocked[id] > 0 {
		b.blocked[id]--

		return models.CancelledForTrip{Booking: id, Blocked: models.CodeInvalidState}
	}

	b.cancelled[id]++
	b.booked = slices.DeleteFunc(b.booked, func(booked uuid.UUID) bool { return booked == id })

	return models.CancelledForTrip{Booking: id, Refund: &models.RefundOrder{ID: uuid.New()}, Gateway: models.GatewayA}
}

func TestTripCancellationRefundsEachBookingOnce(t *testing.T) {
	t.Parallel()
	w, b := callsOff(t, 50, 10*time.Second)
	b.left = 60
	w.ExecuteWorkflow(workflows.TripCancellation, b.order)
	require.NoError(t, w.GetWorkflowError())
	require.Len(t, b.cancelled, 50)
	require.Len(t, b.refunds, 50)
	require.Equal(t, 8, b.most, "no more at once")
	require.Equal(t, "TRIP_CANCELLED", w.paymentStatus())
	require.Zero(t, b.left)
}

// A task that could not cancel all its bookings is followed by one for the rest, and the refunds of the first are started.
func TestTripCancellationGoesOnWhereATaskStopped(t *testing.T) {
	t.Parallel()
	w, b := callsOff(t, 10, time.Second)
	b.together = 1
	w.ExecuteWorkflow(workflows.TripCancellation, b.order)
	require.NoError(t, w.GetWorkflowError())
	require.Len(t, b.cancelled, 10)
	require.Len(t, b.refunds, 10)
}

// A refund that its gateway does not decide holds the others up for a moment, not for good.
func TestTripCancellationDoesNotWaitForSlowRefunds(t *testing.T) {
	t.Parallel()
	w, b := callsOff(t, 20, 30*24*time.Hour)
	w.ExecuteWorkflow(workflows.TripCancellation, b.order)
	require.NoError(t, w.GetWorkflowError())
	require.Len(t, b.refunds, 20)
	require.Less(t, b.last.Sub(began), 5*time.Minute)
}

// What cannot be cancelled now is tried again, with an incident from the second time on.
func TestTripCancellationComesBackToWhatIsBlocked(t *testing.T) {
	t.Parallel()
	w, b := callsOff(t, 3, time.Second)
	stuck := b.booked[1]
	b.blocked[stuck] = 3
	w.ExecuteWorkflow(workflows.TripCancellation, b.order)
	require.NoError(t, w.GetWorkflowError())
	require.Equal(t, 1, b.cancelled[stuck])
	require.Equal(t, 2, b.reported)
	require.False(t, w.needsReview())
}

func TestTripCancellationWaitsForItsApproval(t *testing.T) {
	t.Parallel()

	waits := models.OpenTripCancellation{Status: models.TripCancellationRunning, ApprovalPending: true, Until: began.Add(time.Hour)}

	for name, end := range map[string]models.OpenTripCancellation{
		"approved": underWay(), "rejected": {Status: models.TripCancellationRejected}, "too late": {Status: models.TripCancellationExpired},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, b := callsOff(t, 2, time.Second)
			b.states = []models.OpenTripCancellation{waits, end}

			if name != "too late" {
				w.RegisterDelayedCallback(func() { w.SignalWorkflow(workflows.SignalLook, nil) }, time.Minute)
			}

			w.ExecuteWorkflow(workflows.TripCancellation, b.order)
			require.NoError(t, w.GetWorkflowError())

			if name == "approved" {
				require.Len(t, b.cancelled, 2)
			} else {
				require.Empty(t, b.cancelled)
				require.Equal(t, "TRIP_"+string(end.Status), w.paymentStatus())
			}
		})
	}
}

func TestTripCancellationIsPausedAndResumed(t *testing.T) {
	t.Parallel()
	w, b := callsOff(t, 30, 20*time.Second)

	var atPause int

	w.RegisterDelayedCallback(func() { w.SignalWorkflow(workflows.SignalPause, nil) }, 10*time.Second)
	w.RegisterDelayedCallback(func() {
		atPause = b.done()

		var shown workflows.TripCancellationShown

		answer, err := w.QueryWorkflow(workflows.QueryProgress)
		require.NoError(t, err)
		require.NoError(t, answer.Get(&shown))
		require.True(t, shown.Paused)
		require.Equal(t, "TRIP_PAUSED", w.paymentStatus())
	}, time.Hour)
	w.RegisterDelayedCallback(func() {
		require.Equal(t, atPause, b.done(), "nothing is cancelled meanwhile")
		w.SignalWorkflow(workflows.SignalResume, nil)
	}, 2*time.Hour)
	w.ExecuteWorkflow(workflows.TripCancellation, b.order)
	require.NoError(t, w.GetWorkflowError())
	require.Positive(t, atPause)
	require.Less(t, atPause, 30)
	require.Len(t, b.cancelled, 30)
}

// Many bookings are cancelled in several runs, each of which goes on where the one before has stopped.
func TestTripCancellationGoesOnInANewRun(t *testing.T) {
	t.Parallel()
	w, b := callsOff(t, 450, time.Second)
	order := b.order

	for runs := 1; ; runs++ {
		w.ExecuteWorkflow(workflows.TripCancellation, order)

		var next *workflow.ContinueAsNewError
		if err := w.GetWorkflowError(); err == nil {
			require.Equal(t, 3, runs)

			break
		} else {
			require.ErrorAs(t, err, &next)
		}

		require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &order))

		w = newWorldWith(t, b.refund)
		b.mock(w)
	}

	require.Len(t, b.cancelled, 450)
	require.Len(t, b.refunds, 450)
	require.Empty(t, b.booked)
}

// tripOfThousands has more bookings than a history holds.
func tripOfThousands(t *testing.T) *world {
	t.Helper()

	w, b := callsOff(t, 5000, time.Second)
	w.ExecuteWorkflow(workflows.TripCancellation, b.order)

	return w
}
