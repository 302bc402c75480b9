package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// AbandonRefund sees to it that a refund which nobody has reserved yet is never reserved: its caller is told that it
// does not happen, whatever the orchestrator has kept of it. It reports false, and does nothing, when the refund is
// reserved already: that one goes on.
func (s *Store) AbandonRefund(ctx context.Context, id uuid.UUID) (abandoned bool, err error) {
	err = s.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := lockRefundID(ctx, tx, id); err != nil {
			return err
		}

		reserved, err := tx.NewSelect().Model((*models.Refund)(nil)).Where("id = ?", id).Exists(ctx)
		if err != nil || reserved {
			return err
		}

		_, err = tx.ExecContext(ctx, "INSERT INTO abandoned_refunds (id) VALUES (?) ON CONFLICT DO NOTHING", id)
		abandoned = err == nil

		return err
	})
	if err != nil {
		return false, fmt.Errorf("abandon refund: %w", err)
	}

	return abandoned, nil
}

// ReviveRefund takes back that a refund was abandoned: its caller asks for it again, with the same key.
func (s *Store) ReviveRefund(ctx context.Context, id uuid.UUID) error {
	if _, err := s.db.ExecContext(ctx, "DELETE FROM abandoned_refunds WHERE id = ?", id); err != nil {
		return fmt.Errorf("revive refund: %w", err)
	}

	return nil
}

// lockRefundID makes reserving and abandoning one refund wait for each other: before it is reserved there is no row to
// lock.
func lockRefundID(ctx context.Context, tx bun.Tx, id uuid.UUID) error {
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", "refund:"+id.String()); err != nil {
		return fmt.Errorf("lock refund: %w", err)
	}

	return nil
}

// refuseAbandoned is INVALID_STATE for a refund whose caller was told that it does not happen.
func refuseAbandoned(ctx context.Context, tx bun.Tx, id uuid.UUID) error {
	abandoned, err := tx.NewSelect().Table("abandoned_refunds").Where("id = ?", id).Exists(ctx)
	if err != nil {
		return fmt.Errorf("read abandoned refund: %w", err)
	}

	if abandoned {
		return models.Errorf(models.CodeInvalidState, "The refund was given up before anybody took it.")
	}

	return nil
}
