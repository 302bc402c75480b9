package workflows_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/models"
	"rihla/workflows"
)

func (w *world) endsCancelled(a models.Attempt) {
	w.OnActivity(acts.EndPayment, mock.Anything, activities.End{TransactionID: a.ID(), Why: models.FailureCancelled}).
		Return(failed(models.FailureCancelled), nil).Once()
}

func TestPaymentCancelled(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	w.opens(a, open)
	w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(nil).Once()
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(pending, nil).Once()
	w.endsCancelled(a)

	var first, second *answer[models.Settled]

	w.at(time.Minute, func() { first = update[models.Settled](w, workflows.UpdateCancel) })
	w.at(time.Minute, func() { second = update[models.Settled](w, workflows.UpdateCancel) })

	require.Equal(t, failed(models.FailureCancelled), w.pay(a))
	require.WithinDuration(t, began.Add(time.Minute), w.Now(), time.Second)

	for _, got := range []*answer[models.Settled]{first, second} {
		require.True(t, got.done, "everybody who asked is answered before the workflow ends")
		require.NoError(t, got.err)
		require.Equal(t, failed(models.FailureCancelled), got.value)
	}
}

func TestPaymentCancelledAfterItWasPaid(t *testing.T) {
	t.Parallel()

	t.Run("the gateway says so", func(t *testing.T) {
		t.Parallel()
		w, a := newWorld(t), newAttempt()
		w.opens(a, open)
		w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(nil).Once()
		w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(paid, nil).Once()

		var got *answer[models.Settled]

		w.at(time.Minute, func() { got = update[models.Settled](w, workflows.UpdateCancel) })

		require.Equal(t, paid, w.pay(a))
		require.NoError(t, got.err)
		require.Equal(t, paid, got.value, "the caller who cancels learns that it was paid")
	})

	t.Run("its event comes in the same moment", func(t *testing.T) {
		t.Parallel()
		w, a := newWorld(t), newAttempt()
		w.opens(a, open)
		w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(paid, nil).Once()

		var got *answer[models.Settled]

		w.at(time.Minute, func() {
			w.SignalWorkflowSkippingWorkflowTask(workflows.SignalEvent, uuid.New())

			got = update[models.Settled](w, workflows.UpdateCancel)
		})

		require.Equal(t, paid, w.pay(a), "the event goes first; nothing is cancelled at the gateway")
		require.Equal(t, paid, got.value)
	})
}

// A booking that is cancelled ends its attempt in the database; the workflow gets the signal afterwards.
func TestPaymentOfACancelledBooking(t *testing.T) {
	t.Parallel()

	owed := failed(models.FailureCancelled)
	owed.RefundOwed, owed.NeedsReview = true, true

	for name, ended := range map[string]models.Settled{
		"nobody paid": failed(models.FailureCancelled), "somebody paid all the same": owed,
	} {
		w, a := newWorld(t), newAttempt()
		w.opens(a, open)
		w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(nil).Once()
		w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(ended, nil).Once()

		if ended.RefundOwed {
			w.OnActivity(acts.OrderLateRefund, mock.Anything, a.ID()).Return(true, nil).Once()
			w.OnWorkflow(workflows.Refund, mock.Anything, mock.Anything).
				Return(models.SettledRefund{Status: models.RefundSucceeded}, nil).Once()
		}

		var got *answer[models.Settled]

		w.at(time.Minute, func() { got = update[models.Settled](w, workflows.UpdateCancel) })

		require.Equal(t, ended, w.pay(a), name)
		require.WithinDuration(t, began.Add(time.Minute), w.Now(), time.Second, name)
		require.True(t, got.done, name)
		require.NoError(t, got.err, name)
		require.Equal(t, ended, got.value, name)
	}
}

// Its gateway does not answer: the payment ends all the same, and another workflow closes the checkout when the gateway is back.
func TestPaymentOfACancelledBookingWhileTheGatewayIsSilent(t *testing.T) {
	t.Parallel()

	owed := failed(models.FailureCancelled)
	owed.RefundOwed, owed.NeedsReview = true, true

	w, a := newWorld(t), newAttempt()
	closing := workflows.Closing{TransactionID: a.ID(), Gateway: models.GatewayA, Why: models.FailureCancelled}

	w.opens(a, open)
	w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(errDown)
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(failed(models.FailureCancelled), nil).Once()
	w.OnWorkflow(workflows.Reconcile, mock.Anything, closing).Return(owed, nil).Once()

	var got *answer[models.Settled]

	w.at(time.Minute, func() { got = update[models.Settled](w, workflows.UpdateCancel) })

	require.Equal(t, failed(models.FailureCancelled), w.pay(a))
	require.NoError(t, got.err)
	require.WithinDuration(t, began.Add(90*time.Second), w.Now(), 5*time.Second)
}

func TestPaymentCancelledWhileTheGatewayIsSilent(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	w.opens(a, open)
	w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(errDown)
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(pending, nil).Once()
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(paid, nil).Once()

	var got *answer[models.Settled]

	w.at(time.Minute, func() { got = update[models.Settled](w, workflows.UpdateCancel) })
	w.at(5*time.Minute, func() {
		require.True(t, got.done, "the caller who cancels gets an answer")
		requireType(t, models.CodeGatewayUnavailable, got.err)
		w.event()
	})

	require.Equal(t, paid, w.pay(a), "the attempt stayed open, and was paid")
}

