package env

import (
	"context"
	"fmt"
	"time"
)

// BreakConnections ends every session of the service at the database, and tells how many there were. A database that is away
// has done so already.
func (e *Environment) BreakConnections(ctx context.Context) (n int) {
	err := e.DB.QueryRowContext(ctx, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = $1", serviceRole).Scan(&n)
	if err != nil {
		return 0
	}

	return n
}

// StallDatabase keeps every writer from the payments for a while, as a migration that takes a lock does. A database that
// is killed meanwhile has let go of the lock: so be it. It is false when the lock could not be had.
func (e *Environment) StallDatabase(ctx context.Context, pause time.Duration) bool {
	tx, err := e.DB.BeginTx(ctx, nil)
	if err != nil {
		return false // it is away, and so stalls without our doing
	}
	defer func() { _ = tx.Rollback() }()

	// Not behind whatever is under way: the lock would come late, and last beyond its time.
	_, err = tx.ExecContext(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d; LOCK TABLE payment_transactions IN EXCLUSIVE MODE",
		pause.Milliseconds()+1))
	if err != nil {
		return false
	}

	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}

	return true
}

// clocksDisagree is more than the clocks of two processes can be apart, and what happens in the meantime.
const clocksDisagree = 3 * time.Second

// WillBeAsked reports whether the gateway is going to be asked within the hour about an attempt that has ended, and not just
// now: the question that is under way may have been answered already.
func (e *Environment) WillBeAsked(ctx context.Context, checkout string) bool {
	var will bool

	err := e.DB.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM payment_transactions
		WHERE reference = $1 AND status = 'FAILED' AND captured_at IS NULL
			AND check_at BETWEEN now() + $2 * interval '1 millisecond' AND now() + interval '1 hour'
			AND (asked_at IS NULL OR asked_at < updated_at))`,
		checkout, clocksDisagree.Milliseconds()).Scan(&will)

	return err == nil && will
}
