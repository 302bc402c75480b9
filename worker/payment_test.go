package worker_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"rihla/activities"
	"rihla/gateways"
	"rihla/gateways/fake"
	"rihla/internal/store/db"
	"rihla/internal/store/incidents"
	"rihla/models"
	"rihla/worker"
	"rihla/workflows"
)

func TestPayment(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	h.work(t)
	require.NoError(t, h.Ping(t.Context()))

	a := h.attempt(t)
	h.start(t, a)
	h.start(t, a) // the same attempt is the same workflow
	require.Len(t, h.gateway.Checkouts(), 1)

	require.NoError(t, h.gateway.Pay(a.ID()))
	h.webhook(t, a, models.EventPaymentSucceeded)
	h.becomes(t, a, models.TransactionPaid)

	var settled models.Settled

	h.workflow(t, models.PaymentWorkflowID(a.ID()), &settled)
	require.Equal(t, models.TransactionPaid, settled.Status)
	require.True(t, h.webhook(t, a, models.EventPaymentSucceeded).Duplicate)

	require.Eventually(t, func() bool { return h.mailbox.count(models.NotifyPaymentSucceeded) == 2 }, 20*time.Second, 20*time.Millisecond,
		"the customer is told without waiting for a sweep")

	a.Number = 2
	_, err := h.StartPayment(patient(t), a)
	require.Equal(t, models.CodeBookingNotPayable, models.CodeOf(err), "the domain's own error reaches the caller: %v", err)

	_, err = h.CancelPayment(patient(t), uuid.New())
	require.Equal(t, models.CodeNotFound, models.CodeOf(err))
}

func TestPaymentThatIsCancelled(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	h.work(t)

	a := h.attempt(t)
	h.start(t, a)
	s, err := h.CancelPayment(patient(t), a.ID())
	require.NoError(t, err)
	require.Equal(t, models.FailureCancelled, s.Failure)

	// The customer was faster at the gateway, and it is noticed late.
	require.NoError(t, h.gateway.Pay(a.ID()))
	require.True(t, h.webhook(t, a, models.EventPaymentSucceeded).Ended)
	h.becomes(t, a, models.TransactionPaid)

	b := h.attempt(t)
	h.start(t, b)
	require.NoError(t, h.gateway.Pay(b.ID()))
	s, err = h.CancelPayment(patient(t), b.ID())
	require.NoError(t, err)
	require.Equal(t, models.TransactionPaid, s.Status, "the gateway is asked before anything is cancelled")
}

// The booking is cancelled in the database before its workflow gets the signal, as the API does it.
func TestPaymentOfACancelledBooking(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	h.work(t)

	cancel := func(a models.Attempt) models.Settled {
		_, pending, err := h.store.Payments.CancelBooking(t.Context(), db.Actor{UserID: a.UserID}, a.BookingID, time.Now())
		require.NoError(t, err)

		s, err := h.CancelPayment(patient(t), pending.ID)
		require.NoError(t, err)
		require.Equal(t, models.FailureCancelled, s.Failure)

		var settled models.Settled

		h.workflow(t, models.PaymentWorkflowID(a.ID()), &settled)
		require.Equal(t, s, settled)

		return settled
	}

	a := h.attempt(t)
	h.start(t, a)
	require.False(t, cancel(a).RefundOwed)
	require.Equal(t, gateways.CheckoutCanceled, h.gateway.Checkouts()[0].Status)

	// The customer was faster than the cancellation: the money goes back by itself.
	b := h.attempt(t)
	h.start(t, b)
	require.NoError(t, h.gateway.Pay(b.ID()))
	require.True(t, cancel(b).RefundOwed)
	require.Eventually(t, func() bool {
		tx, err := h.store.Payments.TransactionByID(t.Context(), b.ID())

		return err == nil && tx.RefundedAmount.Equal(tx.Amount)
	}, 20*time.Second, 20*time.Millisecond)
}

