package payments

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The channels of PostgreSQL on which a process of the API listens: whose money has moved, for dashboards (AnnounceMoney), and the
// bookings whose payment is decided (AnnounceDecided).
const (
	channelDashboard = "dashboard"
	channelDecided   = "payment_decided"
	listenSQL        = "LISTEN " + channelDashboard + "; LISTEN " + channelDecided
)

// DashboardEvent says that money has moved, and whose.
type DashboardEvent struct {
	Reason     string    `json:"reason"` // PAYMENT_SETTLED, REFUND_COMPLETED or TRANSFERS_CHANGED
	ProviderID uuid.UUID `json:"provider_id"`
}

// Listener hears what is announced to this process. None of its functions may block.
type Listener struct {
	Ready   func()                  // nothing is missed any more
	Money   func(DashboardEvent)    // has moved
	Decided func(booking uuid.UUID) // the payment of a booking has come to an end, or may have
}

const decidedSQL = `SELECT pg_notify('` + channelDecided + `', booking) FROM unnest($1::text[]) AS booking`

// AnnounceDecided announces to every process of the API that payments of the bookings have ended. It is no part of the transaction that
// ended them: announcements are written one commit after the other, and settlements would wait for each other. One that is lost costs
// a request that waits a few seconds.
func (s *Store) AnnounceDecided(ctx context.Context, bookings []uuid.UUID) error {
	if _, err := s.db.Raw.ExecContext(ctx, decidedSQL, pgx.QueryExecModeCacheStatement, texts(bookings)); err != nil {
		return fmt.Errorf("announce decided payments: %w", err)
	}

	return nil
}

// The channel's form is that of the version before, whose database announced by itself.
const moneySQL = `
SELECT pg_notify('` + channelDashboard + `', json_build_object('reason', moved.reason, 'provider_id', moved.provider_id)::text) FROM (
    SELECT DISTINCT CASE kind WHEN 'REFUND' THEN 'REFUND_COMPLETED' ELSE 'PAYMENT_SETTLED' END AS reason, provider_id
    FROM payment_transactions WHERE id = ANY($1::uuid[]) AND (kind = 'REFUND' OR status = 'PAID')
) AS moved`

// AnnounceMoney announces to every process of the API, for its dashboards, whose money the transactions have moved: payments that are
// paid and refunds that are completed. Others are left out, so that a caller need not know. As AnnounceDecided it comes after the
// commit.
func (s *Store) AnnounceMoney(ctx context.Context, transactions []uuid.UUID) error {
	if _, err := s.db.Raw.ExecContext(ctx, moneySQL, pgx.QueryExecModeCacheStatement, texts(transactions)); err != nil {
		return fmt.Errorf("announce moved money: %w", err)
	}

	return nil
}

const transfersSQL = `
SELECT pg_notify('` + channelDashboard + `', json_build_object('reason', 'TRANSFERS_CHANGED', 'provider_id', provider)::text)
FROM (SELECT DISTINCT unnest($1::text[]) AS provider) AS moved`

// AnnounceTransfers announces to every process of the API, for its dashboards, that entries of the companies were marked as transferred, or
// marks taken back. It comes after the commit, as AnnounceMoney does.
func (s *Store) AnnounceTransfers(ctx context.Context, providers []uuid.UUID) error {
	if _, err := s.db.Raw.ExecContext(ctx, transfersSQL, pgx.QueryExecModeCacheStatement, texts(providers)); err != nil {
		return fmt.Errorf("announce transfers: %w", err)
	}

	return nil
}

// movedOverlap is more than a transaction that writes a ledger entry takes until its commit: the entry is of the moment it began.
const movedOverlap = 30 * time.Second

// MoneyMoved reports whether a ledger entry was written within the time before now, or shortly before that: what may have been announced
// and not heard.
func (s *Store) MoneyMoved(ctx context.Context, within time.Duration) (moved bool, err error) {
	err = s.db.Raw.QueryRowContext(ctx,
		"SELECT EXISTS (SELECT FROM financial_records WHERE created_at > now() - make_interval(secs => $1::float8))",
		pgx.QueryExecModeCacheStatement, (within + movedOverlap).Seconds()).Scan(&moved)
	if err != nil {
		return false, fmt.Errorf("look for moved money: %w", err)
	}

	return moved, nil
}

// texts are ids in the form of an array's parameter.
func texts(ids []uuid.UUID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = id.String()
	}

	return out
}

const (
	// listenIdle is how long nothing may be heard before the connection is asked whether it is there.
	listenIdle = 30 * time.Second
	// listenPing is how long that may take.
	listenPing = 10 * time.Second
	// listenClose bounds closing a connection whose context is over.
	listenClose = 2 * time.Second
)

// Listen holds a connection of its own, outside the pool, until ctx ends or it breaks, and hands on what is announced, in order. It
// always returns an error: that of ctx, or what broke. What is announced and means nothing is logged and skipped.
func (s *Store) Listen(ctx context.Context, log *slog.Logger, l Listener) error {
	return s.listen(ctx, log, listenTimeouts{idle: listenIdle, ping: listenPing}, l)
}

// listenTimeouts is how patient a listener is.
type listenTimeouts struct{ idle, ping time.Duration }

func (s *Store) listen(ctx context.Context, log *slog.Logger, timeouts listenTimeouts, l Listener) error {
	conn, err := pgx.ConnectConfig(ctx, s.db.Config.Copy())
	if err != nil {
		return fmt.Errorf("connect to listen: %w", err)
	}

	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listenClose)
		defer cancel()

		_ = conn.Close(ctx)
	}()

	if _, err := conn.Exec(ctx, listenSQL); err != nil {
		return fmt.Errorf("listen: %w", err)
	}

	l.Ready()

	for {
		n, err := timeouts.next(ctx, conn)

		switch {
		case err != nil:
			return fmt.Errorf("wait for notification: %w", err)
		case n == nil:
			continue // the connection is there, and silent
		}

		if err := l.hear(n); err != nil {
			// Anybody who may connect may say something on a channel: it is no reason to hear nothing.
			log.WarnContext(ctx, "notification skipped", "channel", n.Channel, "length", len(n.Payload), "error", err)
		}
	}
}

func (l Listener) hear(n *pgconn.Notification) error {
	if n.Channel == channelDecided {
		booking, err := uuid.Parse(n.Payload)
		if err == nil {
			l.Decided(booking)
		}

		return err
	}

	var e DashboardEvent

	err := json.Unmarshal([]byte(n.Payload), &e)
	if err == nil {
		l.Money(e)
	}

	return err
}

// next waits for what is announced next. When there is nothing for long it asks the connection for a sign of life, and
// returns nil for one: a connection that a network has dropped without a word looks like one on which nothing is said.
// Error: that of ctx, or what broke.
func (l listenTimeouts) next(ctx context.Context, conn *pgx.Conn) (*pgconn.Notification, error) {
	wait, cancel := context.WithTimeout(ctx, l.idle)
	defer cancel()

	n, err := conn.WaitForNotification(wait)
	if n != nil || ctx.Err() != nil || wait.Err() == nil {
		return n, err
	}

	ping, cancel := context.WithTimeout(ctx, l.ping)
	defer cancel()

	// LISTEN is idempotent, and pg_stat_activity keeps showing the purpose of the connection.
	_, err = conn.Exec(ping, listenSQL)

	return nil, err
}
