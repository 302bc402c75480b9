package payments

import (
	"context"
	"fmt"
	"time"

	"rihla/internal/store/db"
	"rihla/models"
)

// expectsLateMoney reports whether money may still come for an attempt that ended without any: what the customer has begun at the
// gateway may be slower than the attempt. Of an attempt whose money was wrong, or that the gateway has refused to open, nothing
// more is expected.
func expectsLateMoney(t *models.PaymentTransaction, why models.FailureCode) bool {
	switch why {
	case models.FailureExpired, models.FailureCancelled, models.FailureDeclined:
		return t.CapturedAt == nil
	case models.FailureGatewayRejected: // by a refusal that had others before it: one of those may still have its effect
		return t.CapturedAt == nil && t.SentAnswer != nil
	default:
		return false
	}
}

// nextCheckAt is when the gateway is queried again about an attempt that ends now; nil: never.
func nextCheckAt(p models.Policies, t *models.PaymentTransaction, why models.FailureCode, ended time.Time) *time.Time {
	if len(p.LateChecks) == 0 || p.LateChecks[0] <= 0 || !expectsLateMoney(t, why) {
		return nil
	}

	at := ended.Add(p.LateChecks[0])

	return &at
}

// LateChecksDue are the channels about whose ended attempts the gateway is to be asked now, or about what it has taken and given back of
// payments, and those with open attempts that are waited for, of which the orchestrator could not be told.
func (s *Store) LateChecksDue(ctx context.Context, now time.Time) ([]models.Channel, error) {
	var due []models.Channel

	for _, c := range models.AllChannels() {
		var is bool

		err := s.db.NewRaw(`SELECT EXISTS (SELECT FROM payment_transactions
			WHERE status = 'FAILED' AND captured_at IS NULL AND channel = ?0 AND check_at <= ?1)
			OR EXISTS (SELECT FROM payment_transactions WHERE status = 'PENDING' AND check_at IS NOT NULL AND channel = ?0)
			OR EXISTS (SELECT FROM payment_transactions WHERE channel = ?0 AND recheck_at <= ?1)`,
			c, now).Scan(ctx, &is)
		if err != nil {
			return nil, fmt.Errorf("look for attempts of channel %s that have ended: %w", c, err)
		}

		if is {
			due = append(due, c)
		}
	}

	return due, nil
}

// ClaimLateChecks takes attempts of the channel that ended without money and are to be asked about now. They come up again after
// lease, unless CompleteLateCheck has recorded an answer: the claiming worker may be killed. Those that
// a killed worker claimed in lost come up at once. Concurrent callers never get the same row (SKIP LOCKED).
func (s *Store) ClaimLateChecks(
	ctx context.Context, c models.Channel, lease time.Duration, lost ClaimWindow, limit int, now time.Time,
) (rows []models.PaymentTransaction, err error) {
	err = s.db.NewRaw(`UPDATE payment_transactions SET asked_at = ?0, check_at = ?1
			WHERE id IN (SELECT id FROM payment_transactions
				WHERE status = 'FAILED' AND captured_at IS NULL AND channel = ?2
					AND (check_at <= ?0 OR check_at = asked_at + ?4 * interval '1 microsecond' AND asked_at >= ?5 AND asked_at < ?6)
				ORDER BY check_at LIMIT ?3 FOR NO KEY UPDATE SKIP LOCKED)
			RETURNING ?7`, now, now.Add(lease), c, limit, lease.Microseconds(), lost.From, lost.To,
		db.Columns[models.PaymentTransaction](s.db, "")).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("claim late checks: %w", err)
	}

	return rows, nil
}

// CompleteLateCheck sets when the gateway is asked about the attempt the next time, if ever, now that it has answered.
func (s *Store) CompleteLateCheck(ctx context.Context, t *models.PaymentTransaction, now time.Time) error {
	var next *time.Time

	for _, d := range s.policies.LateChecks {
		if at := t.UpdatedAt.Add(d); at.After(now) {
			next = &at

			break
		}
	}

	_, err := s.db.NewUpdate().Model(t).Set("check_at = ?", next).WherePK().
		Where("status = ?", models.TransactionFailed).Where("captured_at IS NULL").Exec(ctx)
	if err != nil {
		return fmt.Errorf("save late check: %w", err)
	}

	return nil
}
