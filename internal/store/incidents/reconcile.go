package incidents

import (
	"context"
	"fmt"
	"time"

	"rihla/models"
)

// ShownSince are the incidents that are open, whether the orchestrator was told of them or not, and those that were resolved at or after
// from: an orchestrator that was lost, or restored, shows others.
func (s *Store) ShownSince(ctx context.Context, from time.Time) ([]models.ShownIncident, error) {
	var found []models.ShownIncident

	err := s.db.NewRaw(`SELECT ic.id, ic.kind, ic.status, ic.booking_id, ic.ad_campaign_id, ic.payment_transaction_id, ic.refund_id, pt.gateway
		FROM incidents AS ic LEFT JOIN payment_transactions AS pt ON pt.id = ic.payment_transaction_id
		WHERE ic.status = ? OR ic.resolved_at >= ? ORDER BY ic.created_at`, models.IncidentOpen, from).Scan(ctx, &found)
	if err != nil {
		return nil, fmt.Errorf("look for incidents: %w", err)
	}

	return found, nil
}
