package store

import (
	"context"
	"fmt"
	"time"

	"rihla/models"
)

// ReportGatewayDown opens the incident about a gateway that has not been answering since then, unless there is an open one:
// the index incidents_outage_open leaves it to the first of several workers.
func (s *Store) ReportGatewayDown(ctx context.Context, gateway models.PaymentProvider, since time.Time) error {
	i := models.Incident{
		ID: models.NewID(), Kind: models.IncidentGatewayOutage, Status: models.IncidentOpen,
		Message: fmt.Sprintf("The gateway %s does not answer as it should. What needs it waits, and goes on by itself.", gateway),
		Details: map[string]any{"gateway": gateway, "since": since.UTC()},
	}

	_, err := s.db.NewInsert().Model(&i).ExcludeColumn("created_at").
		On("CONFLICT ((details ->> 'gateway')) WHERE kind = 'GATEWAY_OUTAGE' AND status = 'OPEN' AND payment_transaction_id IS NULL DO NOTHING").
		Exec(ctx)
	if err != nil {
		return fmt.Errorf("report outage of %s: %w", gateway, err)
	}

	return nil
}

// ReportGatewayUp resolves that incident, if there is one. Nobody has resolved it: resolved_by stays empty.
func (s *Store) ReportGatewayUp(ctx context.Context, gateway models.PaymentProvider) error {
	_, err := s.db.NewUpdate().Model((*models.Incident)(nil)).
		Set("status = ?", models.IncidentResolved).Set("resolved_at = now()").Set("note = ?", "The gateway answers again.").
		Where("kind = ?", models.IncidentGatewayOutage).Where("status = ?", models.IncidentOpen).
		Where("payment_transaction_id IS NULL").Where("details ->> 'gateway' = ?", gateway).Exec(ctx)
	if err != nil {
		return fmt.Errorf("report %s as answering: %w", gateway, err)
	}

	return nil
}
