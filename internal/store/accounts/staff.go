package accounts

import (
	"context"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/catalogue"
	"rihla/internal/store/db"
	"rihla/models"
)

// StaffFilter narrows the list of a provider's staff; zero fields do not.
type StaffFilter struct {
	Role   models.Role
	Search string // part of name, email or phone
	Page   db.Page
}

var staffOrder = db.Order{
	Columns:  map[string]string{"name": "u.name", "created_at": "u.created_at"},
	ID:       "u.id",
	Fallback: db.Sort{Field: "created_at"},
}

// CreateStaff adds an account of a provider: Name, Email, PasswordHash, Role and ProviderID are required. Errors:
// NOT_FOUND (no such provider), VALIDATION_ERROR on role unless it is PROVIDER_ADMIN or PROVIDER_STAFF,
// EMAIL_ALREADY_EXISTS.
func (s *Store) CreateStaff(ctx context.Context, by db.Actor, u models.User) (models.User, error) {
	if !u.Role.IsProvider() {
		return models.User{}, models.Invalid("role", "field.one_of",
			"values", []string{string(models.RoleProviderAdmin), string(models.RoleProviderStaff)})
	}

	if u.ProviderID == nil {
		return models.User{}, models.NotFound()
	}

	var out models.User

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if err = catalogue.ProviderExists(ctx, tx, *u.ProviderID); err != nil {
			return err
		}

		if out, err = insertMade(ctx, tx, by, u); err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditStaffCreated, models.EntityUser, &out.ID,
			accountDetails(&out, nil, accountState(&out)))
	})
	if err != nil {
		return models.User{}, err
	}

	return out, nil
}

// ListStaff lists a provider's accounts, oldest first. Errors: NOT_FOUND (no such provider), VALIDATION_ERROR on sort.
func (s *Store) ListStaff(ctx context.Context, provider uuid.UUID, f StaffFilter) (db.Listed[models.User], error) {
	q := s.db.NewSelect().Where("u.provider_id = ?", provider).Where("u.deleted_at IS NULL")
	q = db.WhereEqual(q, "u.role", f.Role)
	q = db.WhereFound(q, "users", "u.id", f.Search)

	// Faults of the request are reported before what does not exist (rules: scope.hidden).
	accounts, err := db.List[models.User](ctx, q, f.Page, staffOrder)
	if err != nil {
		return accounts, err
	}

	return accounts, catalogue.ProviderExists(ctx, s.db, provider)
}

// RemoveStaff is RemoveUser for an account of the provider. Error: NOT_FOUND, also for an account of another company.
func (s *Store) RemoveStaff(ctx context.Context, by db.Actor, provider uuid.UUID, id uuid.UUID) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		u, err := endSessions(ctx, tx, id, func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("deleted_at = now()").Where("provider_id = ?", provider)
		})
		if err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditStaffRemoved, models.EntityUser, &id, accountDetails(&u, accountState(&u), nil))
	})
}
