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

// SignOn opens the session of an owner whom an identity provider has seen. Error: that of OpenSession.
func (s *Store) SignOn(ctx context.Context, u models.User, o Opening) (session models.Session, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if session, err = openSession(ctx, tx, &u, o); err != nil {
			return err
		}

		details := o.From.signOnDetails()
		details["second_factor"] = string(o.SecondFactor)

		return db.Audit(ctx, tx, o.From.as(&u), models.AuditLoggedIn, models.EntityUser, &u.ID, details)
	})

	return session, err
}

// StepUpBySignOn has a new sign-in at the identity provider count in a session that the provider has opened, from when it was. at is not
// later than now. Error: INVALID_STATE when the session has ended, is of another account, or its account types codes.
func (s *Store) StepUpBySignOn(ctx context.Context, u models.User, id uuid.UUID, from LoginFrom, at time.Time) (models.Session, error) {
	var session models.Session

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		// The account first, as everywhere.
		if _, err := tx.NewRaw("SELECT FROM users WHERE id = ? FOR SHARE", u.ID).Exec(ctx); err != nil {
			return fmt.Errorf("lock account: %w", err)
		}

		err := tx.NewRaw(`UPDATE sessions AS s SET code_at = greatest(s.code_at, least(?::timestamptz, now())) FROM users AS u
			WHERE s.id = ? AND s.user_id = ? AND s.ended_at IS NULL AND s.expires_at > now() AND s.second_factor = ?
				AND u.id = s.user_id AND u.second_factor_at IS NULL AND `+db.AccountIsLive+` RETURNING s.id, s.code_at`,
			at, id, u.ID, models.SecondFactorIssuer).Scan(ctx, &session)
		if errors.Is(err, sql.ErrNoRows) {
			return models.NewError(models.CodeInvalidState, "sign_on.no_step_up")
		}

		if err != nil {
			return fmt.Errorf("step up: %w", err)
		}

		return db.Audit(ctx, tx, from.as(&u), models.AuditSteppedUp, models.EntityUser, &u.ID, from.signOnDetails())
	})

	return session, err
}

// SignOnRefused notes a sign-on that has failed, and why. u is the account of which an identity provider has seen the owner; nil when it
// is not known whose sign-on it was.
func (s *Store) SignOnRefused(ctx context.Context, u *models.User, from LoginFrom, reason models.Text) error {
	details := from.signOnDetails()
	reason.KeepIn(details, "reason")

	var id *uuid.UUID
	if u != nil {
		id = &u.ID
	}

	return db.Audit(ctx, s.db, from.actor(), models.AuditLoginFailed, models.EntityUser, id, details)
}

func (f LoginFrom) signOnDetails() map[string]any {
	details := f.details()
	details["single_sign_on"] = true

	return details
}
