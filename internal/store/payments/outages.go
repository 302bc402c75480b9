package payments

import (
	"context"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/incidents"
	"rihla/internal/store/ledger"
	"rihla/models"
)

// ReportOutage opens the incident about an attempt that cannot end because its gateway does not say whether it was paid.
// Error: NOT_FOUND.
func (s *Store) ReportOutage(ctx context.Context, id uuid.UUID) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		t, err := ledger.LockTransaction(ctx, tx, id)
		if err != nil {
			return err
		}

		return incidents.Open(ctx, tx, models.Incident{
			ID:                   models.IncidentID(models.IncidentGatewayOutage, id.String()),
			Kind:                 models.IncidentGatewayOutage,
			PaymentTransactionID: &id,
			BookingID:            t.BookingID,
			AdCampaignID:         t.AdCampaignID,
			IncidentText:         models.IncidentSays("incident.attempt_still_open"),
			WorkflowID:           models.PaymentWorkflowID(id),
		}, map[string]any{"gateway": t.Gateway, "expired_at": t.ExpiresAt})
	})
}
