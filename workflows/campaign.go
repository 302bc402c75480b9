package workflows

import (
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
	"rihla/models"
)

// Campaign moves a paid campaign with its dates: active on its first day, ended after its last, in Riyadh
// (contract §4). Its timers survive every restart.
func Campaign(ctx workflow.Context, id uuid.UUID) (models.CampaignStatus, error) {
	searchable := showsCampaignState(ctx)

	for {
		var state activities.CampaignState

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
			tell(ctx, "The campaign is "+string(state.Status)+".")

			return state.Status, nil
		}

		tell(ctx, "The campaign is "+string(state.Status)+" until "+state.NextAt.UTC().Format(time.RFC3339)+".")

		timer := workflow.NewTimerWithOptions(ctx, state.NextAt.Sub(workflow.Now(ctx)),
			workflow.TimerOptions{Summary: "Until the dates ask for a change"})
		if err := timer.Get(ctx, nil); err != nil {
			return state.Status, err
		}
	}
}

// campaignDetails says in the UI what such a workflow is for.
const campaignDetails = "Starts and ends the campaign on its dates, at midnight in Riyadh. A pause does not end this workflow."

// campaignState is a campaign's state as operators search for it.
func campaignState(s models.CampaignStatus) string { return "CAMPAIGN_" + string(s) }
