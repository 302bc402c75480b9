package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// Opening is a session that begins.
type Opening struct {
	// Token is its first refresh token: TokenHash and ExpiresAt are required; the family, which is the session's id, is made when none
	// is given.
	Token        models.RefreshToken
	From         LoginFrom
	SecondFactor models.SecondFactor // what has been proved more than the password; a code counts from now on
	// ProvedAt is when an identity provider has seen its second factor; zero when it does not say.
	ProvedAt time.Time
}

// OpenSession keeps a session and its first refresh token. u is the account as it was when its owner proved who they are. Error:
// INVALID_CREDENTIALS when it has been removed or locked, its password changed, or a second factor enabled that the session has not seen,
// since: the session would outlive what ended all others.
func (s *Store) OpenSession(ctx context.Context, u models.User, o Opening) (models.Session, error) {
	return openSession(ctx, s.db, &u, o)
}

func openSession(ctx context.Context, conn bun.IDB, u *models.User, o Opening) (models.Session, error) {
	if o.Token.FamilyID == uuid.Nil {
		o.Token.FamilyID = models.NewID()
	}

	var session models.Session

	// The lock orders this session against a concurrent end of all sessions.
	err := conn.NewRaw(`
		WITH u AS (SELECT id FROM users WHERE id = ?0 AND token_generation = ?1 AND deleted_at IS NULL AND locked_at IS NULL
			AND (?6 <> '' OR second_factor_at IS NULL) FOR SHARE),
		s AS (
			INSERT INTO sessions (id, user_id, expires_at, address, user_agent, second_factor, code_at)
			SELECT ?2::uuid, id, now() + ?3 * interval '1 second', ?4, ?5, ?6,
				CASE WHEN ?6 IN ('TOTP', 'RECOVERY_CODE') THEN now()
					WHEN ?6 = 'ISSUER' AND ?9::timestamptz IS NOT NULL THEN least(?9::timestamptz, now()) END FROM u
			RETURNING ?10),
		t AS (
			INSERT INTO refresh_tokens (token_hash, family_id, user_id, expires_at)
			SELECT ?7, id, user_id, least(?8::timestamptz, expires_at) FROM s)
		SELECT ?10 FROM s`,
		u.ID, u.TokenGeneration, o.Token.FamilyID, models.SessionLimit(u.Role).Seconds(), o.From.Address,
		db.CleanAgent(o.From.UserAgent), o.SecondFactor, o.Token.TokenHash, o.Token.ExpiresAt, bun.NullTime{Time: o.ProvedAt},
		db.Columns[models.Session](conn, "")).Scan(ctx, &session)
	if errors.Is(err, sql.ErrNoRows) {
		return session, models.Because(models.CauseAccountChanged)
	}

	if err != nil {
		return session, fmt.Errorf("open session: %w", err)
	}

	return session, nil
}

// Refreshed is whom a refresh token stood for.
type Refreshed struct {
	models.User

	Session models.Session
	// Again is the successor that the token has given before, sealed (models.RefreshToken.Successor); nil: it is the one that was given.
	Again []byte
}

// RotateRefreshToken spends a token for the next one of its family, of which TokenHash and ExpiresAt are given, and
// returns their user. A token that is spent already counts as stolen: its whole
// family is revoked, and the access tokens that came from it, which stays so although the call fails (rules: identity.refresh). But for
// models.RefreshAgainFor the client that has spent it, which may have lost the answer, gets the same successor, as long as that was not
// used. The session is used from where the token came. Error: INVALID_CREDENTIALS when the
// token is spent, expired, revoked, unknown, or its session over, or its user deleted or locked.
func (s *Store) RotateRefreshToken(
	ctx context.Context, oldHash []byte, next models.RefreshToken, from LoginFrom, now time.Time,
) (Refreshed, error) {
	var (
		out     Refreshed
		refusal error
	)

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		refusal = nil

		old, err := lockToken(ctx, tx, oldHash, &out.User)
		if errors.Is(err, sql.ErrNoRows) {
			refusal = errInvalidToken()

			return nil
		}

		if err != nil {
			return fmt.Errorf("lock refresh token: %w", err)
		}

		again, err := askedAgain(ctx, tx, &old, from)
		if err != nil {
			return err
		}

		switch {
		case old.SpentAt != nil && !again:
			refusal = errInvalidToken()

			return endStolen(ctx, tx, &out.User, old, from)
		case old.RevokedAt != nil, !old.ExpiresAt.After(now), out.DeletedAt != nil, out.LockedAt != nil:
			refusal = errInvalidToken()

			return nil
		}

		if out.Session, err = useSession(ctx, tx, &out.User, old.FamilyID, from, now); err != nil {
			if errors.Is(err, sql.ErrNoRows) {
				refusal = errInvalidToken()

				return nil
			}

			return err
		}

		if again {
			out.Again = old.Successor

			return nil
		}

		succeed(&next, &old, &out.Session)

		return spendToken(ctx, tx, oldHash, &next, from)
	})
	if err == nil {
		err = refusal
	}

	if err != nil {
		return Refreshed{}, err
	}

	return out, nil
}

// succeed makes next the successor of old: a token of the same family and user, which is not valid longer than the session.
func succeed(next, old *models.RefreshToken, session *models.Session) {
	next.FamilyID, next.UserID = old.FamilyID, old.UserID
	if next.ExpiresAt.After(session.ExpiresAt) {
		next.ExpiresAt = session.ExpiresAt
	}
}

