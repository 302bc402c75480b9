package workflows_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/models"
	"rihla/workflows"
)

var (
	expires = began.Add(30 * time.Minute)
	open    = models.Checkout{Status: models.TransactionPending, ExpiresAt: expires}
	pending = models.Settled{Status: models.TransactionPending}
	paid    = models.Settled{Status: models.TransactionPaid, Queued: 2}
)

func failed(why models.FailureCode) models.Settled {
	return models.Settled{Status: models.TransactionFailed, Failure: why}
}

func newAttempt() models.Attempt {
	return models.Attempt{
		BookingID: uuid.New(), ProviderID: uuid.New(), UserID: uuid.New(), Number: 1, Method: models.MethodCreditCard,
	}
}

// pay runs a payment workflow to its end.
func (w *world) pay(a models.Attempt) models.Settled {
	w.t.Helper()
	w.ExecuteWorkflow(workflows.Payment, a)

	return requireDone[models.Settled](w)
}

func (w *world) opens(a models.Attempt, c models.Checkout) {
	w.OnActivity(acts.TryCheckout, mock.Anything, a).Return(c, nil).Once()
}

// notAtOnce has the first try come to nothing.
func (w *world) notAtOnce(a models.Attempt) {
	w.OnActivity(acts.TryCheckout, mock.Anything, a).Return(models.Checkout{}, errDown).Once()
}

func TestPaymentPaid(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	w.opens(a, open)
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(paid, nil).Once()

	var before, after *answer[models.Checkout]

	w.at(0, func() { before = update[models.Checkout](w, workflows.UpdateCheckout) })
	w.at(time.Second, func() { after = update[models.Checkout](w, workflows.UpdateCheckout) })
	w.at(time.Minute, w.event)

	require.Equal(t, paid, w.pay(a))
	require.WithinDuration(t, began.Add(time.Minute), w.Now(), time.Second, "it ends with the event, not with the expiry")
	require.Equal(t, "PAID", w.paymentStatus())
	require.False(t, w.needsReview())

	for _, got := range []*answer[models.Checkout]{before, after} {
		require.True(t, got.done)
		require.NoError(t, got.err)
		require.Equal(t, open, got.value)
		require.True(t, got.at.Before(began.Add(time.Minute)), "the customer gets the checkout while the workflow goes on")
	}
}

func TestPaymentDeclined(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	w.opens(a, open)
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(failed(models.FailureDeclined), nil).Once()
	w.at(time.Minute, w.event)

	require.Equal(t, failed(models.FailureDeclined), w.pay(a), "a declined card is an outcome, not a failure")
	require.Equal(t, "FAILED", w.paymentStatus())
	require.False(t, w.needsReview())
}

func TestPaymentMismatchNeedsReview(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	w.opens(a, open)

	mismatch := failed(models.FailureAmountMismatch)
	mismatch.NeedsReview = true
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(mismatch, nil).Once()
	w.at(time.Minute, w.event)

	require.Equal(t, mismatch, w.pay(a))
	require.Equal(t, "FAILED", w.paymentStatus())
	require.True(t, w.needsReview())
}

func TestPaymentRejectedByTheGateway(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	rejected := models.Checkout{Status: models.TransactionFailed, Failure: models.FailureGatewayRejected, ExpiresAt: expires}
	w.opens(a, rejected)

	var got *answer[models.Checkout]

	w.at(0, func() { got = update[models.Checkout](w, workflows.UpdateCheckout) })

	require.Equal(t, failed(models.FailureGatewayRejected), w.pay(a))
	require.WithinDuration(t, began, w.Now(), time.Second, "nobody waits for the expiry")
	require.NoError(t, got.err)
	require.Equal(t, rejected, got.value)
	require.Equal(t, "FAILED", w.paymentStatus())
}

func TestPaymentOfWhatCannotBePaid(t *testing.T) {
	t.Parallel()

	for name, refuse := range map[string]func(w *world, a models.Attempt, err error){
		"at the first try": func(w *world, a models.Attempt, err error) {
			w.OnActivity(acts.TryCheckout, mock.Anything, a).Return(models.Checkout{}, err).Once()
		},
		"at a later try": func(w *world, a models.Attempt, err error) {
			w.notAtOnce(a)
			w.OnActivity(acts.OpenCheckout, mock.Anything, a).Return(models.Checkout{}, err).Once()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, a := newWorld(t), newAttempt()
			refuse(w, a, domainError(models.CodeBookingNotPayable))

			var got *answer[models.Checkout]

			w.at(0, func() { got = update[models.Checkout](w, workflows.UpdateCheckout) })
			w.at(0, w.event)

			require.Equal(t, models.Settled{}, w.pay(a), "the workflow has done its work: there is no attempt")
			requireType(t, models.CodeBookingNotPayable, got.err)
			require.Empty(t, w.paymentStatus())
		})
	}
}

