package refunds

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// RefundsSince are refunds whose state at their gateway may differ from the one here: all that are PENDING, and those that were ordered or
// ended at or after from; manual payouts among the former only. Those behind after, by their creation; next is where to go on.
func (s *Store) RefundsSince(
	ctx context.Context, channels []models.Channel, from time.Time, after db.SweepCursor, limit int,
) (rows []models.Refund, next db.SweepCursor, err error) {
	q := s.db.NewSelect().Model(&rows).Join("JOIN payment_transactions AS pt ON pt.id = rf.payment_transaction_id").
		Where("pt.channel IN (?)", bun.List(channels)).
		Where("(rf.status = ?0 OR rf.channel = ?1 AND (rf.created_at >= ?2 OR rf.updated_at >= ?2))",
			models.RefundPending, models.RefundByGateway, from)
	if err := after.After(q, "rf.created_at", "rf.id", limit).Scan(ctx); err != nil {
		return nil, after, fmt.Errorf("read refunds to reconcile: %w", err)
	}

	return rows, db.NextSweepCursor(rows, limit, func(r *models.Refund) db.SweepCursor {
		return db.SweepCursor{At: r.CreatedAt, ID: r.ID}
	}), nil
}

// KnownRefunds are those of the ids that are refunds of the books.
func (s *Store) KnownRefunds(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	var found []uuid.UUID

	if len(ids) > 0 {
		if err := s.db.NewSelect().Model((*models.Refund)(nil)).Column("id").Where("id IN (?)", bun.List(ids)).Scan(ctx, &found); err != nil {
			return nil, fmt.Errorf("look for refunds: %w", err)
		}
	}

	known := make(map[uuid.UUID]bool, len(found))
	for _, id := range found {
		known[id] = true
	}

	return known, nil
}

// noteSentBeforeSQL counts a sending that this database has lost, once.
const noteSentBeforeSQL = `
UPDATE refunds SET sends = 1, sent_at = now(), sent_answer = 'UNKNOWN', refunded_before = ?1, updated_at = now()
WHERE id = ?0 AND status = 'PENDING' AND channel = 'GATEWAY' AND sends = 0 AND refused_at IS NULL AND NOT approval_pending`

// NoteSentBefore writes down that a refund may have been sent although these books do not know it: they were restored to an earlier
// moment. From then on it is one whose outcome is unknown, so that the gateway is asked before anything is sent, and what it gave back does
// not count as an outside refund. before is what had been given back of the payment without it, where the gateway knows sums only. It
// reports false for a refund of which a sending is known.
func (s *Store) NoteSentBefore(ctx context.Context, id uuid.UUID, before *models.Money) (bool, error) {
	res, err := s.db.NewRaw(noteSentBeforeSQL, id, before).Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("note that a refund may have been sent: %w", err)
	}

	n, err := res.RowsAffected()

	return n == 1, err
}

// Returned is what the books know that went back of a payment through its gateway.
type Returned struct {
	Done    models.Money `bun:"done"`    // refunds of ours that were made, and not taken back
	Sent    models.Money `bun:"sent"`    // refunds of ours that were sent and are not decided
	Outside models.Money `bun:"outside"` // what the gateway gave back without an order
}

// Returned sums up what went back of a payment.
func (s *Store) Returned(ctx context.Context, payment uuid.UUID) (sums Returned, err error) {
	err = s.db.NewRaw(`SELECT coalesce(sum(amount) FILTER (WHERE status = 'SUCCEEDED' AND returned_at IS NULL), 0) AS done,
			coalesce(sum(amount) FILTER (WHERE status = 'PENDING' AND sends > 0), 0) AS sent,
			coalesce((SELECT total FROM outside_refunds WHERE payment_transaction_id = ?0 ORDER BY n DESC LIMIT 1), 0) AS outside
		FROM refunds WHERE payment_transaction_id = ?0 AND channel = 'GATEWAY'`, payment).Scan(ctx, &sums)
	if err != nil {
		return sums, fmt.Errorf("sum up what went back of a payment: %w", err)
	}

	return sums, nil
}
