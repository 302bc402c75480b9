package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"rihla/internal/store/db"
	"rihla/models"
)

// PaidCampaign is the payment by which a campaign was bought, when a refund of the type can be ordered of it at now. Errors: NOT_FOUND;
// INVALID_STATE when it was not paid, and of FULL when it has begun.
func (s *Store) PaidCampaign(ctx context.Context, campaign uuid.UUID, kind models.RefundType, now time.Time) (uuid.UUID, error) {
	var c models.AdCampaign
	if err := s.db.NewSelect().Model(&c).Where("ac.id = ?", campaign).Scan(ctx); err != nil {
		return uuid.Nil, db.NotFound(err)
	}

	var paid uuid.UUID

	err := s.db.NewSelect().Model((*models.PaymentTransaction)(nil)).Column("id").Where("ad_campaign_id = ?", campaign).
		Where("kind = ?", models.KindPayment).Where("status = ?", models.TransactionPaid).Scan(ctx, &paid)

	switch {
	case errors.Is(err, sql.ErrNoRows):
		return uuid.Nil, models.NewError(models.CodeInvalidState, "campaign.not_paid", "status", c.Status)
	case err != nil:
		return uuid.Nil, fmt.Errorf("read payment: %w", err)
	default:
		return paid, c.Refundable(kind, now)
	}
}
