package main

import (
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
	"rihla/models"
	"rihla/workflows"
)

// shape is one way of running a paid payment: which of its steps are regular activities and which local ones.
type shape struct {
	Name          string
	LocalCheckout bool
	LocalSettle   bool
	NotifyInside  bool // deliver notifications from the payment's own workflow
	LocalNotify   bool
	NoEager       bool // regular activities always travel through the server
	Production    bool // workflows.Payment as it is
}

var shapes = []shape{
	{Name: "all regular, not eager", NotifyInside: true, NoEager: true},
	{Name: "all regular, eager", NotifyInside: true},
	{Name: "checkout regular, rest local", NotifyInside: true, LocalSettle: true, LocalNotify: true},
	{Name: "all local", NotifyInside: true, LocalCheckout: true, LocalSettle: true, LocalNotify: true},
	{Name: "checkout regular, settle local, outbox workflow (production)", Production: true},
}

// shaped is workflows.Payment reduced to its happy path, with the steps run as the shape says.
func shaped(ctx workflow.Context, s shape, a models.Attempt) error {
	var (
		payments *activities.Payments
		outbox   *activities.Outbox
		opened   bool
		checkout activities.Checkout
	)

	err := workflow.SetUpdateHandler(ctx, workflows.UpdateCheckout, func(ctx workflow.Context) (activities.Checkout, error) {
		err := workflow.Await(ctx, func() bool { return opened })

		return checkout, err
	})
	if err != nil {
		return err
	}

	events := workflow.GetSignalChannel(ctx, workflows.SignalEvent)
	if err := step(ctx, s.LocalCheckout, payments.OpenCheckout, a, &checkout); err != nil {
		return err
	}

	opened = true
	timer := workflow.NewTimer(ctx, checkout.ExpiresAt.Sub(workflow.Now(ctx)))

	if err := workflow.Await(ctx, func() bool { return events.Len() > 0 || timer.IsReady() }); err != nil {
		return err
	}

	var event uuid.UUID

	events.ReceiveAsync(&event)

	var settled models.Settled
	if err := step(ctx, s.LocalSettle, payments.SettlePayment, a.ID(), &settled); err != nil {
		return err
	}

	if s.NotifyInside {
		if err := step(ctx, s.LocalNotify, outbox.DeliverNotifications, nil, nil); err != nil {
			return err
		}
	}

	return workflow.Await(ctx, func() bool { return workflow.AllHandlersFinished(ctx) })
}

func step(ctx workflow.Context, local bool, activity, arg, out any) error {
	var args []any
	if arg != nil {
		args = append(args, arg)
	}

	if local {
		lctx := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: 10 * time.Second})

		return workflow.ExecuteLocalActivity(lctx, activity, args...).Get(ctx, out)
	}

	actx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: 10 * time.Second})

	return workflow.ExecuteActivity(actx, activity, args...).Get(ctx, out)
}
