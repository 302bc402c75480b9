package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// CreateUser adds a user. The id and the locale may be left out; the email is kept as written, without the spaces
// around it, and compared without regard to case. Error: EMAIL_ALREADY_EXISTS.
func (s *Store) CreateUser(ctx context.Context, u models.User) (models.User, error) {
	return insertUser(ctx, s.db, u)
}

func insertUser(ctx context.Context, db bun.IDB, u models.User) (models.User, error) {
	u.Email = strings.TrimSpace(u.Email)
	if u.ID == uuid.Nil {
		u.ID = models.NewID()
	}

	if u.Locale == "" {
		u.Locale = models.LocaleArabic
	}

	_, err := db.NewInsert().Model(&u).Returning("*").Exec(ctx)
	if violates(err, "users_email_live") {
		return models.User{}, models.Errorf(models.CodeEmailAlreadyExists, "An account with this email exists already.")
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
		Where("lower(u.email) = lower(?)", strings.TrimSpace(email)).Where("u.deleted_at IS NULL").Scan(ctx)

	return u, found(err)
}

// UserByID finds a live user. Error: NOT_FOUND.
func (s *Store) UserByID(ctx context.Context, id uuid.UUID) (models.User, error) {
	var u models.User

	err := s.db.NewSelect().Model(&u).Where("u.id = ?", id).Where("u.deleted_at IS NULL").Scan(ctx)

	return u, found(err)
}

// CreateProvider adds a company. The id and the status may be left out; it starts ACTIVE. The commission rate is
// taken as it is, for 0 is a rate: the default is Policies.Commission.
func (s *Store) CreateProvider(ctx context.Context, p models.Provider) (models.Provider, error) {
	return insertProvider(ctx, s.db, p)
}

func insertProvider(ctx context.Context, db bun.IDB, p models.Provider) (models.Provider, error) {
	if p.ID == uuid.Nil {
		p.ID = models.NewID()
	}

	if p.Status == "" {
		p.Status = models.StatusActive
	}

	if _, err := db.NewInsert().Model(&p).Returning("*").Exec(ctx); err != nil {
		return models.Provider{}, fmt.Errorf("insert provider: %w", err)
	}

	return p, nil
}

// ProviderByID finds a company, ACTIVE or not. Error: NOT_FOUND.
func (s *Store) ProviderByID(ctx context.Context, id uuid.UUID) (models.Provider, error) {
	var p models.Provider

	err := s.db.NewSelect().Model(&p).Where("p.id = ?", id).Scan(ctx)

	return p, found(err)
}

// HasUsersOutside reports whether there are users whose e-mail address is not in the domain.
func (s *Store) HasUsersOutside(ctx context.Context, domain string) (bool, error) {
	return s.db.NewSelect().Model((*models.User)(nil)).
		Where("email NOT ILIKE ?", "%@"+likeEscaper.Replace(domain)).Where("role <> ?", models.RoleEndUser).Exists(ctx)
}
