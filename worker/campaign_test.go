package worker_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/worker"

	"rihla/activities"
	"rihla/gateways"
	"rihla/internal/store/db"
	"rihla/models"
	"rihla/worker"
	"rihla/workflows"
)

// quickDays is a clock on which days pass in seconds.
type quickDays struct {
	began time.Time // in life
	from  time.Time // on this clock
	day   time.Duration
	slow  time.Duration // by which the worker's clock is behind that of Temporal
}

// at is the moment in life at which the clock shows x.
func (q quickDays) at(x time.Time) time.Time {
	return q.began.Add(time.Duration(float64(x.Sub(q.from)) / float64(24*time.Hour) * float64(q.day)))
}

// shows is what the clock shows at a moment in life.
func (q quickDays) shows(life time.Time) time.Time {
	return q.from.Add(time.Duration(float64(life.Sub(q.began)) / float64(q.day) * float64(24*time.Hour)))
}

func (q quickDays) now() time.Time { return q.shows(time.Now()).Add(-q.slow) }

// workCampaigns serves the workflow of campaigns on a quick clock, with the service's own code, until it is stopped.
func (h *testEnv) workCampaigns(t *testing.T, q quickDays) (stop func()) {
	t.Helper()

	// The memory of an earlier worker is gone, as it would be with its process: all is read from the history.
	sdk.PurgeStickyWorkflowCache()

	w := sdk.New(h.temporal, h.queue, sdk.Options{StickyScheduleToStartTimeout: time.Second})
	workflows.Register(w)

	payments := activities.Payments{Log: slog.Default(), Store: h.store, Now: q.now}
	w.RegisterActivityWithOptions(func(ctx context.Context, id uuid.UUID, at time.Time) (activities.CampaignState, error) {
		state, err := payments.AdvanceCampaign(ctx, id, q.shows(at))
		if !state.NextAt.IsZero() {
			state.NextAt = q.at(state.NextAt)
		}

		return state, err
	}, activity.RegisterOptions{Name: "AdvanceCampaign"})
	require.NoError(t, w.Start())

	return w.Stop
}

// paidCampaign is a paid campaign whose workflow was terminated.
func (h *testEnv) paidCampaign(t *testing.T, starts, ends models.Date) models.AdCampaign {
	t.Helper()

	staff := h.world.Users[models.RoleProviderAdmin]
	by := db.Actor{UserID: staff.ID, Role: staff.Role, ProviderID: h.world.Provider.ID}

	c, err := h.store.Catalogue.CreateCampaign(t.Context(), by, models.AdCampaign{
		ProviderID: h.world.Provider.ID, TripID: h.world.Trip.ID, Title: "Campaign", StartsOn: starts, EndsOn: ends,
		Price: models.MustMoney("100.00"),
	}, time.Now())
	require.NoError(t, err)

	w := worker.New(worker.Deps{
		Log: slog.Default(), Temporal: h.temporal, Store: h.store, Sender: h.mailbox, Namespace: "default", Queue: h.queue,
		Gateways: map[models.MerchantAccount]gateways.Gateway{models.AccountGatewayA: h.gateway},
	})
	require.NoError(t, w.Start(t.Context()))

	defer w.Stop()

	a := models.Attempt{CampaignID: c.ID, ProviderID: c.ProviderID, Number: 1, UserID: staff.ID, Method: models.MethodCreditCard}
	h.start(t, a)
	require.NoError(t, h.gateway.Pay(a.ID()))
	h.webhook(t, a, models.EventPaymentSucceeded)

	var settled models.Settled

	h.workflow(t, models.PaymentWorkflowID(a.ID()), &settled)
	require.Equal(t, c.ID, settled.Campaign)
	require.NoError(t, h.temporal.TerminateWorkflow(t.Context(), models.CampaignWorkflowID(c.ID), "", "by mistake"))

	return c
}

