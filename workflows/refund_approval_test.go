package workflows_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
	"rihla/models"
	"rihla/workflows"
)

// untilApproved is a refund that may be approved within 7 days.
func untilApproved() models.ReservedRefund {
	r := reserved
	r.ApprovalUntil = new(began.Add(models.MaxApprovalWait))

	return r
}

// approval says that a second person has decided.
func (w *world) approval() { w.SignalWorkflow(workflows.SignalApproval, nil) }

// takesUp answers who asks for what was decided about the approval: out, and how often it was asked.
func (w *world) takesUp(r models.RefundOrder, out ...models.SettledRefund) *atomic.Int32 {
	asked := &atomic.Int32{}

	w.OnActivity(acts.SettleRefund, mock.Anything, mock.MatchedBy(func(d activities.RefundDecision) bool {
		return d.RefundID == r.ID && !d.At.IsZero()
	})).Return(func(_ context.Context, d activities.RefundDecision) (models.SettledRefund, error) {
		n := int(asked.Add(1))
		require.Equal(w.t, models.RefundResult{Status: models.RefundPending}, d.Result)

		return out[min(n, len(out))-1], nil
	})

	return asked
}

var (
	stillWaits = models.SettledRefund{Status: models.RefundPending}
	approved   = models.SettledRefund{Status: models.RefundPending, Approval: models.ApprovalApproved}
	rejected   = models.SettledRefund{Status: models.RefundFailed, Approval: models.ApprovalRejected}
	expired    = models.SettledRefund{Status: models.RefundFailed, Approval: models.ApprovalExpired, NeedsReview: true}
)

func TestRefundAwaitsItsApproval(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).Return(untilApproved(), nil).Once()
	w.takesUp(r, approved)
	w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(succeeded, nil).Once()
	w.settlesRefund(r, succeeded, refunded)

	var got, later *answer[models.SettledRefund]

	w.at(0, func() { got = update[models.SettledRefund](w, workflows.UpdateDecision) })
	w.at(time.Hour, func() {
		require.Equal(t, stillWaits, got.value)
		require.WithinDuration(t, began, got.at, time.Second, "the requester is answered at once")
		require.Equal(t, "REFUND_NEEDS_APPROVAL", w.paymentStatus())
		require.True(t, w.needsReview())
	})
	w.at(3*24*time.Hour, func() {
		w.approval()
		later = update[models.SettledRefund](w, workflows.UpdateDecision)
	})

	require.Equal(t, refunded, w.giveBack(r))
	require.WithinDuration(t, began.Add(3*24*time.Hour), w.Now(), time.Second)
	require.True(t, later.done)
	require.Equal(t, "REFUND_SUCCEEDED", w.paymentStatus())
	require.False(t, w.needsReview())
}

func TestRefundIsNotApproved(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		out    models.SettledRefund
		signal bool
		after  time.Duration
	}{
		"rejected":            {rejected, true, time.Hour},
		"not decided in time": {expired, false, models.MaxApprovalWait},
	} {
		for _, order := range []models.ReservedRefund{untilApproved(), func() models.ReservedRefund {
			r := untilApproved()
			r.Channel = models.RefundByHand

			return r
		}()} {
			t.Run(name+string(order.Channel), func(t *testing.T) {
				t.Parallel()
				w, r := newWorld(t), newRefund()
				w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).Return(order, nil).Once()
				w.takesUp(r, c.out)

				if c.signal {
					w.at(c.after, w.approval)
				}

				require.Equal(t, c.out, w.giveBack(r), "no gateway hears of it")
				require.WithinDuration(t, began.Add(c.after), w.Now(), time.Second)
				require.Equal(t, "REFUND_FAILED", w.paymentStatus())
				require.Equal(t, c.out.NeedsReview, w.needsReview())
			})
		}
	}
}

// The approval comes as the time is over: the database has said that it came first.
func TestApprovalRacesItsExpiry(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).Return(untilApproved(), nil).Once()
	asked := w.takesUp(r, approved)
	w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(succeeded, nil).Once()
	w.settlesRefund(r, succeeded, refunded)
	w.at(models.MaxApprovalWait, w.approval)

	require.Equal(t, refunded, w.giveBack(r))
	require.EqualValues(t, 1, asked.Load())
}

