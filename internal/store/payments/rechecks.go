package payments

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// recheckNow has the question asked at once. The clock of a process that is ahead would put it off for as long as it is ahead.
const recheckNow = "recheck_at = LEAST(?::timestamptz, now())"

// After a success that had been told before, the
// checkout may have been paid twice: the question is asked again when answers do not lag behind that any more.
const noteComparedSQL = `
UPDATE payment_transactions SET compared_at = now(), recheck_at = CASE
	WHEN recheck_at IS DISTINCT FROM ?1::timestamptz THEN recheck_at
	WHEN EXISTS (SELECT FROM webhook_events WHERE transaction_id = ?0 AND type = 'payment.succeeded' AND outcome = 'DUPLICATE'
		AND received_at > now() - ?2 * interval '1 microsecond') THEN now() + ?2 * interval '1 microsecond' END
WHERE id = ?0`

// NoteCompared closes the question that was due at the moment due, unless it has been asked anew since.
func NoteCompared(ctx context.Context, tx bun.IDB, payment uuid.UUID, due *time.Time, lag time.Duration) error {
	if _, err := tx.NewRaw(noteComparedSQL, payment, due, lag.Microseconds()).Exec(ctx); err != nil {
		return fmt.Errorf("note a comparison with the gateway: %w", err)
	}

	return nil
}

// CompleteRecheck closes a question to which the gateway has nothing to say.
func (s *Store) CompleteRecheck(ctx context.Context, payment uuid.UUID, due *time.Time) error {
	return NoteCompared(ctx, s.db, payment, due, 0)
}

// RecheckPayment has the gateway asked at once what it has taken of the payment and given back, and of its second payments. It reports
// false for one of which it has taken nothing.
func (s *Store) RecheckPayment(ctx context.Context, payment uuid.UUID, now time.Time) (bool, error) {
	return Recheck(ctx, s.db, payment, now)
}

// Recheck is RecheckPayment within a transaction.
func Recheck(ctx context.Context, db bun.IDB, payment uuid.UUID, now time.Time) (bool, error) {
	res, err := db.NewUpdate().Model((*models.PaymentTransaction)(nil)).Set(recheckNow, now).
		Where("(id = ?0 OR parent_id = ?0)", payment).Where("kind IN (?)", bun.List(models.Paying())).Where("reference IS NOT NULL").
		Where("num_nonnulls(captured_at, suspense_at) = 1").Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("note that a payment is to be compared: %w", err)
	}

	n, err := res.RowsAffected()

	return n > 0, err
}

// ClaimRechecks takes payments of the channel that are to be compared with the gateway now. They come up again after lease, unless
// CompareRefunded has answered. Concurrent callers never get the same row (SKIP LOCKED).
func (s *Store) ClaimRechecks(
	ctx context.Context, c models.Channel, lease time.Duration, limit int, now time.Time,
) (rows []models.PaymentTransaction, err error) {
	var ids []uuid.UUID

	err = s.db.NewRaw(`UPDATE payment_transactions SET recheck_at = LEAST(?0::timestamptz, now() + ?4 * interval '1 microsecond')
			WHERE id IN (SELECT id FROM payment_transactions WHERE channel = ?1 AND recheck_at <= ?2
				ORDER BY recheck_at LIMIT ?3 FOR NO KEY UPDATE SKIP LOCKED)
			RETURNING id`, now.Add(lease), c, now, limit, lease.Microseconds()).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("claim payments to compare: %w", err)
	}

	if len(ids) == 0 {
		return nil, nil
	}

	if err := s.db.NewSelect().Model(&rows).Where("id IN (?)", bun.List(ids)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read payments to compare: %w", err)
	}

	return rows, nil
}

// ExpectComparison has the gateway asked about a payment, once it is settled: more was heard than what settles it.
func (s *Store) ExpectComparison(ctx context.Context, payment uuid.UUID, now time.Time) error {
	return ExpectComparison(ctx, s.db, payment, now)
}

// ExpectComparison is Store.ExpectComparison within a transaction.
func ExpectComparison(ctx context.Context, db bun.IDB, payment uuid.UUID, now time.Time) error {
	_, err := db.NewUpdate().Model((*models.PaymentTransaction)(nil)).Set(recheckNow, now).
		Where("id = ?", payment).Where("kind = ?", models.KindPayment).Exec(ctx)
	if err != nil {
		return fmt.Errorf("note that a payment is to be compared: %w", err)
	}

	return nil
}