// A first try is one: what is left of it is nothing, and the second is an activity that operators see.
func TestPaymentIsTriedOnceAtOnce(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	half := models.Checkout{Status: models.TransactionPending, Delayed: true}
	w.OnActivity(acts.TryCheckout, mock.Anything, a).Return(half, errDown).Once()
	w.OnActivity(acts.OpenCheckout, mock.Anything, a).Return(open, nil).Once()
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(paid, nil).Once()

	var got *answer[models.Checkout]

	w.at(0, func() { got = update[models.Checkout](w, workflows.UpdateCheckout) })
	w.at(time.Minute, w.event)

	require.Equal(t, paid, w.pay(a))
	require.Equal(t, open, got.value)
}

func TestPaymentOpensOnTheThirdTry(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	opening, tries := failing(2, func(models.Attempt) (models.Checkout, error) { return open, nil })
	w.notAtOnce(a)
	w.OnActivity(acts.OpenCheckout, mock.Anything, a).Return(opening)

	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(paid, nil).Once()
	w.at(time.Minute, w.event)

	require.Equal(t, paid, w.pay(a))
	require.EqualValues(t, 3, tries.Load())
}

// Money has been taken: the settlement is tried for as long as the database is away.
func TestPaymentIsSettledAfterAnOutage(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	w.opens(a, open)
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(func(context.Context, uuid.UUID) (models.Settled, error) {
		if w.Now().Before(began.Add(time.Hour)) {
			return models.Settled{}, errDown
		}

		return paid, nil
	})
	w.at(time.Minute, w.event)

	require.Equal(t, paid, w.pay(a))
	require.True(t, w.Now().Before(began.Add(time.Hour+time.Minute)), "half a minute at most after it is back")
}

func TestPaymentNeverOpens(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	w.notAtOnce(a)
	w.OnActivity(acts.OpenCheckout, mock.Anything, a).Return(models.Checkout{}, errDown)
	w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(nil).Once()
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(pending, nil).Once()
	w.OnActivity(acts.EndPayment, mock.Anything, activities.End{TransactionID: a.ID(), Why: models.FailureExpired}).
		Return(failed(models.FailureExpired), nil).Once()

	require.Equal(t, failed(models.FailureExpired), w.pay(a))
	require.True(t, w.Now().Before(began.Add(32*time.Minute)), "a customer does not wait longer; it took %s", w.Now().Sub(began))
}

// The database was down all the time: there is not even a row to end.
func TestPaymentThatLeftNoTrace(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	w.notAtOnce(a)
	w.OnActivity(acts.OpenCheckout, mock.Anything, a).Return(models.Checkout{}, errDown)
	w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(nil).Once()
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(models.Settled{}, domainError(models.CodeNotFound)).Once()

	require.False(t, w.pay(a).Final())
	require.Empty(t, w.paymentStatus())
}

func TestPaymentExpires(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		found models.Settled // by the settlement after the gateway was asked
		want  models.Settled
	}{
		{"and the gateway says that it is open", pending, failed(models.FailureExpired)},
		{"and the gateway says that it was paid", paid, paid},
		{"and the gateway says that it was declined", failed(models.FailureDeclined), failed(models.FailureDeclined)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, a := newWorld(t), newAttempt()
			w.opens(a, open)
			w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(func(context.Context, uuid.UUID) error {
				require.False(t, w.Now().Before(expires), "not before the time is over")

				return nil
			}).Once()
			w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(tt.found, nil).Once()

			if !tt.found.Final() {
				w.OnActivity(acts.EndPayment, mock.Anything, activities.End{TransactionID: a.ID(), Why: models.FailureExpired}).
					Return(failed(models.FailureExpired), nil).Once()
			}

			require.Equal(t, tt.want, w.pay(a))
			require.Equal(t, string(tt.want.Status), w.paymentStatus())
		})
	}
}

// An expired attempt does not end before its gateway has said whether it was paid; one incident is opened.
func TestPaymentExpiresWhileTheGatewayIsSilent(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	w.opens(a, open)

	refused := domainError("GATEWAY_ERROR") // not tried again by the activity itself
	w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(refused).Twice()
	w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(nil).Once()
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(pending, nil).Twice()
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(paid, nil).Once()
	w.OnActivity(acts.ReportOutage, mock.Anything, a.ID()).Return(nil).Once()

	require.Equal(t, paid, w.pay(a), "the webhook was lost, and the money is not")
	require.True(t, w.needsReview())
	require.False(t, w.Now().Before(expires.Add(2*time.Minute)))
}

