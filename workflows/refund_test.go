package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
	"rihla/models"
	"rihla/workflows"
)

var (
	reserved  = models.ReservedRefund{Status: models.RefundPending, Amount: models.MustMoney("57.50"), Gateway: models.GatewayA}
	succeeded = models.RefundResult{Status: models.RefundSucceeded, GatewayRefundID: "re-1"}
	undecided = models.RefundResult{Status: models.RefundPending, GatewayRefundID: "re-1"}
	refused   = models.RefundResult{Status: models.RefundFailed, FailureReason: "No."}
	refunded  = models.SettledRefund{Status: models.RefundSucceeded, Queued: 2}
	notGiven  = models.SettledRefund{Status: models.RefundFailed}
)

func newRefund() models.RefundOrder { return models.RefundOrder{ID: uuid.New()} }

// giveBack runs a refund workflow to its end.
func (w *world) giveBack(r models.RefundOrder) models.SettledRefund {
	w.t.Helper()
	w.ExecuteWorkflow(workflows.Refund, r)

	return requireDone[models.SettledRefund](w)
}

func (w *world) reserves(r models.RefundOrder) {
	w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).Return(reserved, nil).Once()
}

func (w *world) settlesRefund(r models.RefundOrder, result models.RefundResult, out models.SettledRefund) {
	w.OnActivity(acts.SettleRefund, mock.Anything, activities.RefundDecision{RefundID: r.ID, Result: result}).Return(out, nil).Once()
}

func TestRefundSucceeds(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.reserves(r)
	w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(succeeded, nil).Once()
	w.settlesRefund(r, succeeded, refunded)

	var got *answer[models.SettledRefund]

	w.at(0, func() { got = update[models.SettledRefund](w, workflows.UpdateDecision) })

	require.Equal(t, refunded, w.giveBack(r))
	require.NoError(t, got.err)
	require.Equal(t, refunded, got.value)
	require.Equal(t, "REFUND_SUCCEEDED", w.paymentStatus())
	require.False(t, w.needsReview())
}

// Most refunds are made by the task that starts them: no other activity is needed.
func TestRefundIsTriedAtOnce(t *testing.T) {
	t.Parallel()

	for name, first := range map[string]models.RefundResult{
		"made": succeeded, "not made": {Status: models.RefundFailed, FailureReason: "card closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, r := newWorld(t), newRefund()
			w.reserves(r)
			w.atOnce = func(id uuid.UUID) (models.RefundResult, error) {
				require.Equal(t, r.ID, id)

				return first, nil
			}
			w.settlesRefund(r, first, models.SettledRefund{Status: first.Status})
			require.Equal(t, first.Status, w.giveBack(r).Status)
			w.AssertNotCalled(t, "RefundAtGateway", mock.Anything, mock.Anything)
		})
	}
}

// The first try is the first only: a gateway that decides later is asked by activities that show every try.
func TestRefundIsTriedAtOnceOnce(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	tries := 0
	w.reserves(r)
	w.atOnce = func(uuid.UUID) (models.RefundResult, error) {
		tries++

		return models.RefundResult{Status: models.RefundPending}, nil
	}
	w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(succeeded, nil).Once()
	w.settlesRefund(r, succeeded, refunded)
	w.at(time.Second, w.event)
	require.Equal(t, refunded, w.giveBack(r))
	require.Equal(t, 1, tries)
}

// A gateway that is not being asked now is asked when it is back.
func TestRefundThatIsDelayedAtOnce(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.reserves(r)
	w.atOnce = func(uuid.UUID) (models.RefundResult, error) {
		return models.RefundResult{Status: models.RefundPending, Delayed: true}, nil
	}
	w.OnActivity(acts.AwaitRefund, mock.Anything, r.ID).Return(succeeded, nil).Once()
	w.settlesRefund(r, succeeded, refunded)
	require.Equal(t, refunded, w.giveBack(r))
}

func TestRefundThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).
		Return(models.ReservedRefund{}, domainError(models.CodeRefundExceedsRemaining)).Once()

	var got *answer[models.SettledRefund]

	w.at(0, func() { got = update[models.SettledRefund](w, workflows.UpdateDecision) })

	require.Equal(t, models.SettledRefund{}, w.giveBack(r), "an outcome, not a failure; no gateway hears of it")
	require.True(t, got.done)
	requireType(t, models.CodeRefundExceedsRemaining, got.err)
	require.Equal(t, "REFUND_NOT_ALLOWED", w.paymentStatus())
}

