package payments

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/models"
)

// StalePayments are attempts that are still PENDING although they expired more than grace ago: their workflow should
// have ended them. Those behind after, longest expired first; next is where to go on.
func (s *Store) StalePayments(
	ctx context.Context, grace time.Duration, after db.SweepCursor, limit int, now time.Time,
) (rows []models.PaymentTransaction, next db.SweepCursor, err error) {
	q := s.db.NewSelect().Model(&rows).Where("status = ?", models.TransactionPending).Where("expires_at < ?", now.Add(-grace))
	if err := after.After(q, "expires_at", "id", limit).Scan(ctx); err != nil {
		return nil, after, fmt.Errorf("read stale payments: %w", err)
	}

	return rows, db.NextSweepCursor(rows, limit, func(t *models.PaymentTransaction) db.SweepCursor {
		return db.SweepCursor{At: t.ExpiresAt, ID: t.ID}
	}), nil
}

// StaleRefunds are refunds through a gateway that have been PENDING for longer than grace, or that nothing was sent for although
// they were ordered longer than unsent ago: the orchestrator may have been away then. Those behind after, oldest first;
// next is where to go on. Manual payouts wait for people, for days: DecidedPayouts are theirs. One that needs an approval is among them
// while it waits, whatever its way: its workflow has the timer that ends the wait.
func (s *Store) StaleRefunds(
	ctx context.Context, grace, unsent time.Duration, after db.SweepCursor, limit int, now time.Time,
) (rows []models.Refund, next db.SweepCursor, err error) {
	q := s.db.NewSelect().Model(&rows).Where("status = ?", models.RefundPending).
		Where("(channel = ? OR approval_pending)", models.RefundByGateway).
		Where("(created_at < ? OR (sends = 0 AND created_at < ?))", now.Add(-grace), now.Add(-unsent))
	if err := after.After(q, "created_at", "id", limit).Scan(ctx); err != nil {
		return nil, after, fmt.Errorf("read stale refunds: %w", err)
	}

	return rows, db.NextSweepCursor(rows, limit, func(r *models.Refund) db.SweepCursor {
		return db.SweepCursor{At: r.CreatedAt, ID: r.ID}
	}), nil
}

// StaleCampaigns are paid campaigns whose dates asked for another state more than grace ago: their workflow should have
// moved them. Those behind after, oldest first; next is where to go on.
func (s *Store) StaleCampaigns(
	ctx context.Context, grace time.Duration, after db.SweepCursor, limit int, now time.Time,
) (rows []models.AdCampaign, next db.SweepCursor, err error) {
	today := models.DateIn(now.Add(-grace))

	q := s.db.NewSelect().Model(&rows).
		Where("(status = ? AND starts_on <= ?) OR (status IN (?) AND ends_on < ?)", models.CampaignScheduled, today,
			bun.List([]models.CampaignStatus{models.CampaignScheduled, models.CampaignActive, models.CampaignPaused}), today)
	if err := after.After(q, "created_at", "id", limit).Scan(ctx); err != nil {
		return nil, after, fmt.Errorf("read stale campaigns: %w", err)
	}

	return rows, db.NextSweepCursor(rows, limit, func(c *models.AdCampaign) db.SweepCursor {
		return db.SweepCursor{At: c.CreatedAt, ID: c.ID}
	}), nil
}

// ReleaseExpiredHolds gives up bookings whose hold has ended while no attempt was open: nothing else would free their
// seats. Bookings with an open attempt are left to its workflow, which asks the gateway first, and those with a payment that
// the gateway has reported and that is not settled yet to that payment.
func (s *Store) ReleaseExpiredHolds(ctx context.Context, limit int, now time.Time) (int, error) {
	var released []uuid.UUID

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		released = nil

		var due []models.Booking

		err := tx.NewSelect().Model(&due).Where("bk.status = ?", models.BookingPendingPayment).
			Where("bk.hold_until <= ?", now).
			Where("NOT EXISTS (SELECT 1 FROM payment_transactions AS pt WHERE pt.booking_id = bk.id AND pt.status = ?)",
				models.TransactionPending).
			Where(`NOT EXISTS (SELECT 1 FROM payment_transactions AS pt JOIN webhook_events AS we ON we.transaction_id = pt.id
				WHERE pt.booking_id = bk.id AND we.type = ? AND we.processed_at IS NULL)`, models.EventPaymentSucceeded).
			Order("bk.trip_id", "bk.id").Limit(int64(limit)).For("NO KEY UPDATE OF bk SKIP LOCKED").Scan(ctx)
		if err != nil {
			return fmt.Errorf("read expired holds: %w", err)
		}

		for i := range due {
			if err := bookings.TransitionBooking(ctx, tx, &due[i], models.BookingPaymentFailed, now); err != nil {
				return err
			}

			if err := bookings.FreeSeats(ctx, tx, &due[i]); err != nil {
				return err
			}

			if err := notifyOfRelease(ctx, tx, &due[i]); err != nil {
				return err
			}

			released = append(released, due[i].ID)
		}

		return nil
	})
	if err != nil || len(released) == 0 {
		return 0, err
	}

	return len(released), s.AnnounceDecided(ctx, released)
}

// notifyOfRelease tells the customer of a booking whose hold is over, in the name of its last attempt. A booking without one has
// never had a place to pay at: the service has answered that it could not be made.
func notifyOfRelease(ctx context.Context, tx bun.Tx, b *models.Booking) error {
	var last models.PaymentTransaction

	err := tx.NewSelect().Model(&last).Where("pt.booking_id = ?", b.ID).Where("pt.kind = ?", models.KindPayment).
		Order("pt.attempt DESC").Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}

	if err != nil {
		return fmt.Errorf("read the last attempt: %w", err)
	}

	_, err = notifyOfFailure(ctx, tx, b, &last, true)

	return err
}

// NotificationsDue reports whether the outbox has a message that may be delivered now.
func (s *Store) NotificationsDue(ctx context.Context, now time.Time) (bool, error) {
	return s.db.NewSelect().Model((*models.Notification)(nil)).
		Where("status = ?", models.NotificationPending).Where("next_attempt_at <= ?", now).Exists(ctx)
}
