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

// listenDashboard begins to hear of what the database announces to dashboards (migration 0009).
const listenDashboard = "LISTEN dashboard"

// DashboardEvent says that money has moved, and whose.
type DashboardEvent struct {
	Reason     string    `json:"reason"` // PAYMENT_SETTLED or REFUND_COMPLETED
	ProviderID uuid.UUID `json:"provider_id"`
}

const (
	// listenIdle is how long nothing may be heard before the connection is asked whether it is there.
	listenIdle = 30 * time.Second
	// listenPing is how long that may take.
	listenPing = 10 * time.Second
	// listenClose bounds closing a connection whose context is over.
	listenClose = 2 * time.Second
)

// ListenDashboard holds a connection of its own, outside the pool, until ctx ends or it breaks, and hands on what is
// announced, in order. ready is called once nothing is missed any more. It always returns an error: that of ctx, or what
// broke. What is announced and is no event is logged and skipped.
func (s *Store) ListenDashboard(ctx context.Context, log *slog.Logger, ready func(), hear func(DashboardEvent)) error {
	return s.listenDashboard(ctx, log, listenTimeouts{idle: listenIdle, ping: listenPing}, ready, hear)
}

// listenTimeouts is how patient a listener is.
type listenTimeouts struct{ idle, ping time.Duration }

func (s *Store) listenDashboard(
	ctx context.Context, log *slog.Logger, l listenTimeouts, ready func(), hear func(DashboardEvent),
) error {
	conn, err := pgx.ConnectConfig(ctx, s.db.Config.Copy())
	if err != nil {
		return fmt.Errorf("connect to listen: %w", err)
	}

	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listenClose)
		defer cancel()

		_ = conn.Close(ctx)
	}()

	if _, err := conn.Exec(ctx, listenDashboard); err != nil {
		return fmt.Errorf("listen: %w", err)
	}

	ready()

	for {
		n, err := l.next(ctx, conn)

		switch {
		case err != nil:
			return fmt.Errorf("wait for notification: %w", err)
		case n == nil:
			continue // the connection is there, and silent
		}

		var e DashboardEvent
		if err := json.Unmarshal([]byte(n.Payload), &e); err != nil {
			// Anybody who may connect may say something on the channel: it is no reason to hear nothing.
			log.WarnContext(ctx, "dashboard notification skipped: not a dashboard event", "length", len(n.Payload), "error", err)

			continue
		}

		hear(e)
	}
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
	_, err = conn.Exec(ping, listenDashboard)

	return nil, err
}
