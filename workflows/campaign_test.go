package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/models"
	"rihla/workflows"
)

func TestCampaign(t *testing.T) {
	t.Parallel()

	starts, ends := began.Add(48*time.Hour), began.Add(96*time.Hour)
	states := map[models.CampaignStatus]activities.CampaignState{
		models.CampaignScheduled: {Status: models.CampaignScheduled, NextAt: starts},
		models.CampaignActive:    {Status: models.CampaignActive, NextAt: ends},
		models.CampaignPaused:    {Status: models.CampaignPaused, NextAt: ends},
		models.CampaignEnded:     {Status: models.CampaignEnded},
	}

	tests := []struct {
		name string
		life []models.CampaignStatus // what the dates say, each time they are looked at
		at   []time.Time
	}{
		{
			"from its schedule to its end",
			[]models.CampaignStatus{models.CampaignScheduled, models.CampaignActive, models.CampaignEnded},
			[]time.Time{began, starts, ends},
		},
		{"from today", []models.CampaignStatus{models.CampaignActive, models.CampaignEnded}, []time.Time{began, ends}},
		{
			"paused before it starts",
			[]models.CampaignStatus{models.CampaignScheduled, models.CampaignPaused, models.CampaignEnded},
			[]time.Time{began, starts, ends},
		},
		{"over already", []models.CampaignStatus{models.CampaignEnded}, []time.Time{began}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w, id := newWorld(t), uuid.New()
			step := 0
			w.OnActivity(acts.AdvanceCampaign, mock.Anything, id, mock.Anything).Return(func(context.Context, uuid.UUID, time.Time) (activities.CampaignState, error) {
				state := states[tt.life[step]]
				require.WithinDuration(t, tt.at[step], w.Now(), time.Second)

				step++

				return state, nil
			}).Times(len(tt.life))

			w.ExecuteWorkflow(workflows.Campaign, id)
			require.Equal(t, models.CampaignEnded, requireDone[models.CampaignStatus](w))
		})
	}
}

// The clocks of worker and server differ: looked at a moment too early, the campaign is looked at again.
func TestCampaignLookedAtTooEarly(t *testing.T) {
	t.Parallel()
	w, id := newWorld(t), uuid.New()
	starts := began.Add(time.Hour)

	w.OnActivity(acts.AdvanceCampaign, mock.Anything, id, mock.Anything).Return(activities.CampaignState{Status: models.CampaignScheduled, NextAt: starts}, nil).Times(3)
	w.OnActivity(acts.AdvanceCampaign, mock.Anything, id, mock.Anything).Return(activities.CampaignState{Status: models.CampaignEnded}, nil).Once()

	w.ExecuteWorkflow(workflows.Campaign, id)
	require.Equal(t, models.CampaignEnded, requireDone[models.CampaignStatus](w))
}

func TestCampaignThatDoesNotExist(t *testing.T) {
	t.Parallel()
	w, id := newWorld(t), uuid.New()
	w.OnActivity(acts.AdvanceCampaign, mock.Anything, id, mock.Anything).Return(activities.CampaignState{}, domainError(models.CodeNotFound)).Once()

	w.ExecuteWorkflow(workflows.Campaign, id)
	requireType(t, models.CodeNotFound, w.GetWorkflowError())
}

// An operator has changed the state behind the workflow's back: it looks before its next date, and goes on to that.
func TestCampaignLookedAtAgain(t *testing.T) {
	t.Parallel()
	w, id := newWorld(t), uuid.New()
	ends := began.Add(96 * time.Hour)
	at := []time.Time{began, began.Add(time.Hour), ends}
	step := 0

	w.OnActivity(acts.AdvanceCampaign, mock.Anything, id, mock.Anything).Return(
		func(_ context.Context, _ uuid.UUID, now time.Time) (activities.CampaignState, error) {
			require.WithinDuration(t, at[step], now, time.Second)

			if step++; step == len(at) {
				return activities.CampaignState{Status: models.CampaignEnded}, nil
			}

			return activities.CampaignState{Status: models.CampaignActive, NextAt: ends}, nil
		}).Times(len(at))
	w.at(time.Hour, func() { w.SignalWorkflow(workflows.SignalLook, nil) })

	w.ExecuteWorkflow(workflows.Campaign, id)
	require.Equal(t, models.CampaignEnded, requireDone[models.CampaignStatus](w))
}
