package cmd

import (
	"context"

	"rihla/internal/clock"
	"rihla/internal/store"
	"rihla/internal/telemetry"
	"rihla/models"
)

// countUnfinished reads the books for the metrics. Kinds without open incidents are there with 0, so that an alert sees them go.
func countUnfinished(s *store.Store) func(context.Context) (telemetry.Unfinished, error) {
	return func(ctx context.Context) (telemetry.Unfinished, error) {
		o, err := s.Payments.Overdue(ctx, clock.Now())
		if err != nil {
			return telemetry.Unfinished{}, err
		}

		unsealed, err := s.DB.UnsealedAuditAge(ctx)
		if err != nil {
			return telemetry.Unfinished{}, err
		}

		seal, err := s.DB.NewestAuditSeal(ctx)
		if err != nil {
			return telemetry.Unfinished{}, err
		}

		u := telemetry.Unfinished{
			Overdue: map[string]int{
				"payments": o.Payments, "refunds": o.Refunds, "events": o.Events, "campaigns": o.Campaigns, "messages": o.Messages,
				"suspense": o.Suspense, "approvals": o.Approvals, "late_checks": o.LateChecks, "stranger_mails": o.StrangerMails,
			},
			Incidents: map[string]int{}, Unsealed: unsealed, Seal: seal.Number,
		}
		for _, kind := range models.IncidentKinds() {
			u.Incidents[string(kind)] = o.Incidents[kind]
		}

		return u, nil
	}
}
