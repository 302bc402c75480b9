package models_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/models"
)

// A campaign from the 10th to the 12th of March: in UTC from the 9th, 21:00, until the 12th, 21:00.
func campaignIn(s models.CampaignStatus) *models.AdCampaign {
	return &models.AdCampaign{Status: s, StartsOn: models.NewDate(2026, 3, 10), EndsOn: models.NewDate(2026, 3, 12)}
}

func march(day, hour, minute int) time.Time {
	return time.Date(2026, 3, day, hour, minute, 0, 0, time.UTC)
}

func TestCampaignStatusOnPayment(t *testing.T) {
	t.Parallel()

	starts := models.NewDate(2026, 3, 10)
	require.Equal(t, models.CampaignScheduled, models.CampaignStatusOnPayment(starts, march(1, 0, 0)))
	require.Equal(t, models.CampaignScheduled, models.CampaignStatusOnPayment(starts, march(9, 20, 59)))
	require.Equal(t, models.CampaignActive, models.CampaignStatusOnPayment(starts, march(9, 21, 0)), "the 10th has begun in Riyadh")
	require.Equal(t, models.CampaignActive, models.CampaignStatusOnPayment(starts, march(11, 0, 0)))
}

func TestCampaignStatusAt(t *testing.T) {
	t.Parallel()

	const (
		scheduled = models.CampaignScheduled
		active    = models.CampaignActive
		paused    = models.CampaignPaused
		ended     = models.CampaignEnded
	)

	tests := []struct {
		at   time.Time
		want map[models.CampaignStatus]models.CampaignStatus
	}{
		{march(9, 20, 59), map[models.CampaignStatus]models.CampaignStatus{scheduled: scheduled, active: active, paused: paused, ended: ended}},
		{march(9, 21, 0), map[models.CampaignStatus]models.CampaignStatus{scheduled: active, active: active, paused: paused, ended: ended}},
		{march(12, 20, 59), map[models.CampaignStatus]models.CampaignStatus{scheduled: active, active: active, paused: paused, ended: ended}},
		{march(12, 21, 0), map[models.CampaignStatus]models.CampaignStatus{scheduled: ended, active: ended, paused: ended, ended: ended}},
		{march(30, 0, 0), map[models.CampaignStatus]models.CampaignStatus{scheduled: ended, active: ended, paused: ended, ended: ended}},
	}
	for _, tt := range tests {
		for from, want := range tt.want {
			require.Equal(t, want, models.CampaignStatusAt(campaignIn(from), tt.at), "%s at %s", from, tt.at)
		}

		for _, unpaid := range []models.CampaignStatus{models.CampaignPendingPayment, models.CampaignPaymentFailed} {
			require.Equal(t, unpaid, models.CampaignStatusAt(campaignIn(unpaid), tt.at), "the clock does not pay")
		}
	}
}

func TestNextCampaignChange(t *testing.T) {
	t.Parallel()

	early, begun := march(1, 0, 0), march(9, 21, 0)

	for _, now := range []time.Time{early, begun} {
		require.True(t, models.NextCampaignChange(campaignIn(models.CampaignScheduled), now).Equal(begun))
		require.True(t, models.NextCampaignChange(campaignIn(models.CampaignActive), now).Equal(march(12, 21, 0)))
	}

	require.True(t, models.NextCampaignChange(campaignIn(models.CampaignPaused), early).Equal(begun), "it may be resumed before")
	require.True(t, models.NextCampaignChange(campaignIn(models.CampaignPaused), begun).Equal(march(12, 21, 0)))

	for _, s := range []models.CampaignStatus{models.CampaignPendingPayment, models.CampaignPaymentFailed, models.CampaignEnded} {
		require.True(t, models.NextCampaignChange(campaignIn(s), early).IsZero(), s)
	}
}

// Following the changes from payment on ends, and never misses a state.
func TestCampaignLife(t *testing.T) {
	t.Parallel()

	c := campaignIn(models.CampaignStatusOnPayment(models.NewDate(2026, 3, 10), march(1, 0, 0)))
	states := []models.CampaignStatus{c.Status}

	for at := models.NextCampaignChange(c, march(1, 0, 0)); !at.IsZero(); at = models.NextCampaignChange(c, at) {
		before := models.CampaignStatusAt(c, at.Add(-time.Nanosecond))
		require.Equal(t, c.Status, before, "not a moment too early")

		c.Status = models.CampaignStatusAt(c, at)
		states = append(states, c.Status)
		require.Less(t, len(states), 5)
	}

	require.Equal(t, []models.CampaignStatus{models.CampaignScheduled, models.CampaignActive, models.CampaignEnded}, states)
}