func TestRefundThatTheGatewayRefuses(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.reserves(r)
	w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(refused, nil).Once()
	w.settlesRefund(r, refused, notGiven)

	var got *answer[models.SettledRefund]

	w.at(0, func() { got = update[models.SettledRefund](w, workflows.UpdateDecision) })

	require.Equal(t, notGiven, w.giveBack(r))
	require.NoError(t, got.err)
	require.Equal(t, notGiven, got.value)
	require.Equal(t, "REFUND_FAILED", w.paymentStatus())
	require.True(t, w.needsReview())
}

func TestRefundThatTheGatewayDecidesLater(t *testing.T) {
	t.Parallel()

	t.Run("its webhook comes", func(t *testing.T) {
		t.Parallel()
		w, r := newWorld(t), newRefund()
		w.reserves(r)
		w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(undecided, nil).Once()
		w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(succeeded, nil).Once()
		w.settlesRefund(r, succeeded, refunded)

		var got *answer[models.SettledRefund]

		w.at(0, func() { got = update[models.SettledRefund](w, workflows.UpdateDecision) })
		w.at(40*time.Second, w.event)

		require.Equal(t, refunded, w.giveBack(r))
		require.WithinDuration(t, began.Add(40*time.Second), w.Now(), time.Second)
		require.Equal(t, refunded, got.value, "a caller that waits is answered when it is decided")
	})

	t.Run("its webhook is lost", func(t *testing.T) {
		t.Parallel()
		w, r := newWorld(t), newRefund()
		w.reserves(r)
		w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(undecided, nil).Times(3)
		w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(refused, nil).Once()
		w.settlesRefund(r, refused, notGiven)

		require.Equal(t, notGiven, w.giveBack(r))
		require.WithinDuration(t, began.Add(7*time.Minute), w.Now(), time.Second, "it is asked after 1, 2 and 4 minutes")
	})

	t.Run("it takes an hour", func(t *testing.T) {
		t.Parallel()
		w, r := newWorld(t), newRefund()
		w.reserves(r)

		var asked []time.Duration

		w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(func(context.Context, uuid.UUID) (models.RefundResult, error) {
			asked = append(asked, w.Now().Sub(began).Round(time.Minute))
			if len(asked) < 8 {
				return undecided, nil
			}

			return succeeded, nil
		})
		w.settlesRefund(r, succeeded, refunded)

		require.Equal(t, refunded, w.giveBack(r))

		for i, minutes := range []float64{0, 1, 3, 7, 15, 25, 35, 45} { // 1, 2, 4 and 8 minutes apart, then 10
			require.InDelta(t, minutes, asked[i].Minutes(), 0.1)
		}
	})

	t.Run("its webhook is faster than its answer", func(t *testing.T) {
		t.Parallel()
		w, r := newWorld(t), newRefund()
		w.reserves(r)
		w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(func(context.Context, uuid.UUID) (models.RefundResult, error) {
			w.event()

			return undecided, nil
		}).Once()
		w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(succeeded, nil).Once()
		w.settlesRefund(r, succeeded, refunded)

		require.Equal(t, refunded, w.giveBack(r))
		require.WithinDuration(t, began, w.Now(), time.Second)
	})
}

// An unknown outcome is asked about, under the same id, until it is known.
func TestRefundWithAnUnknownOutcome(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.reserves(r)

	asking, tries := failing(5, func(id uuid.UUID) (models.RefundResult, error) {
		require.Equal(t, r.ID, id)

		return succeeded, nil
	})
	w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(asking)
	w.settlesRefund(r, succeeded, refunded)

	require.Equal(t, refunded, w.giveBack(r))
	require.EqualValues(t, 6, tries.Load())
}

func TestRefundIsSettledAfterAnOutage(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.reserves(r)
	w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(succeeded, nil).Once()
	w.OnActivity(acts.SettleRefund, mock.Anything, mock.Anything).Return(func(context.Context, activities.RefundDecision) (models.SettledRefund, error) {
		if w.Now().Before(began.Add(time.Hour)) {
			return models.SettledRefund{}, errDown
		}

		return refunded, nil
	})

	require.Equal(t, refunded, w.giveBack(r))
}

