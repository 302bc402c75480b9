package ledger

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// withinLimit bounds what one person marks as transferred within 24 hours, this call included, over all companies (rules:
// payouts.per-person). Claw-backs count by their amount, too: a mark of one forgives a debt. Entries whose mark was taken back count no
// more. The caller has locked the person's acts. Error: APPROVAL_REQUIRED.
func (p payout) withinLimit(ctx context.Context, tx bun.Tx, above models.Money, lines []*models.FinancialRecord) error {
	if !above.IsPositive() || p.by.UserID == uuid.Nil || len(lines) == 0 {
		return nil
	}

	var before, now models.Money

	err := tx.NewSelect().Model((*models.FinancialRecord)(nil)).ColumnExpr("coalesce(sum(abs(net_amount)), 0)").
		Where("transferred_by = ?", p.by.UserID).Where("transferred_at > now() - interval '24 hours'").Where("netted_against IS NULL").
		Scan(ctx, &before)
	if err != nil {
		return fmt.Errorf("sum marks of a person: %w", err)
	}

	for _, r := range lines {
		if r.NetAmount.IsNegative() {
			now = now.Sub(r.NetAmount)
		} else {
			now = now.Add(r.NetAmount)
		}
	}

	switch {
	case before.Add(now).Cmp(above) <= 0:
		return nil
	case now.Cmp(above) > 0 && len(lines) == 1:
		return models.NewError(models.CodeApprovalRequired, "record.one_over_limit", "amount", now, "limit", above)
	case now.Cmp(above) > 0:
		return models.NewError(models.CodeApprovalRequired, "record.sum_over_limit", "amount", now, "limit", above)
	default:
		return models.NewError(models.CodeApprovalRequired, "record.day_over_limit", "before", before, "amount", before.Add(now), "limit", above)
	}
}

// lockActs is db.LockActs of who marks. It comes before the locks of the entries.
func (p payout) lockActs(ctx context.Context, tx bun.Tx) error {
	if p.by.UserID == uuid.Nil {
		return nil
	}

	return db.LockActs(ctx, tx, p.by.UserID)
}
