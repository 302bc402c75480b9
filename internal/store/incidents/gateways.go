package incidents

import (
	"context"
	"fmt"
	"time"

	"rihla/models"
)

// ReportGatewayDown opens the incident about a merchant account whose gateway has not been answering since then. The index
// incidents_outage_open leaves it to the first of several workers; of an open one it keeps when it was last_seen.
func (s *Store) ReportGatewayDown(ctx context.Context, account models.MerchantAccount, since time.Time) error {
	i := models.Incident{
		ID: models.NewID(), Kind: models.IncidentGatewayOutage, Status: models.IncidentOpen,
		IncidentText: models.IncidentSays("incident.gateway_down", "account", account),
		Details:      map[string]any{"gateway": account, "since": since.UTC()},
	}

	_, err := s.db.NewInsert().Model(&i).ExcludeColumn("created_at").
		On("CONFLICT ((details ->> 'gateway')) WHERE kind = 'GATEWAY_OUTAGE' AND status = 'OPEN' AND payment_transaction_id IS NULL DO UPDATE").
		Set("details = ic.details || jsonb_build_object('last_seen', now())").Exec(ctx)
	if err != nil {
		return fmt.Errorf("report outage of %s: %w", account, err)
	}

	return nil
}

// ReportGatewayUp resolves that incident, if there is one that no worker has seen for as long as unseen. No person has resolved
// it: resolved_by stays empty.
func (s *Store) ReportGatewayUp(ctx context.Context, account models.MerchantAccount, unseen time.Duration) error {
	i := models.Incident{Status: models.IncidentResolved, NoteText: models.TextOf("incident.gateway_up")}
	i.Note = i.NoteText.String()

	_, err := s.db.NewUpdate().Model(&i).Column("status", "note", "note_text").Set("resolved_at = now()").
		Where("kind = ?", models.IncidentGatewayOutage).Where("status = ?", models.IncidentOpen).
		Where("payment_transaction_id IS NULL").Where("details ->> 'gateway' = ?", account).
		Where("COALESCE((details ->> 'last_seen')::timestamptz, created_at) <= now() - make_interval(secs => ?)", unseen.Seconds()).
		Exec(ctx)
	if err != nil {
		return fmt.Errorf("report %s as answering: %w", account, err)
	}

	return nil
}

// RecordOutage keeps that a merchant account takes none of a kind of calls until a moment; one in the past ends it. What was found out
// last counts.
func (s *Store) RecordOutage(ctx context.Context, o models.GatewayOutage) error {
	_, err := s.db.ExecContext(ctx, `
		INSERT INTO gateway_outages (account, calls, reason, until) VALUES (?, ?, ?, ?)
		ON CONFLICT (account, calls) DO UPDATE SET reason = EXCLUDED.reason, until = EXCLUDED.until, updated_at = now()`,
		o.Account, o.Calls, o.Reason, o.Until)
	if err != nil {
		return fmt.Errorf("record outage of %s: %w", o.Account, err)
	}

	return nil
}

// GatewayOutages are those of now.
func (s *Store) GatewayOutages(ctx context.Context, now time.Time) (rows []models.GatewayOutage, err error) {
	err = s.db.NewRaw(`SELECT account, calls, reason, until FROM gateway_outages
		WHERE until > ? ORDER BY account, calls`, now).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read outages: %w", err)
	}

	return rows, nil
}
