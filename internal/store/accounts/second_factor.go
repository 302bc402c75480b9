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

const (
	// challengeFor is how long a log-in waits for its code, and challengeTries how many codes it takes.
	challengeFor   = 5 * time.Minute
	challengeTries = 5
)

// Code is what was typed as a second factor.
type Code struct {
	// Step finds the time step that a code of the sealed secret belongs to; 0: the code is none of the secret's. again is the secret as it
	// is to be sealed from now on; nil: as it is.
	Step func(sealed []byte) (step int64, again []byte, err error)
	// Recovery is the hash of the code as a recovery code.
	Recovery []byte
}

// errWrongCode is what every code that does not count answers: a wrong one, and one that has counted already.
func errWrongCode() error {
	return models.Because(models.CauseWrongCode)
}

// useCode has a code count, once. The lock of the second factor's row orders it against the same code elsewhere. It is empty when the
// code does not count.
func useCode(ctx context.Context, tx bun.Tx, user uuid.UUID, code Code) (models.SecondFactor, error) {
	var sealed []byte

	// The account first, as everywhere.
	if _, err := tx.NewRaw("SELECT FROM users WHERE id = ? FOR SHARE", user).Exec(ctx); err != nil {
		return "", err
	}

	err := tx.NewRaw("SELECT secret FROM second_factors WHERE user_id = ? AND confirmed_at IS NOT NULL FOR NO KEY UPDATE", user).
		Scan(ctx, &sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}

	if err != nil {
		return "", fmt.Errorf("read second factor: %w", err)
	}

	step, again, unread := code.Step(sealed)
	if step > 0 {
		used, err := changed(tx.NewRaw(`UPDATE second_factors SET last_step = ?0, secret = coalesce(?1, secret)
			WHERE user_id = ?2 AND last_step < ?0`, step, again, user).Exec(ctx))
		if err != nil || !used {
			return "", err
		}

		return models.SecondFactorTOTP, nil
	}

	// A recovery code needs no secret, and counts where no key opens it.
	used, err := changed(tx.NewRaw("UPDATE recovery_codes SET used_at = now() WHERE user_id = ? AND code_hash = ? AND used_at IS NULL",
		user, code.Recovery).Exec(ctx))
	if err != nil {
		return "", err
	}

	if !used {
		return "", unread
	}

	return models.SecondFactorRecovery, nil
}

// changed reports whether a statement has changed a row.
func changed(res sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}

	n, err := res.RowsAffected()

	return n > 0, err
}

// ChallengeLogin ends a try whose password was right and whose account has a second factor: a challenge waits for its code, and the
// try is no failure. Its network is not known for that: the code may still be wrong.
func (s *Store) ChallengeLogin(ctx context.Context, try *LoginTry, hash []byte) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := challenge(ctx, tx, &try.User, hash); err != nil {
			return err
		}

		return takeBack(ctx, tx, try, false)
	})
}

// ChallengeSignOn is ChallengeLogin for an account whose owner an identity provider has seen, without a second factor.
func (s *Store) ChallengeSignOn(ctx context.Context, u *models.User, hash []byte) error {
	return challenge(ctx, s.db, u, hash)
}

func challenge(ctx context.Context, conn bun.IDB, u *models.User, hash []byte) error {
	_, err := conn.NewRaw(`INSERT INTO login_challenges (token_hash, user_id, token_generation, expires_at)
		VALUES (?, ?, ?, now() + ? * interval '1 second')`, hash, u.ID, u.TokenGeneration, challengeFor.Seconds()).Exec(ctx)
	if err != nil {
		return fmt.Errorf("insert challenge: %w", err)
	}

	return nil
}

// ChallengedUser is the account whose log-in waits for a code, as it was when its password was right. Error: INVALID_CREDENTIALS.
func (s *Store) ChallengedUser(ctx context.Context, hash []byte) (models.User, error) {
	var u models.User

	err := s.db.NewSelect().Model(&u).Where(`(u.id, u.token_generation) = (SELECT user_id, token_generation FROM login_challenges
		WHERE token_hash = ? AND used_at IS NULL AND expires_at > now() AND tries < ?)`, hash, challengeTries).
		Where(db.AccountIsLive).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return u, errNoChallenge()
	}

	return u, err
}

func errNoChallenge() error {
	return models.Because(models.CauseNoChallenge)
}

