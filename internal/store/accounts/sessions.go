package accounts

import (
	"context"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// maxSessions bounds the sessions that are listed of an account; the newest are.
const maxSessions = 100

// Sessions are those of an account that are open, used last first.
func (s *Store) Sessions(ctx context.Context, user uuid.UUID) (open []models.Session, err error) {
	err = s.db.NewSelect().Model(&open).Where("s.user_id = ?", user).Where("s.ended_at IS NULL").Where("s.expires_at > now()").
		OrderExpr("s.used_at DESC, s.id").Limit(maxSessions).Scan(ctx)

	return open, err
}

// Session is an open session of an account. Error: NOT_FOUND.
func (s *Store) Session(ctx context.Context, user, id uuid.UUID) (models.Session, error) {
	var session models.Session

	err := s.db.NewSelect().Model(&session).Where("s.id = ?", id).Where("s.user_id = ?", user).Where("s.ended_at IS NULL").Scan(ctx)

	return session, db.NotFound(err)
}

// EndSession ends one session of an account, its access tokens included. Error: NOT_FOUND, also for one that has ended.
func (s *Store) EndSession(ctx context.Context, by db.Actor, user, id uuid.UUID) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		// The account first: its lock is the one under which tokens are rotated.
		if _, err := tx.NewRaw("SELECT FROM users WHERE id = ? FOR NO KEY UPDATE", user).Exec(ctx); err != nil {
			return err
		}

		open, err := tx.NewSelect().Model((*models.Session)(nil)).Where("s.id = ?", id).Where("s.user_id = ?", user).
			Where("s.ended_at IS NULL").Where("s.expires_at > now()").Exists(ctx)
		if err != nil {
			return err
		}

		if !open {
			return models.NotFound()
		}

		if _, err := revokeFamily(ctx, tx, id); err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditSessionEnded, models.EntityUser, &user, map[string]any{"session_id": id})
	})
}

// LogOut ends a session of an account whose owner leaves it. One that has ended changes nothing.
func (s *Store) LogOut(ctx context.Context, user, id uuid.UUID) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		// The account first: its lock is the one under which tokens are rotated.
		if _, err := tx.NewRaw("SELECT FROM users WHERE id = ? FOR NO KEY UPDATE", user).Exec(ctx); err != nil {
			return err
		}

		open, err := tx.NewSelect().Model((*models.Session)(nil)).Where("s.id = ?", id).Where("s.user_id = ?", user).
			Where("s.ended_at IS NULL").Exists(ctx)
		if err != nil || !open {
			return err
		}

		_, err = revokeFamily(ctx, tx, id)

		return err
	})
}

// EndSessions ends all sessions of an account. Error: NOT_FOUND.
func (s *Store) EndSessions(ctx context.Context, by db.Actor, user uuid.UUID) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := endSessions(ctx, tx, user, func(q *bun.UpdateQuery) *bun.UpdateQuery { return q }); err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditSessionsEnded, models.EntityUser, &user, nil)
	})
}