func TestPauseAndResume(t *testing.T) {
	t.Parallel()

	const (
		scheduled = models.CampaignScheduled
		active    = models.CampaignActive
		paused    = models.CampaignPaused
		ended     = models.CampaignEnded
		refused   = models.CampaignStatus("")
	)

	before, during, after := march(9, 20, 59), march(9, 21, 0), march(12, 21, 0)

	tests := []struct {
		from          models.CampaignStatus
		at            time.Time
		pause, resume models.CampaignStatus
	}{
		{scheduled, before, paused, scheduled},
		{scheduled, during, paused, scheduled}, // the timer is late; it will come
		{active, during, paused, active},
		{active, after, refused, active},
		{paused, before, paused, scheduled},
		{paused, during, paused, active},
		{paused, march(12, 20, 59), paused, active},
		{paused, after, paused, ended},
		{ended, during, refused, refused},
		{models.CampaignPendingPayment, during, refused, refused},
		{models.CampaignPaymentFailed, during, refused, refused},
	}
	for _, tt := range tests {
		got, err := campaignIn(tt.from).Pause(tt.at)
		require.Equal(t, tt.pause, got, "pause of %s at %s", tt.from, tt.at)
		require.Equal(t, tt.pause == refused, models.CodeOf(err) == models.CodeInvalidState && err != nil)

		got, err = campaignIn(tt.from).Resume(tt.at)
		require.Equal(t, tt.resume, got, "resume of %s at %s", tt.from, tt.at)
		require.Equal(t, tt.resume == refused, models.CodeOf(err) == models.CodeInvalidState && err != nil)
	}
}

func TestOnlyUnpaidCampaignsAreEditable(t *testing.T) {
	t.Parallel()

	for s, want := range map[models.CampaignStatus]bool{
		models.CampaignPendingPayment: true, models.CampaignPaymentFailed: true, models.CampaignScheduled: false,
		models.CampaignActive: false, models.CampaignPaused: false, models.CampaignEnded: false,
	} {
		require.Equal(t, want, campaignIn(s).Editable() == nil, s)
	}
}

func TestCampaignDates(t *testing.T) {
	t.Parallel()

	var none models.Date

	on := campaignIn(models.CampaignPendingPayment)
	require.NoError(t, on.CheckDates(none, march(10, 20, 59)), "today in Riyadh is not the past")
	requireField(t, "starts_on", on.CheckDates(none, march(10, 21, 0)))
	require.NoError(t, on.CheckDates(on.StartsOn, march(10, 21, 0)), "what is not changed is not held against anybody")

	on.EndsOn = on.StartsOn
	require.NoError(t, on.CheckDates(none, march(1, 0, 0)), "one day is a campaign")

	on.EndsOn = on.StartsOn.AddDays(-1)
	requireField(t, "ends_on", on.CheckDates(none, march(1, 0, 0)))
}

// requireField checks that err is a validation error on exactly the fields.
func requireField(t *testing.T, field string, err error) {
	t.Helper()

	var e *models.Error

	require.ErrorAs(t, err, &e)
	require.Equal(t, models.CodeValidation, e.Code)
	require.Len(t, e.Details, 1)
	require.Contains(t, e.Details, field)
}

func TestCampaignPayable(t *testing.T) {
	t.Parallel()

	payable := []models.CampaignStatus{models.CampaignPendingPayment, models.CampaignPaymentFailed}
	for _, s := range payable {
		require.NoError(t, campaignIn(s).Payable(march(12, 20, 59)), s)
		require.Equal(t, models.CodeCampaignNotPayable, codeOf(t, campaignIn(s).Payable(march(12, 21, 0))), s)
	}

	for _, s := range []models.CampaignStatus{
		models.CampaignScheduled, models.CampaignActive, models.CampaignPaused, models.CampaignEnded,
	} {
		require.Equal(t, models.CodeCampaignNotPayable, codeOf(t, campaignIn(s).Payable(march(1, 12, 0))), s)
	}
}

func TestCampaignCost(t *testing.T) {
	t.Parallel()

	c := models.AdCampaign{Price: models.MustMoney("1000.00")}
	attempt := models.PaymentTransaction{
		Amount: models.MustMoney("1200.00"), VATAmount: models.MustMoney("200.00"), VATRate: models.MustRate("0.20"),
	}

	for _, tt := range []struct {
		payment                  *models.PaymentTransaction
		today, amount, vat, rate string
	}{
		{nil, "0.20", "1200.00", "200.00", "0.20"},
		{nil, "0.15", "1150.00", "150.00", "0.15"},
		{&attempt, "0.20", "1200.00", "200.00", "0.20"},
		{&attempt, "0.15", "1200.00", "200.00", "0.20"},
	} {
		c.Payment = tt.payment
		amount, vat, rate := c.Cost(models.MustRate(tt.today))
		require.Equal(t, tt.amount, amount.String())
		require.Equal(t, tt.vat, vat.String())
		require.Equal(t, tt.rate, rate.String())
	}
}

// What goes back is of whole days, half-up; today counts as run once the campaign has begun.
func TestUnrunDays(t *testing.T) {
	t.Parallel()

	c := campaignIn(models.CampaignActive) // from the 10th to the 12th
	price := models.MustMoney("100.00")

	for _, day := range []struct {
		now  time.Time
		want string
	}{
		{march(1, 0, 0), "100.00"},
		{march(9, 20, 59), "100.00"}, // 23:59 in Riyadh, the day before
		{march(9, 21, 0), "66.67"},
		{march(11, 20, 0), "33.33"},
		{march(12, 0, 0), "0.00"},
		{march(30, 0, 0), "0.00"},
	} {
		require.Equal(t, day.want, c.Unrun(price, day.now).String(), day.now)
	}
}
