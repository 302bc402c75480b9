package payments

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// AdvanceCampaign moves a paid campaign to the state that its dates ask for at now, and returns that state and the
// moment at which the dates ask for the next one; the zero time when there is none. A paused campaign stays paused
// until it ends. Error: NOT_FOUND.
func (s *Store) AdvanceCampaign(ctx context.Context, id uuid.UUID, now time.Time) (models.CampaignStatus, time.Time, error) {
	var c models.AdCampaign

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := tx.NewSelect().Model(&c).Where("id = ?", id).For("NO KEY UPDATE").Scan(ctx); err != nil {
			return db.NotFound(err)
		}

		from := c.Status
		if c.Status = models.CampaignStatusAt(&c, now); c.Status == from {
			return nil
		}

		res, err := tx.NewUpdate().Model(&c).Column("status").Set("updated_at = ?", now).
			WherePK().Where(db.Still, bun.Ident("status"), from).Exec(ctx)
		if err != nil {
			return fmt.Errorf("move campaign: %w", err)
		}

		return db.AffectedOne(res, "campaign")
	})

	return c.Status, models.NextCampaignChange(&c, now), err
}
