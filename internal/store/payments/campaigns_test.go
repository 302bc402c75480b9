package payments_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

func TestAdvanceCampaign(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())
	starts, ends := today.AddDays(2), today.AddDays(4)
	campaign := b.Campaign(t, starts, ends)

	step := func(at time.Time, want models.CampaignStatus, next time.Time) {
		t.Helper()

		for range 2 { // once more changes nothing
			got, change, err := b.Store.Payments.AdvanceCampaign(t.Context(), campaign, at)
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.True(t, next.Equal(change), "%s, want %s", change, next)
			require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM ad_campaigns WHERE id = $1 AND status = $2", campaign, want))
		}
	}

	step(ends.AddDays(9).Start(), models.CampaignPendingPayment, time.Time{})
	b.Report(t, b.OpenCampaign(t, campaign, 1), models.EventPaymentSucceeded)

	over := ends.AddDays(1).Start()
	step(starts.Start().Add(-time.Second), models.CampaignScheduled, starts.Start())
	step(starts.Start(), models.CampaignActive, over)
	b.Exec(t, "UPDATE ad_campaigns SET status = 'PAUSED' WHERE id = $1", campaign)
	step(ends.Start(), models.CampaignPaused, over)
	step(over.Add(-time.Second), models.CampaignPaused, over)
	step(over, models.CampaignEnded, time.Time{})
	step(starts.Start(), models.CampaignEnded, time.Time{})

	_, _, err := b.Store.Payments.AdvanceCampaign(t.Context(), uuid.New(), time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

func TestAdvanceCampaignThatMissedItsDates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())
	campaign := b.Campaign(t, today.AddDays(1), today.AddDays(2))
	b.Report(t, b.OpenCampaign(t, campaign, 1), models.EventPaymentSucceeded)

	got, next, err := b.Store.Payments.AdvanceCampaign(t.Context(), campaign, today.AddDays(30).Start())
	require.NoError(t, err)
	require.Equal(t, models.CampaignEnded, got)
	require.True(t, next.IsZero())
}

// StaleCampaigns finds what a workflow should have moved, a while after the day has changed in Riyadh.
func TestStaleCampaigns(t *testing.T) {
	t.Parallel()
	b := setup(t)
	today := models.DateIn(time.Now())
	starts, ends := today.AddDays(2), today.AddDays(4)
	campaign := b.Campaign(t, starts, ends)

	b.Campaign(t, starts, ends) // unpaid
	b.Report(t, b.OpenCampaign(t, campaign, 1), models.EventPaymentSucceeded)

	stale := func(at time.Time) []uuid.UUID {
		t.Helper()

		rows, _, err := b.Store.Payments.StaleCampaigns(t.Context(), time.Minute, db.SweepCursor{}, 10, at)
		require.NoError(t, err)

		ids := make([]uuid.UUID, 0, len(rows))
		for _, c := range rows {
			ids = append(ids, c.ID)
		}

		return ids
	}

	started, over := starts.Start(), ends.AddDays(1).Start()

	for _, tt := range []struct {
		status models.CampaignStatus
		at     time.Time
		want   bool
	}{
		{models.CampaignScheduled, started.Add(59 * time.Second), false},
		{models.CampaignScheduled, started.Add(time.Minute), true},
		{models.CampaignActive, started.Add(time.Hour), false},
		{models.CampaignPaused, over.Add(59 * time.Second), false},
		{models.CampaignPaused, over.Add(time.Minute), true},
		{models.CampaignActive, over.Add(time.Minute), true},
		{models.CampaignScheduled, over.Add(time.Minute), true},
		{models.CampaignEnded, over.Add(time.Hour), false},
	} {
		b.Exec(t, "UPDATE ad_campaigns SET status = $1 WHERE id = $2", tt.status, campaign)

		if tt.want {
			require.Equal(t, []uuid.UUID{campaign}, stale(tt.at), tt)
		} else {
			require.Empty(t, stale(tt.at), tt)
		}
	}
}
