package payments

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// Overdue counts work that is late, and what waits for people. Zeros are normal.
type Overdue struct {
	Payments int // PENDING 10 minutes after their expiry
	// Refunds are PENDING for an hour, since the approval where one is needed; manual payouts, and those not approved: decided 10 minutes ago
	// and not applied.
	Refunds   int
	Events    int // of a gateway, stored a minute ago and not processed
	Campaigns int // not moved 10 minutes after the day on which they should have been
	Messages  int // due for 10 minutes
	Approvals int // refunds that have waited a day for their approval
	Suspense  int // payments whose money has been in suspense for a day, and no refund of it is under way
	// LateChecks are questions about attempts that ended without money, due for 10 minutes and not claimed since.
	LateChecks int
	// StrangerMails were refused within this hour: strangers had caused those of the hour.
	StrangerMails int
	Incidents     map[models.IncidentKind]int

	// Ages of the oldest of what is not finished, 0 when there is none: a gateway's event that is not processed, a refund that has not
	// ended, a message that is not sent, a cancellation request that is not decided.
	OldestEvent, OldestRefund, OldestMessage, OldestRequest time.Duration
	// Held is the money in suspense that was not given back.
	Held []Held
}

// Held is money in suspense, of one channel in one currency.
type Held struct {
	Channel  models.Channel
	Currency string
	Amount   models.Money
}

// Overdue counts at now. Every count but that of incidents is read from an index of what is unfinished.
func (s *Store) Overdue(ctx context.Context, now time.Time) (Overdue, error) {
	var o Overdue

	today, soon := models.DateIn(now.Add(-10*time.Minute)), now.Add(-10*time.Minute)

	err := s.db.NewRaw(`SELECT
		(SELECT count(*) FROM payment_transactions WHERE status = 'PENDING' AND expires_at < ?0) AS payments,
		(SELECT count(*) FROM refunds AS rf WHERE status = 'PENDING' AND (channel = ?5 AND NOT approval_pending AND created_at < ?1
				AND NOT EXISTS (SELECT FROM refund_approvals WHERE refund_id = rf.id AND decided_at >= ?1)
			OR channel = ?6 AND EXISTS (SELECT FROM refund_payouts WHERE refund_id = rf.id AND decided_at < ?0)
			OR approval_pending AND (approval_until < ?0
				OR EXISTS (SELECT FROM refund_approvals WHERE refund_id = rf.id AND decided_at < ?0)))) AS refunds,
		(SELECT count(*) FROM refunds AS rf WHERE approval_pending AND created_at < ?7
			AND NOT EXISTS (SELECT FROM refund_approvals WHERE refund_id = rf.id)) AS approvals,
		(SELECT count(*) FROM webhook_events WHERE processed_at IS NULL AND transaction_id IS NOT NULL AND received_at < ?2) AS events,
		(SELECT count(*) FROM ad_campaigns WHERE (status = 'SCHEDULED' AND starts_on <= ?3)
			OR (status IN (?4) AND ends_on < ?3)) AS campaigns,
		(SELECT count(*) FROM notifications WHERE status = 'PENDING' AND next_attempt_at < ?0) AS messages,
		(SELECT count(*) FROM payment_transactions WHERE suspense_at < ?7 AND refunded_amount < captured_amount
			AND refund_reserved_amount = 0) AS suspense,
		(SELECT count(*) FROM payment_transactions WHERE status = 'FAILED' AND captured_at IS NULL AND check_at < ?0) AS late_checks,
		(SELECT coalesce(sum(count), 0) FROM stranger_counts WHERE subject = ?8 AND hour = date_trunc('hour', now())) AS stranger_mails`,
		soon, now.Add(-time.Hour), now.Add(-time.Minute), today, bun.List([]models.CampaignStatus{
			models.CampaignScheduled, models.CampaignActive, models.CampaignPaused,
		}), models.RefundByGateway, models.RefundByHand, now.Add(-24*time.Hour), db.StrangerMailsRefused).
		Scan(ctx, &o.Payments, &o.Refunds, &o.Approvals, &o.Events, &o.Campaigns, &o.Messages, &o.Suspense, &o.LateChecks, &o.StrangerMails)
	if err != nil {
		return Overdue{}, fmt.Errorf("count what is overdue: %w", err)
	}

	var open []struct {
		Kind  models.IncidentKind
		Count int
	}

	err = s.db.NewSelect().Model((*models.Incident)(nil)).ColumnExpr("kind, count(*) AS count").
		Where("status = ?", models.IncidentOpen).Group("kind").Scan(ctx, &open)
	if err != nil {
		return Overdue{}, fmt.Errorf("count incidents: %w", err)
	}

	o.Incidents = map[models.IncidentKind]int{}
	for _, i := range open {
		o.Incidents[i.Kind] = i.Count
	}

	if err := s.readOldest(ctx, &o, now); err != nil {
		return Overdue{}, err
	}

	return o, s.readHeld(ctx, &o)
}

func (s *Store) readOldest(ctx context.Context, o *Overdue, now time.Time) error {
	ages := [4]float64{}

	err := s.db.NewRaw(`SELECT `+oldest("events")+`, `+oldest("refunds")+`, `+oldest("messages")+`, `+oldest("requests")+` FROM (SELECT
		(SELECT min(received_at) FROM webhook_events WHERE processed_at IS NULL AND transaction_id IS NOT NULL) AS events,
		(SELECT min(created_at) FROM refunds WHERE status = 'PENDING') AS refunds,
		(SELECT min(created_at) FROM notifications WHERE status = 'PENDING') AS messages,
		(SELECT min(requested_at) FROM cancellation_requests WHERE status = 'REQUESTED') AS requests) AS since`, now).
		Scan(ctx, &ages[0], &ages[1], &ages[2], &ages[3])
	if err != nil {
		return fmt.Errorf("read what is oldest: %w", err)
	}

	for i, to := range []*time.Duration{&o.OldestEvent, &o.OldestRefund, &o.OldestMessage, &o.OldestRequest} {
		*to = time.Duration(ages[i] * float64(time.Second))
	}

	return nil
}

// oldest is the age in seconds of a column.
func oldest(column string) string {
	return "greatest(0, coalesce(extract(epoch FROM ?0::timestamptz - " + column + "), 0))::float8"
}

func (s *Store) readHeld(ctx context.Context, o *Overdue) error {
	err := s.db.NewRaw(`SELECT channel, captured_currency AS currency, sum(captured_amount - refunded_amount) AS amount
		FROM payment_transactions WHERE suspense_at IS NOT NULL AND refunded_amount < captured_amount
		GROUP BY channel, captured_currency ORDER BY 1, 2`).Scan(ctx, &o.Held)
	if err != nil {
		return fmt.Errorf("add up money in suspense: %w", err)
	}

	return nil
}
