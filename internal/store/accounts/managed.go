package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// AccountUse is what is known of an account's use.
type AccountUse struct {
	LastLoginAt *time.Time `bun:"last_login_at"`
	LockedUntil *time.Time `bun:"locked_until"` // after too many wrong passwords
}

// AccountFilter narrows the list of accounts; zero fields do not.
type AccountFilter struct {
	Role   models.Role
	State  models.AccountState
	Search string // part of name, email or phone
	Page   db.Page
}

var accountOrder = db.Order{
	Columns:  map[string]string{"name": "u.name", "email": "u.email", "created_at": "u.created_at"},
	ID:       "u.id",
	Fallback: db.Sort{Field: "created_at", Desc: true},
}

// accountStates are the conditions of models.User.State.
var accountStates = map[models.AccountState]string{
	models.AccountActive:  "u.locked_at IS NULL AND u.password_hash <> ''",
	models.AccountLocked:  "u.locked_at IS NOT NULL",
	models.AccountInvited: "u.locked_at IS NULL AND u.password_hash = ''",
}

// ListAccounts lists accounts of every role, newest first. Error: VALIDATION_ERROR on sort.
func (s *Store) ListAccounts(ctx context.Context, f AccountFilter) (db.Listed[models.User], error) {
	q := s.db.NewSelect().Where("u.deleted_at IS NULL")
	q = db.WhereEqual(q, "u.role", f.Role)
	q = db.WhereFound(q, "users", "u.id", f.Search)

	if f.State != "" {
		q = q.Where(accountStates[f.State])
	}

	return db.ListWith[models.User](ctx, q, f.Page, accountOrder, db.ListOptions{Counts: &s.db.Counts})
}

// Invite makes an account without a password and queues the mail by which its owner sets one. Error: EMAIL_ALREADY_EXISTS.
func (s *Store) Invite(ctx context.Context, by db.Actor, u models.User) (models.User, error) {
	var out models.User

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if err = stillManages(ctx, tx, by); err != nil {
			return err
		}

		u.PasswordHash, u.Email = "", strings.TrimSpace(u.Email) // no password is this one's
		if err = makeRoom(ctx, tx, by, &u); err != nil {
			return err
		}

		if out, err = insertUser(ctx, tx, u); err != nil {
			return err
		}

		if _, err = queueLink(ctx, tx, &out, models.TokenInvitation); err != nil {
			return err
		}

		if err = tellOfPower(ctx, tx, &out); err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditUserInvited, models.EntityUser, &out.ID, accountDetails(&out, nil, accountState(&out)))
	})

	return out, err
}

// stillManages makes sure that who manages accounts may do so until the transaction ends: of two that remove each other, one stays.
// Error: FORBIDDEN.
func stillManages(ctx context.Context, tx bun.Tx, by db.Actor) error {
	if by.Operator != "" {
		return nil
	}

	var role models.Role

	err := tx.NewRaw("SELECT u.role FROM users AS u WHERE u.id = ? AND "+db.AccountIsLive+" FOR SHARE", by.UserID).Scan(ctx, &role)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("lock the account of who manages: %w", err)
	}

	if role != models.RoleSuperAdmin {
		return models.NewError(models.CodeForbidden, "access.role")
	}

	return nil
}

// managed locks an account that another one is to change. Errors: NOT_FOUND; FORBIDDEN for the own one.
func managed(ctx context.Context, tx bun.Tx, by db.Actor, id uuid.UUID) (models.User, error) {
	var u models.User

	if by.UserID == id {
		return u, models.NewError(models.CodeForbidden, "account.own")
	}

	if err := stillManages(ctx, tx, by); err != nil {
		return u, err
	}

	err := tx.NewSelect().Model(&u).Where("u.id = ?", id).Where("u.deleted_at IS NULL").For("NO KEY UPDATE").Scan(ctx)

	return u, db.NotFound(err)
}

// ChangeAccount changes what an account says of its owner, and its role. Another role ends its sessions at once. Errors: NOT_FOUND;
// FORBIDDEN for the own account; VALIDATION_ERROR on role where the account cannot have it; that of change.
func (s *Store) ChangeAccount(ctx context.Context, by db.Actor, id uuid.UUID, change func(*models.User) error) (models.User, error) {
	return s.manage(ctx, by, id, func(ctx context.Context, tx bun.Tx, u models.User) (models.User, models.AuditAction, error) {
		was := u.Role
		if err := change(&u); err != nil {
			return u, "", err
		}

		if err := models.MayBecome(was, u.Role); err != nil {
			return u, "", err
		}

		set := func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("name = ?", u.Name).Set("phone = ?", u.Phone).Set("role = ?", u.Role).Set("locale = ?", u.Locale)
		}

		if u.Role != was {
			changed, err := endSessions(ctx, tx, id, set)
			if err == nil {
				err = tellOfPower(ctx, tx, &changed)
			}

			return changed, models.AuditUserChanged, err
		}

		err := set(tx.NewUpdate().Model(&u)).Set("updated_at = now()").Where("id = ?", id).Returning("?Columns").Scan(ctx)

		return u, models.AuditUserChanged, err
	})
}

