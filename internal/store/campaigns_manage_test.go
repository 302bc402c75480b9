package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/storetest"
	"rihla/models"
)

func clock() time.Time { return time.Now() }

// newCampaign is a campaign of today and tomorrow, not inserted yet.
func (b *testBundle) newCampaign() models.AdCampaign {
	today := models.DateIn(clock())

	return models.AdCampaign{
		ProviderID: b.Provider.ID, TripID: b.Trip.ID, Title: "Campaign", Description: "Words",
		StartsOn: today, EndsOn: today.AddDays(1), Price: models.MustMoney("100.00"),
	}
}

func TestCampaignManagement(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := storetest.Fixture(t, b.s)
	ctx, staff, admin, now := t.Context(), as(b.World, models.RoleProviderAdmin), as(b.World, models.RoleAdmin), clock()
	today := models.DateIn(now)

	c, err := b.s.CreateCampaign(ctx, b.newCampaign(), staff, now)
	require.NoError(t, err)
	require.Equal(t, models.CampaignPendingPayment, c.Status)
	require.Equal(t, staff.UserID, c.CreatedBy)
	require.Equal(t, today, c.StartsOn)

	for name, tt := range map[string]struct {
		edit  func(*models.AdCampaign)
		code  models.Code
		field string
	}{
		"foreign trip": {func(x *models.AdCampaign) { x.TripID = other.Trip.ID }, models.CodeReferenceNotOwned, "trip_id"},
		"no trip":      {func(x *models.AdCampaign) { x.TripID = uuid.New() }, models.CodeReferenceNotOwned, "trip_id"},
		"yesterday":    {func(x *models.AdCampaign) { x.StartsOn = today.AddDays(-1) }, models.CodeValidation, "starts_on"},
		"backwards":    {func(x *models.AdCampaign) { x.EndsOn = today.AddDays(-1) }, models.CodeValidation, "ends_on"},
		"for nothing":  {func(x *models.AdCampaign) { x.Price = models.Money{} }, models.CodeValidation, "price"},
		"too dear":     {func(x *models.AdCampaign) { x.Price = models.MustMoney("999999999999.99") }, models.CodeValidation, "price"},
	} {
		asked := b.newCampaign()
		tt.edit(&asked)
		_, err = b.s.CreateCampaign(ctx, asked, staff, now)
		requireFields(t, tt.code, err, tt.field)
		_, err = b.s.UpdateCampaign(ctx, c.ID, func(x *models.AdCampaign) error { tt.edit(x); return nil }, staff, now)
		requireFields(t, tt.code, err, tt.field)
		require.NotEmpty(t, name)
	}

	changed, err := b.s.UpdateCampaign(ctx, c.ID, func(x *models.AdCampaign) error {
		x.Title, x.Price, x.Status, x.CreatedBy = "Other", models.MustMoney("50.00"), models.CampaignActive, uuid.New()

		return nil
	}, staff, now.AddDate(0, 0, 1)) // the first day has come; it was not changed
	require.NoError(t, err)
	require.Equal(t, "Other", changed.Title)
	require.Equal(t, "50.00", changed.Price.String())
	require.Equal(t, models.CampaignPendingPayment, changed.Status)
	require.Equal(t, staff.UserID, changed.CreatedBy)

	_, err = b.s.CreateCampaign(ctx, func() models.AdCampaign { x := b.newCampaign(); x.ProviderID = uuid.Nil; return x }(), admin, now)
	requireFields(t, models.CodeValidation, err, "provider_id")

	theirs := as(other, models.RoleProviderStaff)

	for _, refused := range []error{
		second(b.s.GetCampaign(ctx, theirs, c.ID)), b.s.DeleteCampaign(ctx, c.ID, theirs),
		second(b.s.PauseCampaign(ctx, c.ID, theirs, now)), second(b.s.ResumeCampaign(ctx, c.ID, theirs, now)),
		second(b.s.UpdateCampaign(ctx, c.ID, func(*models.AdCampaign) error { return nil }, theirs, now)),
	} {
		requireCode(t, models.CodeNotFound, refused)
	}

	for name, f := range map[string]store.CampaignFilter{
		"all": {}, "status": {Status: models.CampaignPendingPayment}, "trip": {TripID: b.Trip.ID}, "search": {Search: "oth"},
	} {
		page, err := b.s.ListCampaigns(ctx, staff, f)
		require.NoError(t, err, name)
		require.Len(t, page.Items, 1, name)

		page, err = b.s.ListCampaigns(ctx, theirs, f)
		require.NoError(t, err, name)
		require.Empty(t, page.Items, name)
	}

	require.NoError(t, b.s.DeleteCampaign(ctx, c.ID, staff))
	requireCode(t, models.CodeNotFound, b.s.DeleteCampaign(ctx, c.ID, staff))
	_, err = b.s.PayableCampaign(ctx, c.ID, time.Now())
	requireCode(t, models.CodeNotFound, err)
}

