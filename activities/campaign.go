package activities

import (
	"context"
	"time"

	"github.com/google/uuid"

	"rihla/models"
)

// CampaignState is where a campaign stands, and when its dates change that; the zero time: never.
type CampaignState struct {
	Status models.CampaignStatus `json:"status"`
	NextAt time.Time             `json:"next_at,omitzero"`
}

// AdvanceCampaign moves the campaign to the state that its dates ask for (store.AdvanceCampaign). at is the time of its
// workflow, which is Temporal's: when the timer of midnight has fired it is midnight, also where this process' clock is
// behind. Otherwise the campaign would be asked about again and again, until that one has come round.
func (p *Payments) AdvanceCampaign(ctx context.Context, id uuid.UUID, at time.Time) (CampaignState, error) {
	now := p.Now()
	if at.After(now) {
		now = at
	}

	status, next, err := p.Store.Payments.AdvanceCampaign(ctx, id, now)

	return CampaignState{Status: status, NextAt: next}, asActivityError(err)
}