// AnswerChallenge ends a try of a code for a challenge: the right one opens the session, once. Error: INVALID_CREDENTIALS, also for a
// challenge that has ended; the try is to be ended by LoginFailed then.
func (s *Store) AnswerChallenge(ctx context.Context, hash []byte, try *LoginTry, code Code, t models.RefreshToken) (models.Session, error) {
	var (
		session models.Session
		refusal error
	)

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		refusal = nil

		// The try has read the account once more: a password that was right before it was changed is none.
		open, err := changed(tx.NewRaw(`UPDATE login_challenges SET tries = tries + 1
			WHERE token_hash = ? AND user_id = ? AND token_generation = ? AND used_at IS NULL AND expires_at > now() AND tries < ?`,
			hash, try.User.ID, try.User.TokenGeneration, challengeTries).Exec(ctx))
		if err != nil || !open {
			refusal = errNoChallenge()

			return err
		}

		factor, err := useCode(ctx, tx, try.User.ID, code)
		if err != nil || factor == "" {
			refusal = errWrongCode()

			return err
		}

		if _, err := tx.NewRaw("UPDATE login_challenges SET used_at = now() WHERE token_hash = ?", hash).Exec(ctx); err != nil {
			return fmt.Errorf("end challenge: %w", err)
		}

		if session, err = logIn(ctx, tx, try, Opening{Token: t, From: try.From, SecondFactor: factor}); err != nil {
			return err
		}

		return noteRecovery(ctx, tx, try, factor)
	})
	if err == nil {
		err = refusal
	}

	return session, err
}

// noteRecovery writes into the audit log that a recovery code was used, and how many are left, and tells the owner.
func noteRecovery(ctx context.Context, tx bun.Tx, try *LoginTry, factor models.SecondFactor) error {
	if factor != models.SecondFactorRecovery {
		return nil
	}

	var left int

	err := tx.NewRaw("SELECT count(*) FROM recovery_codes WHERE user_id = ? AND used_at IS NULL", try.User.ID).Scan(ctx, &left)
	if err != nil {
		return fmt.Errorf("count recovery codes: %w", err)
	}

	by := try.From.as(&try.User)
	details := try.From.details()
	details["left"] = left

	return db.Audit(ctx, tx, by, models.AuditRecoveryCodeUsed, models.EntityUser, &try.User.ID, details)
}

// StepUp ends a try of a code in a session: it counts there for models.StepUpFor. Error: INVALID_CREDENTIALS; the try is to be ended by
// LoginFailed then.
func (s *Store) StepUp(ctx context.Context, session uuid.UUID, try *LoginTry, code Code) (models.Session, error) {
	var (
		out     models.Session
		refusal error
	)

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		refusal = nil

		factor, err := useCode(ctx, tx, try.User.ID, code)
		if err != nil || factor == "" {
			refusal = errWrongCode()

			return err
		}

		err = tx.NewUpdate().Model(&out).Set("code_at = now()").Set("second_factor = ?", factor).
			Where("id = ?", session).Where("user_id = ?", try.User.ID).Where("ended_at IS NULL").Returning("?Columns").Scan(ctx)
		if err != nil {
			return db.NotFound(err)
		}

		if err := takeBack(ctx, tx, try, true); err != nil {
			return err
		}

		by := try.From.as(&try.User)
		if err := db.Audit(ctx, tx, by, models.AuditSteppedUp, models.EntityUser, &try.User.ID, try.From.details()); err != nil {
			return err
		}

		return noteRecovery(ctx, tx, try, factor)
	})
	if err == nil {
		err = refusal
	}

	return out, err
}

// SteppedUp is the factor of a session, and whether its owner has proved it within models.StepUpFor. Error: NOT_FOUND without the account.
func (s *Store) SteppedUp(ctx context.Context, user, session uuid.UUID) (factor models.Factor, lately bool, err error) {
	var (
		own  bool
		seen models.SecondFactor
	)

	err = s.db.NewRaw(`SELECT u.second_factor_at IS NOT NULL, coalesce(s.second_factor, ''),
			coalesce(s.code_at > now() - ? * interval '1 second', false)
		FROM users AS u LEFT JOIN sessions AS s ON s.id = ? AND s.user_id = u.id AND s.ended_at IS NULL
		WHERE u.id = ? AND u.deleted_at IS NULL`, models.StepUpFor.Seconds(), session, user).Scan(ctx, &own, &seen, &lately)
	if err != nil {
		return "", false, db.NotFound(err)
	}

	return models.FactorOf(own, seen), lately, nil
}

// BeginSecondFactor keeps a secret that its owner has not confirmed yet, in place of an earlier one. Error: INVALID_STATE when the
// account has a second factor.
func (s *Store) BeginSecondFactor(ctx context.Context, user uuid.UUID, sealed []byte) error {
	begun, err := changed(s.db.NewRaw(`INSERT INTO second_factors AS f (user_id, secret) VALUES (?, ?)
		ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, created_at = now() WHERE f.confirmed_at IS NULL`,
		user, sealed).Exec(ctx))
	if err != nil {
		return fmt.Errorf("begin second factor: %w", err)
	}

	if !begun {
		return errHasSecondFactor()
	}

	return nil
}

func errHasSecondFactor() error {
	return models.NewError(models.CodeInvalidState, "second_factor.exists")
}

