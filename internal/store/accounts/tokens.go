package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// OpenSession keeps the first refresh token of a family; TokenHash and ExpiresAt are required, a family is made when
// none is given. u is the account as it was when its owner proved who they are. Error: INVALID_CREDENTIALS when it has
// been removed, or its password changed, since: the session would outlive what ended all others.
func (s *Store) OpenSession(ctx context.Context, u models.User, t models.RefreshToken) error {
	return openSession(ctx, s.db, &u, t)
}

func openSession(ctx context.Context, db bun.IDB, u *models.User, t models.RefreshToken) error {
	if t.FamilyID == uuid.Nil {
		t.FamilyID = models.NewID()
	}

	// The lock orders this session against a concurrent end of all sessions.
	res, err := db.ExecContext(ctx, `
		WITH u AS (SELECT id FROM users WHERE id = ? AND token_generation = ? AND deleted_at IS NULL FOR SHARE)
		INSERT INTO refresh_tokens (token_hash, family_id, user_id, expires_at) SELECT ?, ?::uuid, id, ?::timestamptz FROM u`,
		u.ID, u.TokenGeneration, t.TokenHash, t.FamilyID, t.ExpiresAt)
	if err != nil {
		return fmt.Errorf("insert refresh token: %w", err)
	}

	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}

	return models.Errorf(models.CodeInvalidCredentials, "The account has just been changed. Log in again.")
}

// RotateRefreshToken spends a token for the next one of its family, of which TokenHash and ExpiresAt are given, and
// returns their user. A token that is spent already counts as stolen: its whole
// family is revoked, and the access tokens that came from it, which stays so although the call fails (rules: identity.refresh). That
// it was spent a moment ago makes no difference. Error: INVALID_CREDENTIALS when the token is spent, expired, revoked,
// unknown, or its user deleted.
func (s *Store) RotateRefreshToken(ctx context.Context, oldHash []byte, next models.RefreshToken, now time.Time) (models.User, error) {
	var (
		user    models.User
		refusal error
	)

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		refusal = nil

		old, err := lockToken(ctx, tx, oldHash, &user)
		if errors.Is(err, sql.ErrNoRows) {
			refusal = errInvalidToken()

			return nil
		}

		if err != nil {
			return fmt.Errorf("lock refresh token: %w", err)
		}

		switch {
		case old.SpentAt != nil:
			refusal = errInvalidToken()

			return endStolen(ctx, tx, old)
		case old.RevokedAt != nil, !old.ExpiresAt.After(now), user.DeletedAt != nil:
			refusal = errInvalidToken()

			return nil
		}

		next.FamilyID, next.UserID = old.FamilyID, old.UserID

		return spendToken(ctx, tx, oldHash, &next)
	})
	if err == nil {
		err = refusal
	}

	if err != nil {
		return models.User{}, err
	}

	return user, nil
}

// RevokeRefreshToken ends the family of a token: the session is logged out. An unknown or revoked token changes
// nothing.
func (s *Store) RevokeRefreshToken(ctx context.Context, hash []byte) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		var user models.User

		t, err := lockToken(ctx, tx, hash, &user)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}

		if err != nil {
			return fmt.Errorf("lock refresh token: %w", err)
		}

		_, err = revokeFamily(ctx, tx, t.FamilyID)

		return err
	})
}

// PurgeRefreshTokens deletes the tokens that expired longer ago than the given time, and counts them. Until then
// a spent token is kept, so that its use is noticed.
func (s *Store) PurgeRefreshTokens(ctx context.Context, expiredFor time.Duration) (int64, error) {
	res, err := s.db.NewDelete().Model((*models.RefreshToken)(nil)).
		Where("expires_at < now() - ? * interval '1 second'", expiredFor.Seconds()).Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("purge refresh tokens: %w", err)
	}

	return res.RowsAffected()
}

// lockToken reads a token under the lock of its user's row. The token's own row would not do: a rotation inserts a
// row that a concurrent revocation of the family, waiting for the old one, could not see, and would so survive it.
func lockToken(ctx context.Context, tx bun.Tx, hash []byte, user *models.User) (models.RefreshToken, error) {
	var t models.RefreshToken

	err := tx.NewSelect().Model(user).
		Where("u.id = (SELECT user_id FROM refresh_tokens WHERE token_hash = ?)", hash).For("NO KEY UPDATE").Scan(ctx)
	if err != nil {
		return t, err
	}

	err = tx.NewSelect().Model(&t).Where("rt.token_hash = ?", hash).Scan(ctx)

	return t, err
}

func spendToken(ctx context.Context, tx bun.Tx, hash []byte, next *models.RefreshToken) error {
	_, err := tx.NewUpdate().Model((*models.RefreshToken)(nil)).
		Set("spent_at = now()").Where("token_hash = ?", hash).Exec(ctx)
	if err != nil {
		return fmt.Errorf("spend refresh token: %w", err)
	}

	if _, err := tx.NewInsert().Model(next).Exec(ctx); err != nil {
		return fmt.Errorf("insert refresh token: %w", err)
	}

	return nil
}

// endStolen revokes the family of a token that was used twice. Which access tokens came from the family is not known:
// all of the account are refused from now on, and its other sessions get new ones by their refresh tokens. The lock of
// the user's row is held. For a family that is over already this is not repeated.
func endStolen(ctx context.Context, tx bun.Tx, t models.RefreshToken) error {
	revoked, err := revokeFamily(ctx, tx, t.FamilyID)
	if err != nil || revoked == 0 {
		return err
	}

	_, err = tx.NewUpdate().Model((*models.User)(nil)).Set("token_generation = token_generation + 1").
		Where("id = ?", t.UserID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("end access tokens: %w", err)
	}

	return nil
}

// revokeFamily counts the tokens that it revokes.
func revokeFamily(ctx context.Context, tx bun.Tx, family uuid.UUID) (int64, error) {
	res, err := tx.NewUpdate().Model((*models.RefreshToken)(nil)).
		Set("revoked_at = now()").Where("family_id = ?", family).Where("revoked_at IS NULL").Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("revoke refresh tokens: %w", err)
	}

	return res.RowsAffected()
}

func errInvalidToken() error {
	return models.Errorf(models.CodeInvalidCredentials, "The refresh token is not valid.")
}
