package workflows

import (
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
	"rihla/models"
)

// SignalLook has a campaign looked at before its next date: its state is not the one that its dates ask for.
const SignalLook = "look-again"

// campaignRounds is after how many looks a campaign goes on in a new run: each is half a dozen events, and the sweep asks for one every few
// seconds while the database cannot move the campaign.
const campaignRounds = 500

// Campaign moves a paid campaign with its dates: active on its first day, ended after its last, in Riyadh
// (rules: campaigns.dates). Its timers survive every restart.
func Campaign(ctx workflow.Context, id uuid.UUID) (models.CampaignStatus, error) {
	searchable := showsCampaignState(ctx)
	looks := workflow.GetSignalChannel(ctx, SignalLook)

	for rounds := 1; ; rounds++ {
		var state activities.CampaignState

		drain(looks)

		dctx := withDatabase(ctx, "Move the campaign to the state its dates ask for")
		if err := workflow.ExecuteLocalActivity(dctx, payments.AdvanceCampaign, id, workflow.Now(ctx)).Get(ctx, &state); err != nil {
			return state.Status, err
		}

		if searchable {
			if err := workflow.UpsertTypedSearchAttributes(ctx, attrPaymentStatus.ValueSet(campaignState(state.Status))); err != nil {
				return state.Status, err
			}
		}

		if state.NextAt.IsZero() {
			setDetails(ctx, "The campaign is "+string(state.Status)+".")

			return state.Status, nil
		}

		setDetails(ctx, "The campaign is "+string(state.Status)+" until "+state.NextAt.UTC().Format(time.RFC3339)+".")

		if (rounds >= campaignRounds || workflow.GetInfo(ctx).GetContinueAsNewSuggested()) && continuesCampaigns(ctx) {
			drain(looks) // the new run looks at once

			return state.Status, workflow.NewContinueAsNewError(ctx, Campaign, id)
		}

		if err := awaitNext(ctx, state.NextAt, looks); err != nil {
			return state.Status, err
		}
	}
}

// awaitNext waits until the dates ask for a change, or a signal asks to look at once.
func awaitNext(ctx workflow.Context, at time.Time, looks workflow.ReceiveChannel) error {
	tctx, cancel := workflow.WithCancel(ctx)
	timer := workflow.NewTimerWithOptions(tctx, at.Sub(workflow.Now(ctx)), workflow.TimerOptions{Summary: "Until the dates ask for a change"})
	err := workflow.Await(ctx, func() bool { return timer.IsReady() || looks.Len() > 0 })

	cancel()

	return err
}

// campaignDetails says in the UI what such a workflow is for.
const campaignDetails = "Starts and ends the campaign on its dates, at midnight in Riyadh. A pause does not end this workflow."

// campaignState is a campaign's state as operators search for it.
func campaignState(s models.CampaignStatus) string { return "CAMPAIGN_" + string(s) }