func TestPaymentWithoutAWorker(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	a := h.attempt(t)

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()

	_, err := h.StartPayment(ctx, a)
	require.ErrorIs(t, err, workflows.ErrStillRunning)

	h.work(t)
	h.start(t, a) // the retry finds the same workflow
	require.Len(t, h.gateway.Checkouts(), 1)
}

// A worker was killed after it had queued messages and before it could wake the outbox; no sweep comes.
func TestMessagesOfAWorkerThatWasKilled(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	a := h.attempt(t)

	tx, _, err := h.store.Payments.OpenPayment(t.Context(), a, time.Now)
	require.NoError(t, err)
	_, err = h.store.Inbox.StoreEvent(t.Context(), models.WebhookEvent{
		ID: models.NewID(), Channel: tx.PaymentMethod.Channel(), WebhookID: uuid.NewString(), Type: models.EventPaymentSucceeded,
		CheckoutID: uuid.NewString(), MerchantReference: tx.ID.String(), Amount: &tx.Amount, Currency: tx.Currency,
		PaymentMethod: tx.PaymentMethod, OccurredAt: time.Now(),
	}, time.Now())
	require.NoError(t, err)
	settled, err := h.store.Payments.SettlePayment(t.Context(), tx.ID, time.Now())
	require.NoError(t, err)
	require.Equal(t, 2, settled.Queued)

	h.work(t)
	require.Eventually(t, func() bool { return h.mailbox.count(models.NotifyPaymentSucceeded) == 2 }, 20*time.Second, 20*time.Millisecond)
}

// Both attempts of a booking take money: the second goes back by itself.
func TestLateMoneyGoesBack(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	h.work(t)

	first := h.attempt(t)
	h.start(t, first)
	h.webhook(t, first, models.EventPaymentFailed)
	h.becomes(t, first, models.TransactionFailed)

	second := first
	second.Number = 2
	h.start(t, second)
	require.NoError(t, h.gateway.Pay(second.ID()))
	h.webhook(t, second, models.EventPaymentSucceeded)
	h.becomes(t, second, models.TransactionPaid)

	require.NoError(t, h.gateway.Pay(first.ID()))
	h.webhook(t, first, models.EventPaymentSucceeded)

	require.Eventually(t, func() bool {
		tx, err := h.store.Payments.TransactionByID(t.Context(), first.ID())

		return err == nil && tx.RefundedAmount.Equal(tx.Amount)
	}, 20*time.Second, 20*time.Millisecond)
	require.Equal(t, "115.00", h.gateway.Refunded().String())
	require.Equal(t, models.TransactionPaid, h.becomes(t, second, models.TransactionPaid).Status)

	d, err := h.temporal.DescribeWorkflow(t.Context(), models.RefundWorkflowID(models.RefundID(first.ID(), "late")), "")
	require.NoError(t, err)
	require.Equal(t, workflows.TaskTimeout, d.RawResponse.GetExecutionConfig().GetDefaultWorkflowTaskTimeout().AsDuration(),
		"what a killed worker held is given to another as soon as for any other workflow")
}

func TestRefund(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	h.work(t)
	a := h.pays(t)

	amount := models.MustMoney("60.00")
	r := models.RefundRequest{ID: uuid.New(), BookingID: a.BookingID, Type: models.RefundPartial, Amount: &amount}
	h.gateway.Script(fake.CreateRefund, fake.Fault{Mode: fake.UnknownAfterEffect})

	for range 2 { // the same request is the same refund
		ordered, err := h.store.Refunds.OrderRefund(t.Context(), r, time.Now())
		require.NoError(t, err)
		s, err := h.StartRefund(patient(t), ordered)
		require.NoError(t, err)
		require.Equal(t, models.RefundSucceeded, s.Status)
	}

	require.Equal(t, "60.00", h.gateway.Refunded().String())

	// A refund workflow that was started manually has no order: whatever else the input says.
	id := uuid.New()
	run, err := h.temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: models.RefundWorkflowID(id), TaskQueue: h.queue},
		"Refund", map[string]any{"id": id, "booking_id": a.BookingID, "type": "FULL", "requested_by": a.UserID})
	require.NoError(t, err)

	var s models.SettledRefund

	require.NoError(t, run.Get(patient(t), &s))
	require.Equal(t, models.SettledRefund{}, s)
	require.Equal(t, "60.00", h.gateway.Refunded().String(), "no money moves")

	open, err := h.store.Incidents.ListIncidents(t.Context(), incidents.IncidentFilter{Kind: models.IncidentRefundUnordered})
	require.NoError(t, err)
	require.Len(t, open.Items, 1)
	require.Equal(t, models.RefundWorkflowID(id), open.Items[0].WorkflowID)
}