// A signal without a decision changes nothing, however often it comes; nor does an event of the gateway.
func TestApprovalThatIsNotThere(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).Return(untilApproved(), nil).Once()
	w.OnActivity(acts.SettleRefund, mock.Anything, mock.Anything).Return(
		func(_ context.Context, d activities.RefundDecision) (models.SettledRefund, error) {
			if d.At.Before(*untilApproved().ApprovalUntil) {
				return stillWaits, nil
			}

			return expired, nil
		})
	w.at(time.Hour, w.approval)
	w.at(time.Hour, w.event)
	w.at(2*time.Hour, func() { w.approval(); w.approval() })

	require.Equal(t, expired, w.giveBack(r))
	require.WithinDuration(t, began.Add(models.MaxApprovalWait), w.Now(), time.Second)
}

// Decided before a worker came: the order says so, and nothing is waited for.
func TestApprovedBeforeAWorkerCame(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	order := untilApproved()
	order.ApprovalDecided = true
	w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).Return(order, nil).Once()
	w.takesUp(r, approved)
	w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(succeeded, nil).Once()
	w.settlesRefund(r, succeeded, refunded)

	require.Equal(t, refunded, w.giveBack(r))
	require.WithinDuration(t, began, w.Now(), time.Second)
}

// Cancelled by an operator while it waits, it ends without effect: another run reads the order anew, and waits on.
func TestCancelledWhileItAwaitsItsApproval(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).Return(untilApproved(), nil).Once()
	w.at(time.Hour, w.CancelWorkflow)

	w.ExecuteWorkflow(workflows.Refund, r)
	require.True(t, w.IsWorkflowCompleted())
	require.True(t, temporal.IsCanceledError(w.GetWorkflowError()), "%v", w.GetWorkflowError())
	require.WithinDuration(t, began.Add(time.Hour), w.Now(), time.Second)
	w.AssertNotCalled(t, "SettleRefund", mock.Anything, mock.Anything)
	w.AssertNotCalled(t, "RefundAtGateway", mock.Anything, mock.Anything)

	// The next run, after the approval.
	w = newWorld(t)
	order := untilApproved()
	order.ApprovalDecided = true
	w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).Return(order, nil).Once()
	w.takesUp(r, approved)
	w.OnActivity(acts.RefundAtGateway, mock.Anything, r.ID).Return(succeeded, nil).Once()
	w.settlesRefund(r, succeeded, refunded)
	require.Equal(t, refunded, w.giveBack(r))
}

// A manual payout waits twice: for its approval, and for its payout.
func TestRefundByHandAwaitsBoth(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	order := untilApproved()
	order.Channel = models.RefundByHand
	w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).Return(order, nil).Once()
	w.takesUp(r, approved)
	w.settlesRefund(r, models.RefundResult{}, refunded)
	w.at(time.Hour, w.approval)
	w.at(2*time.Hour, func() { require.Equal(t, "REFUND_NEEDS_PAYOUT", w.paymentStatus()) })
	w.at(9*24*time.Hour, w.decided)

	require.Equal(t, refunded, w.giveBack(r))
	require.WithinDuration(t, began.Add(9*24*time.Hour), w.Now(), time.Second, "the 7 days are over, and were for the approval")
}

// The confirmation of the payout comes with the approval, and is not lost.
func TestPayoutRightAfterTheApproval(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	order := untilApproved()
	order.Channel = models.RefundByHand
	w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).Return(order, nil).Once()
	w.takesUp(r, approved)
	w.settlesRefund(r, models.RefundResult{}, refunded)
	w.at(time.Hour, func() { w.decided(); w.approval() })

	require.Equal(t, refunded, w.giveBack(r))
	require.WithinDuration(t, began.Add(time.Hour), w.Now(), time.Second)
}

// Told without a decision too often, it goes on in a new run, which reads the order anew.
func TestApprovalContinuesAsNew(t *testing.T) {
	t.Parallel()
	w, r := newWorld(t), newRefund()
	w.OnActivity(acts.ReadRefundOrder, mock.Anything, r).Return(untilApproved(), nil).Once()
	w.takesUp(r, stillWaits)

	for i := range 100 {
		w.at(time.Duration(i+1)*time.Minute, w.approval)
	}

	w.ExecuteWorkflow(workflows.Refund, r)
	require.True(t, w.IsWorkflowCompleted())
	require.True(t, workflow.IsContinueAsNewError(w.GetWorkflowError()), "%v", w.GetWorkflowError())
}