// The gateway hangs on the opening, and does not say either whether there is something to close: the attempt is opened when it
// is back, and can be paid until its time is over.
func TestPaymentCancelledDuringOpeningWhileTheGatewayIsSilent(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	given := make(chan struct{})

	var (
		cancel           *answer[models.Settled]
		meanwhile, later *answer[models.Checkout]
	)

	w.notAtOnce(a)
	w.OnActivity(acts.OpenCheckout, mock.Anything, a).Return(func(context.Context, models.Attempt) (models.Checkout, error) {
		w.at(0, func() { cancel = update[models.Settled](w, workflows.UpdateCancel) })
		<-given

		return open, nil
	}).Once()

	var once sync.Once

	w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(func(context.Context, uuid.UUID) error {
		once.Do(func() { close(given) })

		return errDown
	})
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(pending, nil).Once()
	w.OnActivity(acts.AwaitCheckout, mock.Anything, a).After(time.Minute).Return(open, nil).Once()
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(paid, nil).Once()
	w.at(time.Minute, func() { meanwhile = update[models.Checkout](w, workflows.UpdateCheckout) })
	w.at(5*time.Minute, func() {
		require.True(t, cancel.done)
		requireType(t, models.CodeGatewayUnavailable, cancel.err)
		require.True(t, meanwhile.value.Delayed, "nobody waits for it")

		later = update[models.Checkout](w, workflows.UpdateCheckout)
	})
	w.at(6*time.Minute, w.event)

	require.Equal(t, paid, w.pay(a))
	require.Equal(t, open, later.value)
	require.WithinDuration(t, began.Add(6*time.Minute), w.Now(), time.Second)
}

// The gateway hangs on the opening: a cancellation does not wait for it.
func TestPaymentCancelledDuringOpening(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		settled models.Settled
		err     error
		want    models.Settled
	}{
		{"with its row written", pending, nil, failed(models.FailureCancelled)},
		{"paid all the same", paid, nil, paid},
		{"before its row was written", models.Settled{}, domainError(models.CodeNotFound), models.Settled{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, a := newWorld(t), newAttempt()
			closing := make(chan struct{})

			var (
				checkout *answer[models.Checkout]
				cancel   *answer[models.Settled]
			)

			w.at(0, func() { checkout = update[models.Checkout](w, workflows.UpdateCheckout) })
			w.notAtOnce(a)
			w.OnActivity(acts.OpenCheckout, mock.Anything, a).Return(func(context.Context, models.Attempt) (models.Checkout, error) {
				w.at(0, func() { cancel = update[models.Settled](w, workflows.UpdateCancel) })
				<-closing // the answer comes when no caller waits for it any more

				return open, nil
			}).Once()
			w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(func(context.Context, uuid.UUID) error {
				close(closing)

				return nil
			}).Once()
			w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(tt.settled, tt.err).Once()

			if tt.settled.Status == models.TransactionPending {
				w.endsCancelled(a)
			}

			require.Equal(t, tt.want, w.pay(a))
			require.True(t, checkout.done)
			require.True(t, cancel.done)
			require.NoError(t, cancel.err)
			require.Equal(t, tt.want, cancel.value)
		})
	}
}

func TestPaymentOfACampaign(t *testing.T) {
	t.Parallel()

	a := newAttempt()
	a.CampaignID, a.BookingID = a.BookingID, uuid.Nil
	won := models.Settled{Status: models.TransactionPaid, Campaign: a.CampaignID, Queued: 2}

	t.Run("starts its dates", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.opens(a, open)
		w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(won, nil).Once()
		w.OnWorkflow(workflows.Campaign, mock.Anything, a.CampaignID).Return(models.CampaignActive, nil).Once()
		w.at(time.Minute, w.event)
		require.Equal(t, won, w.pay(a))
		require.NoError(t, w.GetWorkflowErrorByID(models.CampaignWorkflowID(a.CampaignID)))
	})

	t.Run("whose dates run already", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.opens(a, open)
		w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(won, nil).Once()
		w.alreadyStarted(workflows.Campaign, a.CampaignID)
		w.at(time.Minute, w.event)
		require.Equal(t, won, w.pay(a))
	})
}

func TestPaymentThatCanOnlyGoBack(t *testing.T) {
	t.Parallel()

	owed := failed(models.FailureExpired)
	owed.RefundOwed, owed.NeedsReview = true, true

	for _, running := range []bool{false, true} {
		w, a := newWorld(t), newAttempt()
		w.opens(a, open)
		w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(owed, nil).Once()
		w.at(time.Minute, w.event)

		w.OnActivity(acts.OrderLateRefund, mock.Anything, a.ID()).Return(true, nil).Once()

		request := models.RefundOrder{ID: models.RefundID(a.ID(), "late")}
		if running {
			w.alreadyStarted(workflows.Refund, request)
		} else {
			w.OnWorkflow(workflows.Refund, mock.Anything, request).Return(models.SettledRefund{Status: models.RefundSucceeded}, nil).Once()
		}

		require.Equal(t, owed, w.pay(a))
		require.True(t, w.needsReview())

		if !running {
			require.NoError(t, w.GetWorkflowErrorByID(models.RefundWorkflowID(request.ID)))
		}
	}
}
