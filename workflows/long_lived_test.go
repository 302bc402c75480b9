package workflows_test

import (
	"reflect"
	"runtime"
	"strings"
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

// lives says of every workflow what keeps its history short: why it has an end, or a run that goes on for so long that it has to continue
// as new. Such a run is given more to do than a history holds.
var lives = map[string]struct {
	ends      string
	continues func(t *testing.T) *world
}{
	"Payment":          {continues: silentGateway},
	"Refund":           {continues: undecidedRefund},
	"Campaign":         {continues: restlessCampaign},
	"Outbox":           {continues: endlessOutbox},
	"PollStatus":       {continues: endlessPoll},
	"LatePayment":      {ends: "one settlement, and what follows from it"},
	"Reconcile":        {ends: "one question, whose tries are no events, one settlement"},
	"Cancellation":     {continues: endlessRequest},
	"TripCancellation": {continues: tripOfThousands},
	"Compare":          {ends: "one question, whose tries are no events"},
	"Sweep":            {ends: "one activity"},
	"Audit":            {ends: "one activity"},
	"Gate":             {ends: "one activity"},
	"Review":           {ends: "with the first signal; nothing else is sent to it"},
}

type registry func(w any)

func (r registry) RegisterWorkflow(w any) { r(w) }

// TestNoWorkflowGrowsForEver: every workflow that is registered either has an end of itself, or continues as new by a bound.
func TestNoWorkflowGrowsForEver(t *testing.T) {
	t.Parallel()

	registered := map[string]bool{}

	workflows.Register(registry(func(w any) {
		name := runtime.FuncForPC(reflect.ValueOf(w).Pointer()).Name()
		registered[name[strings.LastIndexByte(name, '.')+1:]] = true
	}))

	for name := range registered {
		require.Contains(t, lives, name, "say how long %s lives", name)
	}

	for name, life := range lives {
		require.True(t, registered[name], name)
		require.NotEqual(t, life.ends == "", life.continues == nil, name)

		if life.continues == nil {
			continue
		}

		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := life.continues(t)
			require.True(t, w.IsWorkflowCompleted())
			require.True(t, workflow.IsContinueAsNewError(w.GetWorkflowError()), "%v", w.GetWorkflowError())
		})
	}
}

// silentGateway has a gateway that never says whether an expired attempt was paid.
func silentGateway(t *testing.T) *world {
	t.Helper()
	w, a := newWorld(t), newAttempt()
	short := open
	short.AskFor = time.Second
	w.opens(a, short)
	w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(errDown)
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(pending, nil)
	w.OnActivity(acts.ReportOutage, mock.Anything, a.ID()).Return(nil).Once()
	w.ExecuteWorkflow(workflows.Payment, a)

	return w
}

// TestSilentGatewayIsAskedAtAPace: however short a gateway is asked for, the pauses grow to a minute; two hundred polls are hours.
func TestSilentGatewayIsAskedAtAPace(t *testing.T) {
	t.Parallel()

	w := silentGateway(t)
	require.Greater(t, w.Now().Sub(began), 3*time.Hour)
}

// TestPaymentGoesOnInANewRun: the new run opens nothing, reports the outage no second time, and ends the attempt when the gateway answers.
func TestPaymentGoesOnInANewRun(t *testing.T) {
	t.Parallel()
	w, a := newWorld(t), newAttempt()
	a.Resumed = &models.ResumedAttempt{ExpiresAt: began.Add(-time.Hour), AskFor: time.Second, Outage: true, Asked: 200}
	w.OnActivity(acts.CloseCheckout, mock.Anything, a.ID()).Return(nil).Once()
	w.OnActivity(acts.SettlePayment, mock.Anything, a.ID()).Return(paid, nil).Once()

	var opened *answer[models.Checkout]

	w.at(time.Second, func() { opened = update[models.Checkout](w, workflows.UpdateCheckout) })
	w.ExecuteWorkflow(workflows.Payment, a)
	require.Equal(t, paid, requireDone[models.Settled](w))
	require.WithinDuration(t, began.Add(time.Minute), w.Now(), 2*time.Second, "it keeps the pace of the run before")
	require.Equal(t, models.TransactionPending, opened.value.Status, "who asks for the checkout is answered at once")
	require.True(t, w.needsReview())
}

// undecidedRefund has a gateway that accepts a refund and never decides it.
func undecidedRefund(t *testing.T) *world {
	t.Helper()
	w, o := newWorld(t), models.RefundOrder{ID: uuid.New()}
	w.OnActivity(acts.ReadRefundOrder, mock.Anything, o).
		Return(models.ReservedRefund{Status: models.RefundPending, Amount: models.MustMoney("10.00"), Gateway: models.GatewayA, Channel: models.RefundByGateway}, nil)
	w.OnActivity(acts.RefundAtGateway, mock.Anything, o.ID).Return(models.RefundResult{Status: models.RefundPending}, nil)
	w.ExecuteWorkflow(workflows.Refund, o)

	return w
}

// restlessCampaign is asked to look again and again, as the sweep does while the database cannot move it.
func restlessCampaign(t *testing.T) *world {
	t.Helper()
	w, id := newWorld(t), uuid.New()
	w.OnActivity(acts.AdvanceCampaign, mock.Anything, id, mock.Anything).
		Return(activities.CampaignState{Status: models.CampaignScheduled, NextAt: began.Add(365 * 24 * time.Hour)}, nil)

	for i := range 600 {
		w.at(time.Duration(i+1)*time.Minute, func() { w.SignalWorkflow(workflows.SignalLook, nil) })
	}

	w.ExecuteWorkflow(workflows.Campaign, id)

	return w
}

// endlessOutbox has more to send after each batch.
func endlessOutbox(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.OnActivity(posts.DeliverNotifications, mock.Anything).Return(activities.Delivered{Sent: 1, More: true}, nil)
	w.ExecuteWorkflow(workflows.Outbox)

	return w
}

// endlessPoll has questions left after each round.
func endlessPoll(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.RegisterActivity(&activities.Polls{})
	w.OnActivity((&activities.Polls{}).PollStatus, mock.Anything, models.ChannelGatewayA).After(5*time.Second).
		Return(activities.Polled{Asked: 1, More: true}, nil)
	w.ExecuteWorkflow(workflows.PollStatus, models.ChannelGatewayA)

	return w
}
