package refunds

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/internal/store/outbox"
	"rihla/models"
)

// settleCampaign ends a campaign whose payment has gone back in full, and tells the company that advertises.
func (st *refundSettlement) settleCampaign(ctx context.Context, added *models.PaymentTransaction) error {
	var c models.AdCampaign

	err := st.tx.NewSelect().Model(&c).Where("ac.id = ?", *st.t.AdCampaignID).For("NO KEY UPDATE").Scan(ctx)
	if err != nil {
		return fmt.Errorf("lock campaign: %w", err)
	}

	if err := st.tellAdvertiser(ctx, &c, added); err != nil {
		return err
	}

	if !st.wasSold() || !st.t.WentBack() || !slices.Contains(models.LiveCampaigns(), c.Status) {
		return nil
	}

	return CancelCampaign(ctx, st.tx, &c, db.Actor{RequestID: st.r.RequestID}, map[string]any{"refund_id": st.r.ID}, st.now)
}

// tellAdvertiser queues an email and an SMS about what went back, to where the company heard of its payment.
func (st *refundSettlement) tellAdvertiser(ctx context.Context, c *models.AdCampaign, added *models.PaymentTransaction) error {
	var p models.Provider

	err := st.tx.NewSelect().Model(&p).Column("name", "email", "phone").Where("id = ?", c.ProviderID).Scan(ctx)
	if err != nil {
		return fmt.Errorf("read provider: %w", err)
	}

	facts := map[string]string{
		"name": p.Name, "campaign_title": c.Title, "amount": st.r.Amount.String(), "starts_on": c.StartsOn.String(), "ends_on": c.EndsOn.String(),
	}
	outbox.RefundFacts(facts, !st.t.WentBack(), st.t, st.r)

	n, err := outbox.Enqueue(ctx, st.tx, models.NotifyCampaignRefunded, added.ID, models.LocaleArabic, p.Email, p.Phone, facts)
	st.queued += n

	return err
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
