package refunds

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// settleCampaign ends a campaign whose payment has gone back in full.
func (st *refundSettlement) settleCampaign(ctx context.Context) error {
	if !st.wasSold() || !st.t.WentBack() {
		return nil
	}

	var c models.AdCampaign
	if err := st.tx.NewSelect().Model(&c).Where("ac.id = ?", *st.t.AdCampaignID).For("NO KEY UPDATE").Scan(ctx); err != nil {
		return fmt.Errorf("lock campaign: %w", err)
	}

	if !slices.Contains(models.LiveCampaigns(), c.Status) {
		return nil
	}

	return CancelCampaign(ctx, st.tx, &c, db.Actor{RequestID: st.r.RequestID}, map[string]any{"refund_id": st.r.ID}, st.now)
}

// CancelCampaign is the guarded UPDATE that makes a campaign CANCELLED, with its audit entry, which names the cause. c is locked.
func CancelCampaign(ctx context.Context, tx bun.Tx, c *models.AdCampaign, by db.Actor, cause map[string]any, now time.Time) error {
	was := c.Status
	c.Status = models.CampaignCancelled

	res, err := tx.NewUpdate().Model(c).Column("status").Set("updated_at = ?", now).WherePK().
		Where(db.Still, bun.Ident("status"), was).Exec(ctx)
	if err != nil {
		return fmt.Errorf("cancel campaign: %w", err)
	}

	if err := db.AffectedOne(res, "campaign"); err != nil {
		return err
	}

	details := map[string]any{"before": map[string]any{"status": was}, "after": map[string]any{"status": c.Status}}
	maps.Copy(details, cause)

	return db.Audit(ctx, tx, by, models.AuditAdCampaignCancelled, models.EntityAdCampaign, &c.ID, details)
}
