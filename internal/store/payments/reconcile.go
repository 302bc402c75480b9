package payments

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// AttemptsSince are the attempts and second payments of channels whose state at their gateway may differ from the one here: all that are
// open, and those that were opened, paid, ended or could be paid at or after from. Those behind after, by their creation; next is where to
// go on, the zero cursor after the last.
func (s *Store) AttemptsSince(
	ctx context.Context, channels []models.Channel, from time.Time, after db.SweepCursor, limit int,
) (rows []models.PaymentTransaction, next db.SweepCursor, err error) {
	q := s.db.NewSelect().Model(&rows).Where("pt.kind IN (?)", bun.List(models.Paying())).Where("pt.channel IN (?)", bun.List(channels)).
		Where("(pt.status = ?0 OR pt.created_at >= ?1 OR pt.updated_at >= ?1 OR pt.expires_at >= ?1)", models.TransactionPending, from)
	if err := after.After(q, "pt.created_at", "pt.id", limit).Scan(ctx); err != nil {
		return nil, after, fmt.Errorf("read attempts to reconcile: %w", err)
	}

	return rows, db.NextSweepCursor(rows, limit, func(t *models.PaymentTransaction) db.SweepCursor {
		return db.SweepCursor{At: t.CreatedAt, ID: t.ID}
	}), nil
}

// AttemptsByID are those of the attempts that the books have.
func (s *Store) AttemptsByID(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]models.PaymentTransaction, error) {
	var rows []models.PaymentTransaction

	if len(ids) > 0 {
		if err := s.db.NewSelect().Model(&rows).Where("pt.id IN (?)", bun.List(ids)).Scan(ctx); err != nil {
			return nil, fmt.Errorf("read attempts: %w", err)
		}
	}

	known := make(map[uuid.UUID]models.PaymentTransaction, len(rows))
	for i := range rows {
		known[rows[i].ID] = rows[i]
	}

	return known, nil
}

// TakenPayment is the payment, of which money was taken, that a gateway names by its checkout or by its own id; ok is false when the
// books have none.
func (s *Store) TakenPayment(
	ctx context.Context, channels []models.Channel, checkout, payment string,
) (t models.PaymentTransaction, ok bool, err error) {
	var rows []models.PaymentTransaction

	err = s.db.NewSelect().Model(&rows).Where("pt.kind IN (?)", bun.List(models.Paying())).Where("pt.channel IN (?)", bun.List(channels)).
		Where("(pt.reference = ? OR pt.gateway_payment_id = ?)", checkout, payment).
		Where("num_nonnulls(pt.captured_at, pt.suspense_at) = 1").OrderExpr("pt.kind").Limit(1).Scan(ctx)
	if err != nil || len(rows) == 0 {
		return t, false, err
	}

	return rows[0], true, nil
}

// LiveCampaigns are the paid campaigns that have not ended: each has a workflow.
func (s *Store) LiveCampaigns(ctx context.Context) (rows []models.AdCampaign, err error) {
	err = s.db.NewSelect().Model(&rows).Where("status IN (?)", bun.List([]models.CampaignStatus{
		models.CampaignScheduled, models.CampaignActive, models.CampaignPaused,
	})).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read campaigns: %w", err)
	}

	return rows, nil
}

// MessagesDue counts the messages that may be delivered now, and says since when the oldest waits.
func (s *Store) MessagesDue(ctx context.Context, now time.Time) (n int, oldest time.Time, err error) {
	var since *time.Time

	err = s.db.NewRaw("SELECT count(*), min(created_at) FROM notifications WHERE status = ? AND next_attempt_at <= ?",
		models.NotificationPending, now).Scan(ctx, &n, &since)
	if err == nil && since != nil {
		oldest = *since
	}

	return n, oldest, err
}

// SecondDebitsOf counts the second payments of a payment's checkout that the books have.
func (s *Store) SecondDebitsOf(ctx context.Context, payment uuid.UUID) (int64, error) {
	return s.db.NewSelect().Model((*models.PaymentTransaction)(nil)).Where("parent_id = ?", payment).
		Where("kind = ?", models.KindSecondDebit).Count(ctx)
}
