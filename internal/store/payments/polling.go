package payments

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// ChannelSilent reports whether nothing was heard on the channel for the given time although customers have been waiting for as
// long: their attempts are open at the gateway, and no webhook about any attempt has come.
func (s *Store) ChannelSilent(ctx context.Context, c models.Channel, silence time.Duration, now time.Time) (silent bool, err error) {
	since := now.Add(-silence)

	err = s.db.NewRaw(`SELECT EXISTS (SELECT FROM payment_transactions
			WHERE status = 'PENDING' AND reference IS NOT NULL AND channel = ? AND created_at <= ?)
		AND NOT EXISTS (SELECT FROM webhook_events WHERE channel = ? AND received_at > ? AND webhook_id NOT LIKE 'status-query:%')`,
		c, since, c, since).Scan(ctx, &silent)
	if err != nil {
		return false, fmt.Errorf("listen to channel %s: %w", c, err)
	}

	return silent, nil
}

// The longest time between two questions about an attempt, and how it grows: a bill may be open for days.
const (
	askAtLeast  = 15 * time.Minute
	askGrowsAge = 30
)

// ClaimWindow is a time from From to before To; the zero Span is none.
type ClaimWindow struct{ From, To time.Time }

// ClaimPaymentsToPoll takes open attempts of the channel whose turn it is to be asked about, those first that were not queried for
// longest. An attempt is taken again after pause at the earliest, and the older it is the later; one that was claimed in lost
// by a killed worker is claimed again at once. An attempt with a stored event is not queried: it is yet to be
// settled. Concurrent callers never get the same row (SKIP LOCKED).
func (s *Store) ClaimPaymentsToPoll(
	ctx context.Context, c models.Channel, pause time.Duration, lost ClaimWindow, limit int, now time.Time,
) (rows []models.PaymentTransaction, err error) {
	err = s.db.NewRaw(`UPDATE payment_transactions SET asked_at = ?0 WHERE id IN (
			SELECT id FROM payment_transactions AS pt
			WHERE status = 'PENDING' AND reference IS NOT NULL AND channel = ?1
				AND (COALESCE(asked_at, created_at) <= ?0::timestamptz
					- LEAST(GREATEST((?0::timestamptz - created_at) / ?2, ?3 * interval '1 microsecond'), ?4 * interval '1 microsecond')
					OR asked_at >= ?6 AND asked_at < ?7)
				AND NOT EXISTS (SELECT FROM webhook_events AS we WHERE we.transaction_id = pt.id AND we.processed_at IS NULL)
			ORDER BY COALESCE(asked_at, created_at) LIMIT ?5 FOR NO KEY UPDATE SKIP LOCKED)
		RETURNING ?8`,
		now, c, askGrowsAge, pause.Microseconds(), askAtLeast.Microseconds(), limit, lost.From, lost.To,
		db.Columns[models.PaymentTransaction](s.db, "")).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("claim attempts to poll: %w", err)
	}

	return rows, nil
}

// AskNow has the gateway asked about an attempt at the next poll of its channel: whether it was paid, or, of one that was, what has been
// taken and given back since. ask is false for an attempt of which nothing more is expected.
func AskNow(ctx context.Context, tx bun.Tx, t *models.PaymentTransaction, now time.Time) (ask bool, err error) {
	if t == nil {
		return false, nil
	}

	res, err := tx.NewUpdate().Model((*models.PaymentTransaction)(nil)).Set("check_at = ?", now).
		Where("id = ?", t.ID).Where("reference IS NOT NULL").Where("captured_at IS NULL").
		Where("status IN (?, ?)", models.TransactionPending, models.TransactionFailed).Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("note a hint: %w", err)
	}

	n, err := res.RowsAffected()
	if err != nil {
		return false, err
	}

	again, err := Recheck(ctx, tx, t.ID, now)

	return n == 1 || again, err
}
