package catalogue_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/catalogue"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// newCampaign is a campaign of today and tomorrow, not inserted yet.
func (b *books) newCampaign() models.AdCampaign {
	today := models.DateIn(bookstest.Clock())

	return models.AdCampaign{
		ProviderID: b.Provider.ID, TripID: b.Trip.ID, Title: "Campaign", Description: "Words",
		StartsOn: today, EndsOn: today.AddDays(1), Price: models.MustMoney("100.00"),
	}
}

func TestCampaignManagement(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := storetest.Fixture(t, b.Store)
	ctx, staff, admin, now := t.Context(), bookstest.As(b.World, models.RoleProviderAdmin), bookstest.As(b.World, models.RoleAdmin), bookstest.Clock()
	today := models.DateIn(now)

	c, err := b.Store.Catalogue.CreateCampaign(ctx, staff, b.newCampaign(), now)
	require.NoError(t, err)
	require.EqualValues(t, 8, c.ID.Version(), "what is paid for passes its time on")
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
		_, err = b.Store.Catalogue.CreateCampaign(ctx, staff, asked, now)
		bookstest.RequireFields(t, tt.code, err, tt.field)
		_, err = b.Store.Catalogue.UpdateCampaign(ctx, staff, c.ID, func(x *models.AdCampaign) error { tt.edit(x); return nil }, now)
		bookstest.RequireFields(t, tt.code, err, tt.field)
		require.NotEmpty(t, name)
	}

	changed, err := b.Store.Catalogue.UpdateCampaign(ctx, staff, c.ID, func(x *models.AdCampaign) error {
		x.Title, x.Price, x.Status, x.CreatedBy = "Other", models.MustMoney("50.00"), models.CampaignActive, uuid.New()

		return nil
	}, now.AddDate(0, 0, 1)) // the first day has come; it was not changed
	require.NoError(t, err)
	require.Equal(t, "Other", changed.Title)
	require.Equal(t, "50.00", changed.Price.String())
	require.Equal(t, models.CampaignPendingPayment, changed.Status)
	require.Equal(t, staff.UserID, changed.CreatedBy)

	_, err = b.Store.Catalogue.CreateCampaign(ctx, admin, func() models.AdCampaign { x := b.newCampaign(); x.ProviderID = uuid.Nil; return x }(), now)
	bookstest.RequireFields(t, models.CodeValidation, err, "provider_id")

	theirs := bookstest.As(other, models.RoleProviderStaff)

	for _, refused := range []error{
		bookstest.ErrorOf(b.Store.Catalogue.GetCampaign(ctx, theirs, c.ID)), b.Store.Catalogue.DeleteCampaign(ctx, theirs, c.ID, time.Now()),
		bookstest.ErrorOf(b.Store.Catalogue.PauseCampaign(ctx, theirs, c.ID, now)), bookstest.ErrorOf(b.Store.Catalogue.ResumeCampaign(ctx, theirs, c.ID, now)),
		bookstest.ErrorOf(b.Store.Catalogue.UpdateCampaign(ctx, theirs, c.ID, func(*models.AdCampaign) error { return nil }, now)),
	} {
		bookstest.RequireCode(t, models.CodeNotFound, refused)
	}

	for name, f := range map[string]catalogue.CampaignFilter{
		"all": {}, "status": {Status: models.CampaignPendingPayment}, "trip": {TripID: b.Trip.ID}, "search": {Search: "oth"},
	} {
		page, err := b.Store.Catalogue.ListCampaigns(ctx, staff, f)
		require.NoError(t, err, name)
		require.Len(t, page.Items, 1, name)

		page, err = b.Store.Catalogue.ListCampaigns(ctx, theirs, f)
		require.NoError(t, err, name)
		require.Empty(t, page.Items, name)
	}

	require.NoError(t, b.Store.Catalogue.DeleteCampaign(ctx, staff, c.ID, time.Now()))
	bookstest.RequireCode(t, models.CodeNotFound, b.Store.Catalogue.DeleteCampaign(ctx, staff, c.ID, time.Now()))
	_, err = b.Store.Payments.PayableCampaign(ctx, c.ID, time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

func TestCampaignWhilePaidFor(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff, now := t.Context(), bookstest.As(b.World, models.RoleProviderStaff), bookstest.Clock()
	starts := models.DateIn(now).AddDays(2)
	id := b.Campaign(t, starts, starts.AddDays(2))
	touch := func() error {
		_, err := b.Store.Catalogue.UpdateCampaign(ctx, staff, id, func(x *models.AdCampaign) error { x.Title = "Touched"; return nil }, now)

		return err
	}
	pause := func(at time.Time) (models.CampaignStatus, error) {
		c, err := b.Store.Catalogue.PauseCampaign(ctx, staff, id, at)

		return c.Status, err
	}
	resume := func(at time.Time) (models.CampaignStatus, error) {
		c, err := b.Store.Catalogue.ResumeCampaign(ctx, staff, id, at)

		return c.Status, err
	}

	require.NoError(t, touch())
	bookstest.RequireCode(t, models.CodeInvalidState, bookstest.ErrorOf(pause(now)))
	bookstest.RequireCode(t, models.CodeInvalidState, bookstest.ErrorOf(resume(now)))

	first := b.OpenCampaign(t, id, 1)
	bookstest.RequireCode(t, models.CodeInvalidState, touch())
	bookstest.RequireCode(t, models.CodeInvalidState, b.Store.Catalogue.DeleteCampaign(ctx, staff, id, time.Now()))

	b.Report(t, first, models.EventPaymentFailed)
	require.NoError(t, touch(), "PAYMENT_FAILED is unpaid")

	b.Report(t, b.OpenCampaign(t, id, 2), models.EventPaymentSucceeded)
	bookstest.RequireCode(t, models.CodeInvalidState, touch())
	bookstest.RequireCode(t, models.CodeInvalidState, b.Store.Catalogue.DeleteCampaign(ctx, staff, id, time.Now()))

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

	bookstest.RequireCode(t, models.CodeInvalidState, bookstest.ErrorOf(pause(now)))
	bookstest.RequireCode(t, models.CodeInvalidState, bookstest.ErrorOf(resume(now)))
	require.Equal(t, 3, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'AD_CAMPAIGN_PAUSED'"), "only what changed something")
}

// Paused before its dates were ever looked at, and resumed in time: its workflow still wakes up on the first day.
func TestCampaignPausedBeforeItsFirstDay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff, now := t.Context(), bookstest.As(b.World, models.RoleProviderStaff), bookstest.Clock()
	starts := models.DateIn(now).AddDays(2)
	id := b.Campaign(t, starts, starts)
	b.Report(t, b.OpenCampaign(t, id, 1), models.EventPaymentSucceeded)

	_, err := b.Store.Catalogue.PauseCampaign(ctx, staff, id, now)
	require.NoError(t, err)

	status, next, err := b.Store.Payments.AdvanceCampaign(ctx, id, now)
	require.NoError(t, err)
	require.Equal(t, models.CampaignPaused, status)
	require.True(t, starts.Start().Equal(next))
}

// A campaign costs what its payment has copied, under whatever configuration it is read.
func TestCampaignsShowWhatTheyCost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff, now := t.Context(), bookstest.As(b.World, models.RoleProviderStaff), bookstest.Clock()
	starts := models.DateIn(now).AddDays(2)
	another := models.MustRate("0.05")

	cost := func(c models.AdCampaign) string {
		amount, vat, rate := c.Cost(another)

		return amount.String() + " " + vat.String() + " " + rate.String()
	}
	read := func(id uuid.UUID) string {
		c, err := b.Store.Catalogue.GetCampaign(ctx, staff, id)
		require.NoError(t, err)

		page, err := b.Store.Catalogue.ListCampaigns(ctx, staff, catalogue.CampaignFilter{})
		require.NoError(t, err)

		for _, listed := range page.Items {
			if listed.ID == id {
				require.Equal(t, cost(c), cost(listed))
			}
		}

		return cost(c)
	}

	const today, copied = "1050.00 50.00 0.05", "1200.00 200.00 0.20"

	other := b.Campaign(t, starts, starts)
	id := b.Campaign(t, starts, starts)
	require.Equal(t, today, read(id))

	first := b.OpenCampaign(t, id, 1)
	require.Equal(t, copied, read(id), "an attempt is open")

	b.Report(t, first, models.EventPaymentFailed)
	require.Equal(t, today, read(id), "the next attempt copies the rate of its moment")

	b.Report(t, b.OpenCampaign(t, id, 2), models.EventPaymentSucceeded)
	require.Equal(t, copied, read(id))

	paused, err := b.Store.Catalogue.PauseCampaign(ctx, staff, id, now)
	require.NoError(t, err)
	require.Equal(t, copied, cost(paused))
	require.Equal(t, today, read(other))
}
