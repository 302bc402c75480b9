package cmd

import (
	"context"
	"time"

	"rihla/internal/clock"
	"rihla/internal/store"
	"rihla/internal/telemetry"
	"rihla/models"
)

// countSettled counts attempts that have moved, and how long after its webhook one became PAID.
func countSettled(m *telemetry.Metrics) func(models.Settled) {
	return func(s models.Settled) {
		m.PaymentSettled(s.Status, s.Gateway)

		if !s.Heard.IsZero() {
			m.WebhookSettled(s.Gateway, clock.Now().Sub(s.Heard))
		}
	}
}

// countUnfinished reads the books for the metrics. Kinds without open incidents, and accounts without money in suspense, are there with
// 0, so that an alert sees them go.
func countUnfinished(s *store.Store, accounts []models.MerchantAccount) func(context.Context) (telemetry.Unfinished, error) {
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

		wal, err := s.DB.WALArchive(ctx)
		if err != nil {
			return telemetry.Unfinished{}, err
		}

		u := telemetry.Unfinished{
			Overdue: map[string]int{
				"payments": o.Payments, "refunds": o.Refunds, "events": o.Events, "campaigns": o.Campaigns, "messages": o.Messages,
				"suspense": o.Suspense, "approvals": o.Approvals, "late_checks": o.LateChecks, "stranger_mails": o.StrangerMails,
			},
			Incidents: map[string]int{}, Unsealed: unsealed, Seal: seal.Number,
			Oldest: map[string]time.Duration{
				"events": o.OldestEvent, "refunds": o.OldestRefund, "messages": o.OldestMessage, "cancellation_requests": o.OldestRequest,
			},
			Suspense: map[telemetry.Held]models.Money{}, WAL: telemetry.WALArchive(wal),
		}

		for _, account := range accounts {
			u.Suspense[telemetry.Held{Account: account, Currency: models.Currency}] = models.Money{}
		}

		for _, held := range o.Held {
			of := telemetry.Held{Account: held.Channel.Account(), Currency: held.Currency}
			u.Suspense[of] = u.Suspense[of].Add(held.Amount)
		}

		for _, kind := range models.IncidentKinds() {
			u.Incidents[string(kind)] = o.Incidents[kind]
		}

		return u, nil
	}
}