// ConfirmSecondFactor ends a try of the first code of a new secret: the account has a second factor from now on, recovery codes, and no
// other session than this one, which may be uuid.Nil. Errors: INVALID_STATE when there is nothing to confirm; INVALID_CREDENTIALS, with
// the try to be ended by LoginFailed.
func (s *Store) ConfirmSecondFactor(
	ctx context.Context, by db.Actor, session uuid.UUID, try *LoginTry, code Code, recovery [][]byte,
) error {
	var refusal error

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		refusal = nil

		// The account first, as everywhere.
		var u models.User
		if err := tx.NewSelect().Model(&u).Where("u.id = ?", try.User.ID).Where(db.AccountIsLive).For("NO KEY UPDATE").Scan(ctx); err != nil {
			return db.NotFound(err)
		}

		var sealed []byte

		err := tx.NewRaw("SELECT secret FROM second_factors WHERE user_id = ? AND confirmed_at IS NULL FOR NO KEY UPDATE", u.ID).
			Scan(ctx, &sealed)
		if errors.Is(err, sql.ErrNoRows) {
			refusal = models.NewError(models.CodeInvalidState, "second_factor.not_begun")

			return nil
		}

		if err != nil {
			return fmt.Errorf("read second factor: %w", err)
		}

		step, _, err := code.Step(sealed) // begun a moment ago, under the key that seals
		if err != nil || step == 0 {
			refusal = errWrongCode()

			return err
		}

		if err := enableSecondFactor(ctx, tx, u.ID, session, step, recovery); err != nil {
			return err
		}

		if err := takeBack(ctx, tx, try, true); err != nil {
			return err
		}

		if err := queueNotice(ctx, tx, &u, models.NotifySecondFactorAdded, nil); err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditSecondFactorAdded, models.EntityUser, &u.ID, try.From.details())
	})
	if err == nil {
		err = refusal
	}

	return err
}

func enableSecondFactor(ctx context.Context, tx bun.Tx, user, session uuid.UUID, step int64, recovery [][]byte) error {
	for _, statement := range []struct {
		sql  string
		args []any
	}{
		{"UPDATE second_factors SET confirmed_at = now(), last_step = ? WHERE user_id = ?", []any{step, user}},
		{"UPDATE users SET second_factor_at = now(), updated_at = now() WHERE id = ?", []any{user}},
		{"UPDATE sessions SET second_factor = 'TOTP', code_at = now() WHERE id = ? AND user_id = ?", []any{session, user}},
		{"DELETE FROM recovery_codes WHERE user_id = ?", []any{user}},
	} {
		if _, err := tx.NewRaw(statement.sql, statement.args...).Exec(ctx); err != nil {
			return fmt.Errorf("enable second factor: %w", err)
		}
	}

	for _, hash := range recovery {
		if _, err := tx.NewRaw("INSERT INTO recovery_codes (user_id, code_hash) VALUES (?, ?)", user, hash).Exec(ctx); err != nil {
			return fmt.Errorf("insert recovery code: %w", err)
		}
	}

	return endSessionsBut(ctx, tx, user, session)
}

// RemoveSecondFactor takes an account's second factor away, ends its other sessions and tells its owner. kept is the session that goes
// on, uuid.Nil for none. Error: INVALID_STATE for an account without one.
func (s *Store) RemoveSecondFactor(ctx context.Context, by db.Actor, user, kept uuid.UUID) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		var u models.User
		if err := tx.NewSelect().Model(&u).Where("u.id = ?", user).Where(db.AccountIsLive).For("NO KEY UPDATE").Scan(ctx); err != nil {
			return db.NotFound(err)
		}

		return removeSecondFactor(ctx, tx, by, &u, kept)
	})
}

// removeSecondFactor is RemoveSecondFactor under the lock of the account, which it changes with it.
func removeSecondFactor(ctx context.Context, tx bun.Tx, by db.Actor, u *models.User, kept uuid.UUID) error {
	if u.SecondFactorAt == nil {
		return models.NewError(models.CodeInvalidState, "second_factor.none")
	}

	for _, statement := range []string{
		"UPDATE users SET second_factor_at = NULL, updated_at = now() WHERE id = ?",
		"DELETE FROM second_factors WHERE user_id = ?", "DELETE FROM recovery_codes WHERE user_id = ?",
		"UPDATE sessions SET second_factor = '', code_at = NULL WHERE user_id = ? AND ended_at IS NULL AND second_factor <> 'ISSUER'",
	} {
		if _, err := tx.NewRaw(statement, u.ID).Exec(ctx); err != nil {
			return fmt.Errorf("remove second factor: %w", err)
		}
	}

	u.SecondFactorAt = nil

	if err := endSessionsBut(ctx, tx, u.ID, kept); err != nil {
		return err
	}

	if err := queueNotice(ctx, tx, u, models.NotifySecondFactorRemoved, nil); err != nil {
		return err
	}

	return db.Audit(ctx, tx, by, models.AuditSecondFactorRemoved, models.EntityUser, &u.ID, nil)
}