// LockAccount keeps an account's owner out, all sessions included, until it is unlocked. Locking it again changes nothing. Errors:
// NOT_FOUND; FORBIDDEN for the own account.
func (s *Store) LockAccount(ctx context.Context, by db.Actor, id uuid.UUID) (models.User, error) {
	return s.manage(ctx, by, id, func(ctx context.Context, tx bun.Tx, u models.User) (models.User, models.AuditAction, error) {
		if u.LockedAt != nil {
			return u, "", nil
		}

		u, err := endSessions(ctx, tx, id, func(q *bun.UpdateQuery) *bun.UpdateQuery { return q.Set("locked_at = now()") })

		return u, models.AuditUserLocked, err
	})
}

// UnlockAccount lets an account's owner in again, after LockAccount and after too many wrong passwords alike. Errors: NOT_FOUND;
// FORBIDDEN for the own account.
func (s *Store) UnlockAccount(ctx context.Context, by db.Actor, id uuid.UUID) (models.User, error) {
	return s.manage(ctx, by, id, func(ctx context.Context, tx bun.Tx, _ models.User) (models.User, models.AuditAction, error) {
		var now models.User // NULL leaves what was there before as it is

		err := tx.NewUpdate().Model(&now).Set("locked_at = NULL").Set("updated_at = now()").Where("id = ?", id).Returning("?Columns").Scan(ctx)
		if err != nil {
			return now, "", err
		}

		return now, models.AuditUserUnlocked, unlock(ctx, tx, id)
	})
}

// InviteAgain queues another invitation. Errors: NOT_FOUND; FORBIDDEN for the own account; INVALID_STATE for an account that has a
// password, or has had its mails of the day.
func (s *Store) InviteAgain(ctx context.Context, by db.Actor, id uuid.UUID) (models.User, error) {
	return s.manage(ctx, by, id, func(ctx context.Context, tx bun.Tx, u models.User) (models.User, models.AuditAction, error) {
		if u.State() != models.AccountInvited {
			return u, "", models.NewError(models.CodeInvalidState, "account.no_invitation")
		}

		queued, err := queueLink(ctx, tx, &u, models.TokenInvitation)
		if err == nil && !queued {
			err = models.NewError(models.CodeInvalidState, "account.invitations_used")
		}

		return u, models.AuditUserInvited, err
	})
}

// RemoveAccount is RemoveUser by another user. Errors: NOT_FOUND; FORBIDDEN for the own account.
func (s *Store) RemoveAccount(ctx context.Context, by db.Actor, id uuid.UUID) error {
	_, err := s.manage(ctx, by, id, func(ctx context.Context, tx bun.Tx, u models.User) (models.User, models.AuditAction, error) {
		_, err := endSessions(ctx, tx, id, func(q *bun.UpdateQuery) *bun.UpdateQuery { return q.Set("deleted_at = now()") })

		return u, models.AuditUserRemoved, err
	})

	return err
}

// ResetSecondFactor takes away the second factor of an owner who has lost it, and the password with it: else a thief of that would
// enrol first. The owner gets a link to a new one. Errors: NOT_FOUND; INVALID_STATE for an account without one; FORBIDDEN for the
// own account.
func (s *Store) ResetSecondFactor(ctx context.Context, by db.Actor, id uuid.UUID) (models.User, error) {
	return s.manage(ctx, by, id, func(ctx context.Context, tx bun.Tx, u models.User) (models.User, models.AuditAction, error) {
		if err := removeSecondFactor(ctx, tx, by, &u, uuid.Nil); err != nil { // which notes itself
			return u, "", err
		}

		now, err := endSessions(ctx, tx, id, func(q *bun.UpdateQuery) *bun.UpdateQuery { return q.Set("password_hash = ''") })
		if err != nil {
			return u, "", err
		}

		if err := endLinks(ctx, tx, id); err != nil {
			return u, "", err
		}

		_, err = queueLink(ctx, tx, &now, models.TokenResetPassword)

		return now, models.AuditPasswordVoided, err
	})
}

// manage changes an account under its lock and notes the action; of a change that has none nothing is noted.
func (s *Store) manage(
	ctx context.Context, by db.Actor, id uuid.UUID, do func(context.Context, bun.Tx, models.User) (models.User, models.AuditAction, error),
) (models.User, error) {
	var out models.User

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		before, err := managed(ctx, tx, by, id)
		if err != nil {
			return err
		}

		var action models.AuditAction
		if out, action, err = do(ctx, tx, before); err != nil || action == "" {
			return err
		}

		return db.Audit(ctx, tx, by, action, models.EntityUser, &id, accountDetails(&out, accountState(&before), accountState(&out)))
	})

	return out, err
}

// LastLogins are when accounts have begun a session last, as far as their sessions are kept, and until when they are locked after too
// many wrong passwords.
func (s *Store) LastLogins(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]AccountUse, error) {
	if len(ids) == 0 {
		return map[uuid.UUID]AccountUse{}, nil
	}

	var rows []struct {
		ID uuid.UUID
		AccountUse
	}

	err := s.db.NewRaw(`SELECT u.id, (SELECT max(created_at) FROM sessions WHERE user_id = u.id) AS last_login_at,
		(SELECT locked_until FROM login_throttles WHERE subject = u.id AND locked_until > now()) AS locked_until
		FROM users AS u WHERE u.id IN (?)`, bun.List(ids)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read the use of accounts: %w", err)
	}

	out := make(map[uuid.UUID]AccountUse, len(rows))
	for _, r := range rows {
		out[r.ID] = r.AccountUse
	}

	return out, nil
}
