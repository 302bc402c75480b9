package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// StaffFilter narrows the list of a provider's staff; zero fields do not.
type StaffFilter struct {
	Role   models.Role
	Search string // part of name, email or phone
	Page   Page
}

var staffOrder = order{
	columns:  map[string]string{"name": "u.name", "created_at": "u.created_at"},
	id:       "u.id",
	fallback: Sort{Field: "created_at"},
}

// CreateStaff adds an account of a provider: Name, Email, PasswordHash, Role and ProviderID are required. Errors:
// NOT_FOUND (no such provider), VALIDATION_ERROR on role unless it is PROVIDER_ADMIN or PROVIDER_STAFF,
// EMAIL_ALREADY_EXISTS.
func (s *Store) CreateStaff(ctx context.Context, u models.User, by Actor) (models.User, error) {
	if !u.Role.IsProvider() {
		return models.User{}, models.Invalid("role", "must be one of %s, %s", models.RoleProviderAdmin, models.RoleProviderStaff)
	}

	if u.ProviderID == nil {
		return models.User{}, models.NotFound()
	}

	var out models.User

	err := s.inTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if err = providerExists(ctx, tx, *u.ProviderID); err != nil {
			return err
		}

		if out, err = insertUser(ctx, tx, u); err != nil {
			return err
		}

		return audit(ctx, tx, by, "STAFF_CREATED", "user", &out.ID,
			map[string]any{"role": out.Role, "provider_id": out.ProviderID})
	})
	if err != nil {
		return models.User{}, err
	}

	return out, nil
}

// ListStaff lists a provider's accounts, oldest first. Errors: NOT_FOUND (no such provider), VALIDATION_ERROR on sort.
func (s *Store) ListStaff(ctx context.Context, provider uuid.UUID, f StaffFilter) (Listed[models.User], error) {
	if err := providerExists(ctx, s.db, provider); err != nil {
		return Listed[models.User]{Items: []models.User{}}, err
	}

	q := s.db.NewSelect().Where("u.provider_id = ?", provider).Where("u.deleted_at IS NULL")
	q = matching(q, "u.role", f.Role)
	q = containing(q, f.Search, "u.name", "u.email", "u.phone")

	return listed[models.User](ctx, q, f.Page, staffOrder)
}

// RemoveUser deletes an account softly and ends all its sessions: no refresh token of it works any more. Its email is
// free again. Error: NOT_FOUND, also the second time.
func (s *Store) RemoveUser(ctx context.Context, id uuid.UUID, by Actor) error {
	return s.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u, err := endSessions(ctx, tx, id, "deleted_at = now()")
		if err != nil {
			return err
		}

		return audit(ctx, tx, by, "USER_REMOVED", "user", &id, map[string]any{"role": u.Role, "provider_id": u.ProviderID})
	})
}

// ChangePassword replaces the hash of an account's password and ends all its sessions. Error: NOT_FOUND.
func (s *Store) ChangePassword(ctx context.Context, id uuid.UUID, hash string) error {
	if hash == "" {
		return errors.New("a password hash must not be empty")
	}

	return s.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := endSessions(ctx, tx, id, "password_hash = ?", hash); err != nil {
			return err
		}

		return audit(ctx, tx, Actor{}, "PASSWORD_CHANGED", "user", &id, nil)
	})
}

// endSessions changes a live account and revokes its refresh tokens. The update comes first: its row lock is the one
// under which tokens are rotated, so that no rotation slips a new one in.
func endSessions(ctx context.Context, tx bun.Tx, id uuid.UUID, set string, args ...any) (models.User, error) {
	var u models.User

	err := tx.NewUpdate().Model(&u).Set(set, args...).Set("updated_at = now()").
		Where("id = ?", id).Where("deleted_at IS NULL").Returning("*").Scan(ctx)
	if err != nil {
		return u, found(err)
	}

	_, err = tx.NewUpdate().Model((*models.RefreshToken)(nil)).
		Set("revoked_at = now()").Where("user_id = ?", id).Where("revoked_at IS NULL").Exec(ctx)
	if err != nil {
		return u, fmt.Errorf("revoke refresh tokens: %w", err)
	}

	return u, nil
}
