package incidents

import (
	"context"
	"fmt"

	"rihla/models"
)

// IncidentsToShow are incidents that were opened or resolved since the orchestrator was told of them, oldest first.
func (s *Store) IncidentsToShow(ctx context.Context, limit int) ([]models.ShownIncident, error) {
	var found []models.ShownIncident

	err := s.db.NewRaw(`SELECT ic.id, ic.kind, ic.status, ic.booking_id, ic.ad_campaign_id, ic.payment_transaction_id, ic.refund_id, pt.gateway
		FROM incidents AS ic LEFT JOIN payment_transactions AS pt ON pt.id = ic.payment_transaction_id
		WHERE ic.shown IS DISTINCT FROM ic.status ORDER BY ic.created_at LIMIT ?`, limit).Scan(ctx, &found)
	if err != nil {
		return nil, fmt.Errorf("look for incidents to show: %w", err)
	}

	return found, nil
}

// IncidentShown keeps that the orchestrator was told of the incident's state. One that has changed meanwhile comes up again.
func (s *Store) IncidentShown(ctx context.Context, i models.ShownIncident) error {
	_, err := s.db.NewUpdate().Model((*models.Incident)(nil)).Set("shown = ?", i.Status).Where("id = ?", i.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("mark incident as shown: %w", err)
	}

	return nil
}
