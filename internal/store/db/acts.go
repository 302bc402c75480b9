package db

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// LockActs makes what one person does with money count each other: until the transaction ends no other order of a refund, approval, payout
// or mark of theirs is counted (rules: people.sums). It comes after the lock of the payment and before that of the ledger entry.
func LockActs(ctx context.Context, tx bun.Tx, person uuid.UUID) error {
	return LockName(ctx, tx, "acts:"+person.String())
}

// LockName keeps other transactions that ask for the same name waiting until this one ends: for what has no row to lock.
func LockName(ctx context.Context, tx bun.Tx, name string) error {
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", name); err != nil {
		return fmt.Errorf("lock %s: %w", name, err)
	}

	return nil
}
