package refunds

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// Repairs finds the steps that put right what incidents are about, as far as they are known, by the incidents' ids: a few queries, however
// many incidents there are.
func (s *Store) Repairs(ctx context.Context, all []models.Incident) (map[uuid.UUID]*models.Repair, error) {
	out := map[uuid.UUID]*models.Repair{}
	of := map[uuid.UUID]bool{}

	for i := range all {
		if id := all[i].PaymentTransactionID; id != nil && repairable[all[i].Kind] {
			of[*id] = true
		}
	}

	if len(of) == 0 {
		return out, nil
	}

	ids := make([]uuid.UUID, 0, len(of))
	for id := range of {
		ids = append(ids, id)
	}

	var (
		paid []models.PaymentTransaction
		back []models.Refund
	)

	if err := s.db.NewSelect().Model(&paid).Where("pt.id IN (?)", bun.List(ids)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read payments of incidents: %w", err)
	}

	err := s.db.NewSelect().Model(&back).DistinctOn("payment_transaction_id").Where("payment_transaction_id IN (?)", bun.List(ids)).
		OrderExpr("payment_transaction_id, created_at DESC, id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read refunds of incidents: %w", err)
	}

	if err := describe(ctx, s.db, back); err != nil {
		return nil, err
	}

	newest := make(map[uuid.UUID]*models.Refund, len(back))
	for i := range back {
		newest[back[i].PaymentTransactionID] = &back[i]
	}

	repairs := make(map[uuid.UUID]*models.Repair, len(paid))
	for i := range paid {
		repairs[paid[i].ID] = models.RepairOf(&paid[i], newest[paid[i].ID])
	}

	for i := range all {
		if id := all[i].PaymentTransactionID; id != nil && repairable[all[i].Kind] {
			out[all[i].ID] = repairs[*id]
		}
	}

	return out, nil
}

// repairable are the kinds of incidents about money that may have to be given back.
var repairable = map[models.IncidentKind]bool{
	models.IncidentAmountMismatch: true, models.IncidentCurrencyMismatch: true, models.IncidentLatePayment: true,
	models.IncidentRefundFailed: true,
}
