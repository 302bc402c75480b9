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

// AdvanceCampaign moves the campaign to the state that its dates ask for (store.AdvanceCampaign).
func (p *Payments) AdvanceCampaign(ctx context.Context, id uuid.UUID) (CampaignState, error) {
	status, next, err := p.Store.AdvanceCampaign(ctx, id, p.Now())

	return CampaignState{Status: status, NextAt: next}, asActivityError(err)
}