// Started once more after it was decided, as by a sweep that was a moment too late: the gateway must not pay a refund
// that has been given up.
func TestRefundThatWasDecidedBefore(t *testing.T) {
	t.Parallel()

	for _, status := range []models.RefundStatus{models.RefundFailed, models.RefundSucceeded} {
		w, r := newWorld(t), newRefund()
		before := reserved
		before.Status = status
		w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).Return(before, nil).Once()

		require.Equal(t, models.SettledRefund{Status: status}, w.giveBack(r))
		require.Equal(t, "REFUND_"+string(status), w.paymentStatus())
	}
}

// TestRefundWithOpenCircuit: the requester is answered at once, and it is sent when the gateway is back.
func TestRefundWithOpenCircuit(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.reserves(r)
	w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).
		Return(models.RefundResult{Status: models.RefundPending, Delayed: true}, nil).Once()
	w.OnActivity(acts.AwaitRefund, mock.Anything, r.ID).Return(succeeded, nil).After(time.Minute).Once()
	w.settlesRefund(r, succeeded, refunded)

	var got *answer[models.SettledRefund]

	w.at(0, func() { got = update[models.SettledRefund](w, workflows.UpdateDecision) })

	require.Equal(t, refunded, w.giveBack(r))
	require.NoError(t, got.err)
	require.Equal(t, models.SettledRefund{}, got.value, "it is not decided")
	require.WithinDuration(t, began, got.at, time.Second)
}

// The gateway has been asked twice when its webhook comes: the refund is settled then, and not after a pause.
func TestRefundSettlesAtOnceAfterItsWebhook(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.reserves(r)

	decided := 4 * time.Minute // asked after 0, 1 and 3 minutes

	w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(func(context.Context, uuid.UUID) (models.RefundResult, error) {
		if w.Now().Before(began.Add(decided)) {
			return undecided, nil
		}

		return succeeded, nil
	}).Times(4)
	w.settlesRefund(r, succeeded, refunded)
	w.at(decided, w.event)

	require.Equal(t, refunded, w.giveBack(r))
	require.WithinDuration(t, began.Add(decided), w.Now(), 2*time.Second)
}

// An event that the gateway's answers never confirm is not asked about all the time, and its run does not grow for ever.
func TestRefundWhoseEventIsNotConfirmed(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.reserves(r)

	asked := 0

	w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(func(context.Context, uuid.UUID) (models.RefundResult, error) {
		asked++

		w.event() // and again, as long as it is asked

		return undecided, nil
	})

	var waiting *answer[models.SettledRefund]

	w.at(0, func() { waiting = update[models.SettledRefund](w, workflows.UpdateDecision) })

	w.ExecuteWorkflow(workflows.Refund, r)

	require.True(t, workflow.IsContinueAsNewError(w.GetWorkflowError()), "%v", w.GetWorkflowError())
	require.Equal(t, 100, asked)
	require.Greater(t, w.Now().Sub(began), 50*time.Minute, "about one question a minute")
	require.NoError(t, waiting.err, "a caller that waits is answered before the run ends")
	require.Equal(t, models.SettledRefund{}, waiting.value)
}

// The gateway has made another refund than was ordered: an incident is opened, and it is settled when that is corrected.
func TestRefundOfAnotherAmount(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	other := undecided
	other.Mismatch = true

	w.reserves(r)
	w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(other, nil).Times(3)
	w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(succeeded, nil).Once()
	w.settlesRefund(r, succeeded, refunded)

	var got *answer[models.SettledRefund]

	w.at(0, func() { got = update[models.SettledRefund](w, workflows.UpdateDecision) })
	w.at(15*time.Minute, func() { require.True(t, w.needsReview()) })

	require.Equal(t, refunded, w.giveBack(r))
	require.WithinDuration(t, began, got.at, time.Second, "nobody is kept waiting")
	require.WithinDuration(t, began.Add(30*time.Minute), w.Now(), time.Minute)
	require.False(t, w.needsReview())
}

// A run without an order has no effect but an incident.
func TestRefundWithoutAnOrder(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).Return(models.ReservedRefund{}, domainError(models.CodeNotFound)).Once()
	w.OnActivity(acts.ReportUnorderedRefund, mock.Anything, r.ID).Return(nil).Once()

	require.Equal(t, models.SettledRefund{}, w.giveBack(r))
	require.Equal(t, "REFUND_NOT_ALLOWED", w.paymentStatus())
	require.True(t, w.needsReview())
}