// TestCampaignThroughRestarts: a campaign whose workflow was terminated is taken up again, and starts and ends on its
// days although no worker lives from one to the next.
func TestCampaignThroughRestarts(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	starts := models.DateIn(time.Now()).AddDays(2)
	c := h.paidCampaign(t, starts, starts)
	q := quickDays{began: time.Now(), from: starts.AddDays(-2).Start(), day: 5 * time.Second}
	begins, over := q.at(starts.Start()), q.at(starts.AddDays(1).Start())
	actor := db.Actor{UserID: c.CreatedBy, Role: models.RoleProviderAdmin, ProviderID: c.ProviderID}
	becomes := func(want models.CampaignStatus) {
		t.Helper()
		require.Eventually(t, func() bool {
			now, err := h.store.Catalogue.GetCampaign(t.Context(), actor, c.ID)

			return err == nil && now.Status == want
		}, 30*time.Second, 20*time.Millisecond, want)
	}
	waits := func() bool { // the timer is in the history
		d, err := h.temporal.DescribeWorkflow(t.Context(), models.CampaignWorkflowID(c.ID), "")

		return err == nil && d.HistoryLength >= 8
	}

	stop := h.workCampaigns(t, q)
	require.NoError(t, h.ResumeCampaign(t.Context(), c))
	require.NoError(t, h.ResumeCampaign(t.Context(), c), "it runs: nothing is started")
	require.Eventually(t, waits, 20*time.Second, 10*time.Millisecond)
	stop()
	becomes(models.CampaignScheduled)

	stop = h.workCampaigns(t, q)

	becomes(models.CampaignActive)
	require.False(t, time.Now().Before(begins), "not before its first day")
	stop()

	// Its last day ends while no worker runs.
	require.Eventually(t, func() bool { return time.Now().After(over) }, 30*time.Second, 50*time.Millisecond)
	becomes(models.CampaignActive)

	stop = h.workCampaigns(t, q)
	defer stop()

	var last models.CampaignStatus

	h.workflow(t, models.CampaignWorkflowID(c.ID), &last)
	require.Equal(t, models.CampaignEnded, last)
	becomes(models.CampaignEnded)
}

// TestCampaignOnASlowClock: a worker whose clock is behind Temporal's sees the day before when the timer of midnight fires.
// The campaign moves all the same, once, and does not ask the worker again and again until its clock has come round.
func TestCampaignOnASlowClock(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	starts := models.DateIn(time.Now()).AddDays(2)
	c := h.paidCampaign(t, starts, starts)
	q := quickDays{began: time.Now(), from: starts.AddDays(-1).Start().Add(12 * time.Hour), day: 4 * time.Second, slow: 6 * time.Hour}

	stop := h.workCampaigns(t, q)
	defer stop()

	require.NoError(t, h.ResumeCampaign(t.Context(), c))

	var last models.CampaignStatus

	h.workflow(t, models.CampaignWorkflowID(c.ID), &last)
	require.Equal(t, models.CampaignEnded, last)

	d, err := h.temporal.DescribeWorkflow(t.Context(), models.CampaignWorkflowID(c.ID), "")
	require.NoError(t, err)
	require.Less(t, d.HistoryLength, 40)
}

// TestCampaignResumedAtMidnight: a pause that ends at midnight, by the clock of an API that is behind, leaves a campaign to
// its schedule whose workflow has been there already. The sweep has that one look again.
func TestCampaignResumedAtMidnight(t *testing.T) {
	t.Parallel()
	h := newTestEnv(t)
	today := models.DateIn(time.Now())
	c := h.paidCampaign(t, today, today.AddDays(9))
	actor := db.Actor{UserID: c.CreatedBy, Role: models.RoleProviderAdmin, ProviderID: c.ProviderID}
	is := func(want models.CampaignStatus) func() bool {
		return func() bool {
			now, err := h.store.Catalogue.GetCampaign(t.Context(), actor, c.ID)

			return err == nil && now.Status == want
		}
	}

	stop := h.workCampaigns(t, quickDays{began: time.Now(), from: time.Now(), day: 24 * time.Hour})
	defer stop()

	require.NoError(t, h.ResumeCampaign(t.Context(), c))
	require.Eventually(t, func() bool { // the timer is in the history
		d, err := h.temporal.DescribeWorkflow(t.Context(), models.CampaignWorkflowID(c.ID), "")

		return err == nil && d.HistoryLength >= 8
	}, 20*time.Second, 10*time.Millisecond)

	_, err := h.store.Catalogue.PauseCampaign(t.Context(), actor, c.ID, time.Now())
	require.NoError(t, err)
	_, err = h.store.Catalogue.ResumeCampaign(t.Context(), actor, c.ID, today.Start().Add(-time.Second))
	require.NoError(t, err)
	require.True(t, is(models.CampaignScheduled)())

	require.NoError(t, h.ResumeCampaign(t.Context(), c))
	require.Eventually(t, is(models.CampaignActive), 20*time.Second, 20*time.Millisecond)
}