func TestRefundThatIsPending(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	h.work(t)
	a := h.pays(t)

	r, err := h.store.Refunds.OrderRefund(t.Context(), models.RefundRequest{ID: uuid.New(), BookingID: a.BookingID, Type: models.RefundFull}, time.Now())
	require.NoError(t, err)
	h.gateway.Script(fake.CreateRefund, fake.Fault{Mode: fake.Pending})

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()

	_, err = h.StartRefund(ctx, r)
	require.ErrorIs(t, err, workflows.ErrStillRunning)

	require.Eventually(t, func() bool { return h.gateway.DecideRefund(r.ID, true) == nil }, 20*time.Second, 20*time.Millisecond,
		"the gateway holds the refund")
	require.NoError(t, h.Deliver(t.Context(), models.Delivery{
		EventID: uuid.New(), TransactionID: a.ID(), RefundID: r.ID, Channel: models.ChannelGatewayA,
	}))

	var s models.SettledRefund

	h.workflow(t, models.RefundWorkflowID(r.ID), &s)
	require.Equal(t, models.RefundSucceeded, s.Status)

	// Resumed by a sweep that was a moment too late: decided is decided.
	require.NoError(t, h.ResumeRefund(t.Context(), r))
	h.workflow(t, models.RefundWorkflowID(r.ID), &s)
	require.Equal(t, models.RefundSucceeded, s.Status)
	require.Equal(t, 1, h.gateway.Calls(fake.CreateRefund))
}

// A workflow that an operator terminated, and a webhook that was lost: reconciliation ends the attempt.
func TestReconcile(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	h.work(t)

	a := h.attempt(t)
	h.start(t, a)
	require.NoError(t, h.temporal.TerminateWorkflow(t.Context(), models.PaymentWorkflowID(a.ID()), "", "test"))
	require.NoError(t, h.gateway.Pay(a.ID()))

	require.NoError(t, h.Reconcile(t.Context(), a.ID(), a.Method.Gateway()))
	h.becomes(t, a, models.TransactionPaid)
}

func TestSweepSchedule(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)

	for range 2 { // starting again changes the schedule that is there
		w := worker.New(worker.Deps{
			Log: slog.Default(), Temporal: h.temporal, Store: h.store, Sender: h.mailbox, Namespace: "default", Queue: h.queue, SweepInterval: time.Second,
		})
		require.NoError(t, w.Start(t.Context()))
		w.Stop()
	}

	schedule := h.temporal.ScheduleClient().GetHandle(t.Context(), models.SweepScheduleID(h.queue))
	t.Cleanup(func() { require.NoError(t, schedule.Delete(context.WithoutCancel(t.Context()))) })

	d, err := schedule.Describe(t.Context())
	require.NoError(t, err)
	require.Equal(t, time.Second, d.Schedule.Spec.Intervals[0].Every)
	require.Equal(t, time.Minute, d.Schedule.Policy.CatchupWindow)

	var swept activities.Swept

	h.work(t)
	require.Eventually(t, func() bool {
		d, err := schedule.Describe(t.Context())
		if err != nil || len(d.Info.RecentActions) == 0 {
			return false
		}

		id := d.Info.RecentActions[len(d.Info.RecentActions)-1].StartWorkflowResult.WorkflowID

		return h.temporal.GetWorkflow(patient(t), id, "").Get(patient(t), &swept) == nil
	}, 30*time.Second, 100*time.Millisecond)
}
