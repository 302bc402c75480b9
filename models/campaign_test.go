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

	require.True(t, models.NextCampaignChange(campaignIn(models.CampaignScheduled)).Equal(march(9, 21, 0)))
	require.True(t, models.NextCampaignChange(campaignIn(models.CampaignActive)).Equal(march(12, 21, 0)))
	require.True(t, models.NextCampaignChange(campaignIn(models.CampaignPaused)).Equal(march(12, 21, 0)))

	for _, s := range []models.CampaignStatus{models.CampaignPendingPayment, models.CampaignPaymentFailed, models.CampaignEnded} {
		require.True(t, models.NextCampaignChange(campaignIn(s)).IsZero(), s)
	}
}

// Following the changes from payment on ends, and never misses a state.
func TestCampaignLife(t *testing.T) {
	t.Parallel()

	c := campaignIn(models.CampaignStatusOnPayment(models.NewDate(2026, 3, 10), march(1, 0, 0)))
	states := []models.CampaignStatus{c.Status}

	for at := models.NextCampaignChange(c); !at.IsZero(); at = models.NextCampaignChange(c) {
		before := models.CampaignStatusAt(c, at.Add(-time.Nanosecond))
		require.Equal(t, c.Status, before, "not a moment too early")

		c.Status = models.CampaignStatusAt(c, at)
		states = append(states, c.Status)
		require.Less(t, len(states), 5)
	}

	require.Equal(t, []models.CampaignStatus{models.CampaignScheduled, models.CampaignActive, models.CampaignEnded}, states)
}