// useSession notes a use of a session that is not over, and has a second factor if the account has. Error: sql.ErrNoRows when it is not
// so.
func useSession(ctx context.Context, tx bun.Tx, u *models.User, id uuid.UUID, from LoginFrom, now time.Time) (models.Session, error) {
	var session models.Session

	err := tx.NewUpdate().Model(&session).Set("used_at = greatest(used_at, ?)", now).Set("address = ?", from.Address).
		Set("user_agent = ?", db.CleanAgent(from.UserAgent)).Where("id = ?", id).Where("ended_at IS NULL").Where("expires_at > ?", now).
		Where("second_factor <> '' OR ?", u.SecondFactorAt == nil).Returning("?Columns").Scan(ctx)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return session, fmt.Errorf("note the use of a session: %w", err)
	}

	return session, err
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

// PurgeRefreshTokens deletes the tokens that expired longer ago than the given time, and counts them; until then a spent token is kept,
// so that its use is noticed. With them go sessions without tokens, log-ins that were never finished, and links of mails.
func (s *Store) PurgeRefreshTokens(ctx context.Context, expiredFor time.Duration) (deleted int64, err error) {
	for _, old := range []string{
		"DELETE FROM refresh_tokens WHERE expires_at < now() - ? * interval '1 second'",
		`DELETE FROM sessions AS s WHERE expires_at < now() - ? * interval '1 second'
			AND NOT EXISTS (SELECT FROM refresh_tokens AS rt WHERE rt.family_id = s.id)`,
		"DELETE FROM login_challenges WHERE expires_at < now() - ? * interval '1 second'",
		"DELETE FROM account_tokens WHERE expires_at < now() - ? * interval '1 second'",
		"DELETE FROM stranger_counts WHERE hour < now() - interval '1 hour' - ? * interval '1 second'",
		"DELETE FROM people_reads WHERE hour < now() - interval '1 hour' - ? * interval '1 second'",
		`DELETE FROM login_throttles WHERE subject < '00000000-0000-0000-0000-000001000000'
			AND greatest(locked_until, failed_at, counted_from) < now() - interval '1 day' - ? * interval '1 second'`,
	} {
		res, err := s.db.NewRaw(old, expiredFor.Seconds()).Exec(ctx)
		if err != nil {
			return deleted, fmt.Errorf("purge tokens: %w", err)
		}

		if n, err := res.RowsAffected(); err == nil && deleted == 0 {
			deleted = n
		}
	}

	return deleted, nil
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

// askedAgain reports whether a token is spent, comes from the client that has just spent it, and its successor is still to be used. The
// lock of the user's row is held.
func askedAgain(ctx context.Context, tx bun.Tx, old *models.RefreshToken, from LoginFrom) (again bool, err error) {
	if old.SpentAt == nil {
		return false, nil
	}

	if from.Network == "" || old.SpentNetwork != from.Network || old.SpentAgent != db.CleanAgent(from.UserAgent) || old.RevokedAt != nil {
		return false, nil
	}

	err = tx.NewRaw(`SELECT EXISTS (SELECT FROM refresh_tokens AS o JOIN refresh_tokens AS n ON n.token_hash = o.successor_hash
		WHERE o.token_hash = ? AND o.spent_at > now() - ? * interval '1 second' AND n.spent_at IS NULL AND n.revoked_at IS NULL)`,
		old.TokenHash, models.RefreshAgainFor.Seconds()).Scan(ctx, &again)
	if err != nil {
		return false, fmt.Errorf("read successor of a refresh token: %w", err)
	}

	return again, nil
}

func spendToken(ctx context.Context, tx bun.Tx, hash []byte, next *models.RefreshToken, from LoginFrom) error {
	q := tx.NewUpdate().Model((*models.RefreshToken)(nil)).
		Set("spent_at = now()").Set("spent_network = ?", from.Network).Set("spent_agent = ?", db.CleanAgent(from.UserAgent))
	if next.Sealed != nil {
		q = q.Set("successor = ?", next.Sealed).Set("successor_hash = ?", next.TokenHash)
	}

	_, err := q.Where("token_hash = ?", hash).Exec(ctx)
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
// the user's row is held. The owner gets a mail. For a family that is over already this is not repeated.
func endStolen(ctx context.Context, tx bun.Tx, u *models.User, t models.RefreshToken, from LoginFrom) error {
	revoked, err := revokeFamily(ctx, tx, t.FamilyID)
	if err != nil || revoked == 0 {
		return err
	}

	_, err = tx.NewUpdate().Model((*models.User)(nil)).Set("token_generation = token_generation + 1").
		Where("id = ?", t.UserID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("end access tokens: %w", err)
	}

	if err := queueNotice(ctx, tx, u, models.NotifySessionStolen, nil); err != nil {
		return err
	}

	details := from.details()
	details["session_id"] = t.FamilyID

	return db.Audit(ctx, tx, from.actor(), models.AuditSessionStolen, models.EntityUser, &t.UserID, details)
}

// revokeFamily ends a session and counts the tokens that it revokes.
func revokeFamily(ctx context.Context, tx bun.Tx, family uuid.UUID) (int64, error) {
	_, err := tx.NewUpdate().Model((*models.Session)(nil)).Set("ended_at = now()").Where("id = ?", family).Where("ended_at IS NULL").Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("end session: %w", err)
	}

	res, err := tx.NewUpdate().Model((*models.RefreshToken)(nil)).
		Set("revoked_at = now()").Where("family_id = ?", family).Where("revoked_at IS NULL").Exec(ctx)
	if err != nil {
		return 0, fmt.Errorf("revoke refresh tokens: %w", err)
	}

	return res.RowsAffected()
}

func errInvalidToken() error {
	return models.Because(models.CauseRefreshToken)
}
