package accounts

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// CreateUser adds a user. The id and the locale may be left out; the email is kept as written, without the spaces
// around it, and compared without regard to case. Error: EMAIL_ALREADY_EXISTS.
func (s *Store) CreateUser(ctx context.Context, u models.User) (models.User, error) {
	return insertUser(ctx, s.db, u)
}

// AddUser is CreateUser with an entry in the audit log. by is who makes the account: its owner, when it has no user id of its own,
// or an operator.
func (s *Store) AddUser(ctx context.Context, by db.Actor, u models.User) (models.User, error) {
	var out models.User

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if out, err = insertMade(ctx, tx, by, u); err != nil {
			return err
		}

		if by.UserID == uuid.Nil && by.Operator == "" {
			by.UserID, by.Role = out.ID, out.Role
		}

		if err := tellOfPower(ctx, tx, &out); err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditUserCreated, models.EntityUser, &out.ID, accountDetails(&out, nil, accountState(&out)))
	})

	return out, err
}

// Register is AddUser for an owner who opens the account, whose address a mail with a link verifies. The owner of an address that has an
// account gets a mail. mailed reports whether one was queued. Error: EMAIL_ALREADY_EXISTS.
func (s *Store) Register(ctx context.Context, by db.Actor, u models.User) (out models.User, mailed bool, err error) {
	mails, err := s.mayMail(ctx, by.Network)
	if err != nil {
		return out, false, err
	}

	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if out, err = insertUser(ctx, tx, u); err != nil {
			return err
		}

		if mails { // else its owner asks for it later
			if mailed, err = queueLink(ctx, tx, &out, models.TokenVerifyEmail); err != nil {
				return err
			}
		}

		by.UserID, by.Role = out.ID, out.Role

		return db.Audit(ctx, tx, by, models.AuditUserCreated, models.EntityUser, &out.ID, accountDetails(&out, nil, accountState(&out)))
	})
	if models.CodeOf(err) == models.CodeEmailAlreadyExists && !mails {
		return out, false, err
	}

	if models.CodeOf(err) == models.CodeEmailAlreadyExists {
		told, failed := s.TellOwner(ctx, u.Email)
		if failed != nil {
			return out, false, failed
		}

		return out, told, err
	}

	return out, mailed && err == nil, err
}

// insertMade is insertUser for an account that others make with a password. That of a company or of the platform was made for its
// address; customers prove theirs.
func insertMade(ctx context.Context, tx bun.Tx, by db.Actor, u models.User) (models.User, error) {
	u.Email = models.CleanExact(u.Email)
	if err := makeRoom(ctx, tx, by, &u); err != nil {
		return models.User{}, err
	}

	out, err := insertUser(ctx, tx, u)
	if err != nil || out.Role == models.RoleEndUser {
		return out, err
	}

	return out, verifyEmail(ctx, tx, out.ID, true)
}

func insertUser(ctx context.Context, conn bun.IDB, u models.User) (models.User, error) {
	u.Email = models.CleanExact(u.Email)
	if u.ID == uuid.Nil {
		u.ID = models.NewID()
	}

	if u.Locale == "" {
		u.Locale = models.LocaleArabic
	}

	_, err := conn.NewInsert().Model(&u).Returning("?Columns").Exec(ctx)
	if db.Violates(err, "users_email_live") {
		return models.User{}, models.NewError(models.CodeEmailAlreadyExists, "account.exists")
	}

	if err != nil {
		return models.User{}, fmt.Errorf("insert user: %w", err)
	}

	return u, nil
}

// UserByEmail finds the live user with the email, whatever its case. Error: NOT_FOUND.
func (s *Store) UserByEmail(ctx context.Context, email string) (models.User, error) {
	var u models.User

	err := s.db.NewSelect().Model(&u).
		Where("lower(u.email) = lower(?)", models.CleanExact(email)).Where("u.deleted_at IS NULL").Scan(ctx)

	return u, db.NotFound(err)
}

// UserByID finds a live user. Error: NOT_FOUND.
func (s *Store) UserByID(ctx context.Context, id uuid.UUID) (models.User, error) {
	var u models.User

	err := s.db.NewSelect().Model(&u).Where("u.id = ?", id).Where("u.deleted_at IS NULL").Scan(ctx)

	return u, db.NotFound(err)
}

// AccountStatus is what an account may do now, whatever its access tokens say.
type AccountStatus = db.AccountStatus