// How soon that incident is opened came with the checkout. The gateway is queried again after 5 s at least.
func TestPaymentExpiresWithLessPatience(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	checkout := open
	checkout.AskFor = 2 * time.Second
	w.opens(a, checkout)

	var told time.Time

	w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(errors.New("no answer")).Times(5) // at 0, 0.2, 0.6, 1.4 s; after the pause
	w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(nil).Once()
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(pending, nil).Once()
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(paid, nil).Once()
	w.OnActivity(acts.ReportOutage, mock.Anything, a.ID()).Return(func(context.Context, uuid.UUID) error {
		told = w.Now()

		return nil
	}).Once()

	require.Equal(t, paid, w.pay(a))
	require.WithinDuration(t, expires.Add(2*time.Second), told, time.Second)
	require.WithinDuration(t, expires.Add(7*time.Second), w.Now(), 1500*time.Millisecond)
}

// A webhook that comes while the gateway is being asked still counts.
func TestPaymentPaidWhileItExpires(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	w.opens(a, open)
	w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(func(context.Context, uuid.UUID) error {
		w.event()

		return nil
	}).Once()
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(paid, nil).Once()

	require.Equal(t, paid, w.pay(a))
}

func TestPaymentBurstOfSignals(t *testing.T) {
	t.Parallel()

	t.Run("a hundred at once are one settlement", func(t *testing.T) {
		t.Parallel()
		w, a := newWorld(t), newAttempt()
		w.opens(a, open)
		w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(paid, nil).Once()
		w.at(time.Minute, func() {
			for range 99 {
				w.SignalWorkflowSkippingWorkflowTask(workflows.SignalEvent, uuid.New())
			}

			w.event()
		})

		require.Equal(t, paid, w.pay(a))
	})

	t.Run("before the checkout is open", func(t *testing.T) {
		t.Parallel()
		w, a := newWorld(t), newAttempt()
		w.notAtOnce(a)
		w.OnActivity(acts.OpenCheckout, mock.Anything, a).Return(func(context.Context, models.Attempt) (models.Checkout, error) {
			for range 10 {
				w.event()
			}

			return open, nil
		}).Once()
		w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(paid, nil).Once()

		require.Equal(t, paid, w.pay(a))
		require.True(t, w.Now().Before(began.Add(time.Minute)))
	})

	t.Run("events that change nothing", func(t *testing.T) {
		t.Parallel()
		w, a := newWorld(t), newAttempt()
		w.opens(a, open)
		w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(pending, nil).Twice()
		w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(paid, nil).Once()

		for i := range 3 {
			w.at(time.Duration(i+1)*time.Minute, w.event)
		}

		require.Equal(t, paid, w.pay(a))
		require.WithinDuration(t, began.Add(3*time.Minute), w.Now(), time.Second)
	})
}

// TestPaymentWithOpenCircuit: the customer is answered at once, and the checkout is opened when the gateway
// is back.
func TestPaymentWithOpenCircuit(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()

	delayed := open
	delayed.Delayed = true
	w.opens(a, delayed)
	w.OnActivity(acts.AwaitCheckout, mock.Anything, a).Return(open, nil).After(time.Minute).Once()
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(paid, nil).Once()

	var first, later *answer[models.Checkout]

	w.at(0, func() { first = update[models.Checkout](w, workflows.UpdateCheckout) })
	w.at(2*time.Minute, func() { later = update[models.Checkout](w, workflows.UpdateCheckout) })
	w.at(3*time.Minute, w.event)

	require.Equal(t, paid, w.pay(a))
	require.NoError(t, first.err)
	require.Equal(t, delayed, first.value)
	require.WithinDuration(t, began, first.at, time.Second)
	require.Equal(t, open, later.value, "nothing of the first answer is left")
}

// TestPaymentThatIsReplacedWhileItsGatewayIsLeftAlone: the customer does not have to wait for the gateway to choose another.
func TestPaymentThatIsReplacedWhileItsGatewayIsLeftAlone(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()

	delayed := open
	delayed.Delayed = true
	w.opens(a, delayed)
	w.OnActivity(acts.AwaitCheckout, mock.Anything, a).Return(open, nil).After(20 * time.Minute).Maybe()
	w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(nil).Once()
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(pending, nil).Once()
	w.OnActivity(acts.EndPayment, mock.Anything, activities.End{TransactionID: a.ID(), Why: models.FailureCancelled}).
		Return(failed(models.FailureCancelled), nil).Once()

	var got *answer[models.Settled]

	w.at(time.Minute, func() { got = update[models.Settled](w, workflows.UpdateCancel) })

	require.Equal(t, failed(models.FailureCancelled), w.pay(a))
	require.WithinDuration(t, began.Add(time.Minute), got.at, 5*time.Second)
}