func TestCampaignWhilePaidFor(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	ctx, staff, now := t.Context(), as(b.World, models.RoleProviderStaff), clock()
	starts := models.DateIn(now).AddDays(2)
	id := b.campaign(t, starts, starts.AddDays(2))
	touch := func() error {
		_, err := b.s.UpdateCampaign(ctx, id, func(x *models.AdCampaign) error { x.Title = "Touched"; return nil }, staff, now)

		return err
	}
	pause := func(at time.Time) (models.CampaignStatus, error) {
		c, err := b.s.PauseCampaign(ctx, id, staff, at)

		return c.Status, err
	}
	resume := func(at time.Time) (models.CampaignStatus, error) {
		c, err := b.s.ResumeCampaign(ctx, id, staff, at)

		return c.Status, err
	}

	require.NoError(t, touch())
	requireCode(t, models.CodeInvalidState, second(pause(now)))
	requireCode(t, models.CodeInvalidState, second(resume(now)))

	first := b.openCampaign(t, id, 1)
	requireCode(t, models.CodeInvalidState, touch())
	requireCode(t, models.CodeInvalidState, b.s.DeleteCampaign(ctx, id, staff))

	b.report(t, first, models.EventPaymentFailed)
	require.NoError(t, touch(), "PAYMENT_FAILED is unpaid")

	b.report(t, b.openCampaign(t, id, 2), models.EventPaymentSucceeded)
	requireCode(t, models.CodeInvalidState, touch())
	requireCode(t, models.CodeInvalidState, b.s.DeleteCampaign(ctx, id, staff))

	for _, step := range []struct {
		do   func(time.Time) (models.CampaignStatus, error)
		at   time.Time
		want models.CampaignStatus
	}{
		{resume, now, models.CampaignScheduled},
		{pause, now, models.CampaignPaused},
		{pause, now, models.CampaignPaused},
		{resume, now, models.CampaignScheduled},
		{pause, now, models.CampaignPaused},
		{resume, starts.Start(), models.CampaignActive},
		{resume, starts.Start(), models.CampaignActive},
		{pause, starts.Start(), models.CampaignPaused},
		{resume, starts.AddDays(3).Start(), models.CampaignEnded},
	} {
		got, err := step.do(step.at)
		require.NoError(t, err)
		require.Equal(t, step.want, got)
	}

	requireCode(t, models.CodeInvalidState, second(pause(now)))
	requireCode(t, models.CodeInvalidState, second(resume(now)))
	require.Equal(t, 3, b.count(t, "SELECT count(*) FROM audit_log WHERE action = 'AD_CAMPAIGN_PAUSED'"), "only what changed something")
}

// Paused before its dates were ever looked at, and resumed in time: somebody still wakes up on the first day.
func TestCampaignPausedBeforeItsFirstDay(t *testing.T) {
	t.Parallel()
	b := setupBooks(t)
	ctx, staff, now := t.Context(), as(b.World, models.RoleProviderStaff), clock()
	starts := models.DateIn(now).AddDays(2)
	id := b.campaign(t, starts, starts)
	b.report(t, b.openCampaign(t, id, 1), models.EventPaymentSucceeded)

	_, err := b.s.PauseCampaign(ctx, id, staff, now)
	require.NoError(t, err)

	status, next, err := b.s.AdvanceCampaign(ctx, id, now)
	require.NoError(t, err)
	require.Equal(t, models.CampaignPaused, status)
	require.True(t, starts.Start().Equal(next))
}
