package workflows_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/models"
	"rihla/workflows"
)

func TestLatePayment(t *testing.T) {
	t.Parallel()

	owed := failed(models.FailureExpired)
	owed.RefundOwed, owed.NeedsReview = true, true

	for name, settled := range map[string]models.Settled{
		"the booking is confirmed after all": paid, "the money goes back": owed, "a duplicate": failed(models.FailureDeclined),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			d := models.Delivery{EventID: uuid.New(), TransactionID: uuid.New(), Channel: models.ChannelGatewayA, Ended: true}
			w.OnActivity(acts.SettlePayment, mock.Anything, d.TransactionID).Return(settled, nil).Once()

			if settled.RefundOwed {
				w.OnActivity(acts.OrderLateRefund, mock.Anything, d.TransactionID).Return(true, nil).Once()
				refund := models.RefundOrder{ID: models.RefundID(d.TransactionID, "late")}
				w.OnWorkflow(workflows.Refund, mock.Anything, refund).Return(refunded, nil).Once()
			}

			w.ExecuteWorkflow(workflows.LatePayment, d)
			require.Equal(t, settled, requireDone[models.Settled](w))
			require.Equal(t, string(settled.Status), w.paymentStatus())
			require.Equal(t, settled.NeedsReview, w.needsReview())
		})
	}
}

func TestLatePaymentOfACampaign(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := models.Delivery{EventID: uuid.New(), TransactionID: uuid.New(), Channel: models.ChannelWalletB, Ended: true}
	won := models.Settled{Status: models.TransactionPaid, Campaign: uuid.New()}
	w.OnActivity(acts.SettlePayment, mock.Anything, d.TransactionID).Return(won, nil).Once()
	w.OnWorkflow(workflows.Campaign, mock.Anything, won.Campaign).Return(models.CampaignActive, nil).Once()

	w.ExecuteWorkflow(workflows.LatePayment, d)
	require.Equal(t, won, requireDone[models.Settled](w))
}

func TestLateEventOfARefund(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := models.Delivery{EventID: uuid.New(), TransactionID: uuid.New(), RefundID: uuid.New(), Channel: models.ChannelGatewayA}
	w.OnActivity(acts.SettleRefund, mock.Anything, activities.RefundDecision{RefundID: d.RefundID}).Return(refunded, nil).Once()

	w.ExecuteWorkflow(workflows.LatePayment, d)
	require.Equal(t, models.Settled{}, requireDone[models.Settled](w))
}

func closing(id uuid.UUID) workflows.Closing {
	return workflows.Closing{TransactionID: id, Gateway: models.GatewayA, Why: models.FailureExpired}
}

func TestReconcile(t *testing.T) {
	t.Parallel()

	t.Run("the gateway says that it was paid", func(t *testing.T) {
		t.Parallel()
		w, id := newWorld(t), uuid.New()
		w.OnActivity(acts.CloseCheckout, mock.Anything, id).Return(nil).Once()
		w.OnActivity(acts.SettlePayment, mock.Anything, id).Return(paid, nil).Once()

		w.ExecuteWorkflow(workflows.Reconcile, closing(id))
		require.Equal(t, paid, requireDone[models.Settled](w))
		require.Equal(t, "PAID", w.paymentStatus())
	})

	t.Run("nobody has paid", func(t *testing.T) {
		t.Parallel()
		w, id := newWorld(t), uuid.New()
		w.OnActivity(acts.CloseCheckout, mock.Anything, id).Return(nil).Once()
		w.OnActivity(acts.SettlePayment, mock.Anything, id).Return(pending, nil).Once()
		w.OnActivity(acts.EndPayment, mock.Anything, activities.End{TransactionID: id, Why: models.FailureExpired}).
			Return(failed(models.FailureExpired), nil).Once()

		w.ExecuteWorkflow(workflows.Reconcile, closing(id))
		require.Equal(t, failed(models.FailureExpired), requireDone[models.Settled](w))
	})

	t.Run("the gateway does not answer", func(t *testing.T) {
		t.Parallel()
		w, id := newWorld(t), uuid.New()
		w.OnActivity(acts.CloseCheckout, mock.Anything, id).Return(errDown)

		w.ExecuteWorkflow(workflows.Reconcile, closing(id))
		require.True(t, w.IsWorkflowCompleted())
		require.Error(t, w.GetWorkflowError(), "the attempt stays open for the next sweep")
	})
}
