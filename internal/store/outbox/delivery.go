package outbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// maxDeliveryTries bounds how often a message is tried before it is given up; with the back-off this is a day.
const maxDeliveryTries = 20

// Address is where a message goes, in one spelling.
type Address struct {
	Channel models.NotificationChannel
	To      string
}

// AddressOf is the mailbox, or the phone, of a message.
func AddressOf(n *models.Notification) Address { return Address{n.Channel, mailboxOf(n.Recipient)} }

// mailboxOf is an address without letter case, and without what follows a plus sign, which reaches the same mailbox. Dots stay: at most
// providers they are part of the name. mailboxSQL is the same of a row; migration 0048 has an index on it.
func mailboxOf(recipient string) string {
	lower := strings.ToLower(recipient)

	local, domain, ok := strings.Cut(lower, "@")
	if name, _, tagged := strings.Cut(local, "+"); ok && tagged && name != "" {
		return name + "@" + domain
	}

	return lower
}

var mailboxSQL = db.MailboxSQL("recipient")

// Claim says which rows a deliverer wants; the zero value wants any.
type Claim struct {
	Shards []int    // that it holds; nil: all
	Except []string // addresses of which it has enough, as AddressOf writes them
}

// ClaimNotifications takes up to limit due rows of the outbox for one deliverer and counts the try, those first that were due first.
// A deliverer that dies loses them after a lease; the sender's message id makes the second delivery recognizable. Concurrent callers
// never get the same row (SKIP LOCKED).
func (s *Store) ClaimNotifications(ctx context.Context, c Claim, limit int, now time.Time) ([]models.Notification, error) {
	var rows []models.Notification

	due := s.db.NewSelect().Model((*models.Notification)(nil)).Column("id").
		Where("status = ?", models.NotificationPending).Where("next_attempt_at <= ?", now).
		Order("next_attempt_at").Limit(int64(limit)).For("UPDATE SKIP LOCKED")

	if len(c.Shards) > 0 && len(c.Shards) < Shards {
		due = due.Where(shardOf+" IN (?)", bun.List(c.Shards))
	}

	if len(c.Except) > 0 {
		due = due.Where(mailboxSQL+" NOT IN (?)", bun.List(c.Except))
	} else {
		ctx = db.Prepared(ctx)
	}

	err := s.db.NewUpdate().Model(&rows).
		Set("attempts = attempts + 1").Set("next_attempt_at = ?", now.Add(deliveryLease)).
		Where("id IN (?)", due).Returning("?Columns").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("claim notifications: %w", err)
	}

	slices.SortFunc(rows, func(a, b models.Notification) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}

		return slices.Compare(a.ID[:], b.ID[:])
	})

	return rows, nil
}

// KeepNotifications renews the lease of claimed rows that still have to be delivered. It does not bring forward the next try of one
// that was put back.
func (s *Store) KeepNotifications(ctx context.Context, ids []uuid.UUID, now time.Time) error {
	if len(ids) == 0 {
		return nil
	}

	_, err := s.db.Raw.ExecContext(ctx, `UPDATE notifications SET next_attempt_at = $2
		WHERE id = ANY($1) AND status = 'PENDING' AND next_attempt_at < $2`, pgx.QueryExecModeCacheStatement, ids, now.Add(deliveryLease))
	if err != nil {
		return fmt.Errorf("keep notifications: %w", err)
	}

	return nil
}

// NotificationsSent marks claimed rows delivered, those that a later move of their trip has replaced meanwhile, too.
func (s *Store) NotificationsSent(ctx context.Context, ids []uuid.UUID, now time.Time) error {
	if len(ids) == 0 {
		return nil
	}

	_, err := s.db.Raw.ExecContext(ctx, `UPDATE notifications SET status = 'SENT', sent_at = $2, last_error = ''
		WHERE id = ANY($1) AND (status = 'PENDING' OR status = 'FAILED' AND last_error = $3)`,
		pgx.QueryExecModeCacheStatement, ids, now, WithheldMoved)
	if err != nil {
		return fmt.Errorf("mark notifications sent: %w", err)
	}

	return nil
}

// Failure is a delivery that failed. Reason must not name the recipient.
type Failure struct {
	ID        uuid.UUID
	Attempts  int  // with this one
	Permanent bool // trying again is useless
	Reason    string
}

// NotificationsFailed puts claimed rows back with exponential back-off, and gives those up whose failure is permanent or whose tries are
// used up. Until its next try a message does not hold up later ones to the same address: an address that takes none for a while has the
// newest when it does.
func (s *Store) NotificationsFailed(ctx context.Context, failed []Failure, now time.Time) error {
	if len(failed) == 0 {
		return nil
	}

	var (
		ids      = make([]uuid.UUID, len(failed))
		statuses = make([]string, len(failed))
		next     = make([]time.Time, len(failed))
		reasons  = make([]string, len(failed))
	)

	for i, f := range failed {
		ids[i], statuses[i], reasons[i] = f.ID, models.NotificationPending, f.Reason
		next[i] = now.Add(min(time.Second<<min(f.Attempts, 20), 2*time.Hour))

		if f.Permanent || f.Attempts >= maxDeliveryTries {
			statuses[i] = models.NotificationFailed
		}
	}

	_, err := s.db.Raw.ExecContext(ctx, `UPDATE notifications AS n SET status = f.status, next_attempt_at = f.next, last_error = f.reason
		FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[]) AS f (id, status, next, reason)
		WHERE n.id = f.id AND n.status = 'PENDING'`, pgx.QueryExecModeCacheStatement, ids, statuses, next, reasons)
	if err != nil {
		return fmt.Errorf("put notifications back: %w", err)
	}

	return nil
}

// ReturnNotifications gives claimed rows back that were not tried: they are due as they were before.
func (s *Store) ReturnNotifications(ctx context.Context, ids []uuid.UUID, now time.Time) error {
	if len(ids) == 0 {
		return nil
	}

	_, err := s.db.Raw.ExecContext(ctx, `UPDATE notifications SET attempts = greatest(attempts - 1, 0),
			next_attempt_at = CASE WHEN attempts <= 1 AND last_error = '' THEN created_at ELSE $2 END
		WHERE id = ANY($1) AND status = 'PENDING'`, pgx.QueryExecModeCacheStatement, ids, now)
	if err != nil {
		return fmt.Errorf("return notifications: %w", err)
	}

	return nil
}
