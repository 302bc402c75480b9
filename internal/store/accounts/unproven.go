package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// An account whose address was never proved may be a stranger's, who has registered it before its owner came.

// takeFromStranger gives an account to the owner of its address, whose link a caller has used who is neither in a session of the account
// nor knows its password: all that may be a stranger's ends, and the owner gets a link to a password of their own.
func takeFromStranger(ctx context.Context, tx bun.Tx, by db.Actor, u *models.User) error {
	_, err := endSessions(ctx, tx, u.ID, func(q *bun.UpdateQuery) *bun.UpdateQuery { return q.Set("password_hash = ''") })
	if err != nil {
		return err
	}

	if err := forgetStranger(ctx, tx, by, u); err != nil {
		return err
	}

	if err := endLinks(ctx, tx, u.ID); err != nil {
		return err
	}

	if err := unlock(ctx, tx, u.ID); err != nil {
		return err
	}

	if _, err := queueLink(ctx, tx, u, models.TokenResetPassword); err != nil {
		return err
	}

	return db.Audit(ctx, tx, by, models.AuditPasswordVoided, models.EntityUser, &u.ID, map[string]any{
		"reason": "address verified by its owner",
	})
}

// forgetStranger takes away what may be a stranger's beside password and sessions: a second factor, confirmed or not, its recovery codes,
// log-ins that wait for a code, and the networks that the account knows.
func forgetStranger(ctx context.Context, tx bun.Tx, by db.Actor, u *models.User) error {
	for _, statement := range []string{
		"DELETE FROM login_challenges WHERE user_id = ?", "UPDATE login_throttles SET networks = '{}' WHERE subject = ?",
	} {
		if _, err := tx.NewRaw(statement, u.ID).Exec(ctx); err != nil {
			return fmt.Errorf("forget a stranger's log-ins: %w", err)
		}
	}

	if u.SecondFactorAt != nil {
		return removeSecondFactor(ctx, tx, by, u, uuid.Nil)
	}

	for _, statement := range []string{"DELETE FROM second_factors WHERE user_id = ?", "DELETE FROM recovery_codes WHERE user_id = ?"} {
		if _, err := tx.NewRaw(statement, u.ID).Exec(ctx); err != nil {
			return fmt.Errorf("remove a stranger's second factor: %w", err)
		}
	}

	return nil
}

// makeRoom removes the account that a customer, or a stranger, has opened with the address of u and never proved, which must not keep
// the platform's and the companies' people from accounts of their own. Bookings of it stay, as those of any account that is removed. An
// administrator of a company removes none that has paid for a booking: a company's people could take customers' accounts away.
func makeRoom(ctx context.Context, tx bun.Tx, by db.Actor, u *models.User) error {
	if u.Role == models.RoleEndUser {
		return nil
	}

	var old models.User

	q := tx.NewSelect().Model(&old).Where("lower(u.email) = lower(?)", u.Email).Where("u.deleted_at IS NULL").
		Where("u.role = ?", models.RoleEndUser).Where("u.email_verified_at IS NULL").For("NO KEY UPDATE")
	if by.Role.IsProvider() {
		q = q.Where("NOT EXISTS (SELECT FROM bookings AS b WHERE b.user_id = u.id AND b.status = ?)", models.BookingConfirmed)
	}

	err := q.Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}

	if err != nil {
		return fmt.Errorf("find an account that was never proved: %w", err)
	}

	if _, err := endSessions(ctx, tx, old.ID, func(q *bun.UpdateQuery) *bun.UpdateQuery { return q.Set("deleted_at = now()") }); err != nil {
		return err
	}

	details := accountDetails(&old, accountState(&old), nil)
	details["reason"] = "address never verified, needed for an account of " + string(u.Role)

	return db.Audit(ctx, tx, by, models.AuditUserRemoved, models.EntityUser, &old.ID, details)
}