var accountStatusSQL = "SELECT " + db.AccountColumns("$2") + " FROM users AS u WHERE u.id = $1 AND " + db.AccountIsLive

// AccountStatus reads how a live account stands, and whether the session of it, uuid.Nil for none, is over. It is asked at every request
// of a signed-in user, but for those whose own statement reads it (payments.PaymentStatusFor). Error: NOT_FOUND.
func (s *Store) AccountStatus(ctx context.Context, id, session uuid.UUID) (AccountStatus, error) {
	var now AccountStatus

	err := s.db.Raw.QueryRowContext(ctx, accountStatusSQL, pgx.QueryExecModeCacheStatement, id, db.NullableID(session)).Scan(now.Fields()...)

	return now, db.NotFound(err)
}

// RemoveUser deletes an account softly and ends all its sessions: no token of it works any more. Its email is free
// again. Error: NOT_FOUND, also the second time.
func (s *Store) RemoveUser(ctx context.Context, by db.Actor, id uuid.UUID) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u, err := endSessions(ctx, tx, id, func(q *bun.UpdateQuery) *bun.UpdateQuery { return q.Set("deleted_at = now()") })
		if err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditUserRemoved, models.EntityUser, &id, accountDetails(&u, accountState(&u), nil))
	})
}

// ChangePassword replaces the hash of an account's password and ends all its sessions, and the links that set one. was is the hash that
// it must still have, for an owner who has proved to know the password; empty for an operator, who sets it whatever it is.
// Error: NOT_FOUND, also when the hash has changed meanwhile.
func (s *Store) ChangePassword(ctx context.Context, by db.Actor, id uuid.UUID, was string, hash string) error {
	if hash == "" {
		return errors.New("a password hash must not be empty")
	}

	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u, err := endSessions(ctx, tx, id, func(q *bun.UpdateQuery) *bun.UpdateQuery {
			if was != "" {
				q = q.Where("password_hash = ?", was)
			}

			return q.Set("password_hash = ?", hash)
		})
		if err != nil {
			return err
		}

		if err := endLinks(ctx, tx, id); err != nil {
			return err
		}

		if err := unlock(ctx, tx, id); err != nil {
			return err
		}

		if err := queueNotice(ctx, tx, &u, models.NotifyPasswordChanged, nil); err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditPasswordChanged, models.EntityUser, &id, nil)
	})
}

// endSessions changes a live account, revokes its refresh tokens and ends its access tokens. The update comes first:
// its row lock is the one under which tokens are rotated and sessions are opened, so that none slips in. Error: NOT_FOUND.
func endSessions(
	ctx context.Context, tx bun.Tx, id uuid.UUID, change func(*bun.UpdateQuery) *bun.UpdateQuery,
) (models.User, error) {
	var u models.User

	err := change(tx.NewUpdate().Model(&u)).Set("token_generation = token_generation + 1").Set("updated_at = now()").
		Where("id = ?", id).Where("deleted_at IS NULL").Returning("?Columns").Scan(ctx)
	if err != nil {
		return u, db.NotFound(err)
	}

	return u, endSessionsBut(ctx, tx, id, uuid.Nil)
}

// endSessionsBut ends the sessions of an account but one, and revokes their refresh tokens. The lock of the user's row is held.
func endSessionsBut(ctx context.Context, tx bun.Tx, user, kept uuid.UUID) error {
	_, err := tx.NewUpdate().Model((*models.RefreshToken)(nil)).Set("revoked_at = now()").
		Where("user_id = ?", user).Where("family_id <> ?", kept).Where("revoked_at IS NULL").Exec(ctx)
	if err != nil {
		return fmt.Errorf("revoke refresh tokens: %w", err)
	}

	_, err = tx.NewUpdate().Model((*models.Session)(nil)).Set("ended_at = now()").
		Where("user_id = ?", user).Where("id <> ?", kept).Where("ended_at IS NULL").Exec(ctx)
	if err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}

	return nil
}

// HasUsersOutside reports whether there are users, customers excepted, whose email address is in neither the domain nor
// one below it.
func (s *Store) HasUsersOutside(ctx context.Context, domain string) (bool, error) {
	return s.db.NewSelect().Model((*models.User)(nil)).
		Where("email NOT ILIKE ?", "%@"+db.LikeEscaper.Replace(domain)).
		Where("email NOT ILIKE ?", "%@%."+db.LikeEscaper.Replace(domain)).Where("role <> ?", models.RoleEndUser).Exists(ctx)
}
