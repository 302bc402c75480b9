package accounts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/catalogue"
	"rihla/internal/store/db"
	"rihla/models"
)

// InviteColleague makes an account of the actor's company without a password and queues the mail by which its owner sets one. Errors:
// FORBIDDEN unless the actor is an administrator of an ACTIVE company; VALIDATION_ERROR on role; EMAIL_ALREADY_EXISTS.
func (s *Store) InviteColleague(ctx context.Context, by db.Actor, u models.User) (models.User, error) {
	if !u.Role.IsProvider() {
		return models.User{}, models.Invalid("role", "field.one_of",
			"values", []string{string(models.RoleProviderAdmin), string(models.RoleProviderStaff)})
	}

	var out models.User

	err := s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if _, err := administrators(ctx, tx, by); err != nil {
			return err
		}

		// No password is this one's.
		u.PasswordHash, u.Email, u.ProviderID = "", strings.TrimSpace(u.Email), &by.ProviderID

		err := makeRoom(ctx, tx, by, &u)
		if err != nil {
			return err
		}

		if out, err = insertUser(ctx, tx, u); err != nil {
			return err
		}

		if _, err = queueLink(ctx, tx, &out, models.TokenInvitation); err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditStaffCreated, models.EntityUser, &out.ID, accountDetails(&out, nil, accountState(&out)))
	})

	return out, err
}

// RemoveColleague is RemoveStaff by an administrator of the company. Errors: FORBIDDEN; NOT_FOUND, also for an account of another company;
// INVALID_STATE for the last administrator who can log in.
func (s *Store) RemoveColleague(ctx context.Context, by db.Actor, id uuid.UUID) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		admins, err := administrators(ctx, tx, by)
		if err != nil {
			return err
		}

		others := slices.ContainsFunc(admins, func(u models.User) bool { return u.ID != id && u.State() == models.AccountActive })
		if !others && slices.ContainsFunc(admins, func(u models.User) bool { return u.ID == id }) {
			return models.NewError(models.CodeInvalidState, "provider.last_admin")
		}

		u, err := endSessions(ctx, tx, id, func(q *bun.UpdateQuery) *bun.UpdateQuery {
			return q.Set("deleted_at = now()").Where("provider_id = ?", by.ProviderID)
		})
		if err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditStaffRemoved, models.EntityUser, &id, accountDetails(&u, accountState(&u), nil))
	})
}

// administrators locks the administrators of the actor's company, so that of two that remove each other one stays. Error: FORBIDDEN when
// the actor is none of them, or the company is not ACTIVE.
func administrators(ctx context.Context, tx bun.Tx, by db.Actor) ([]models.User, error) {
	if err := catalogue.Writable(ctx, tx, by); err != nil {
		return nil, err
	}

	var admins []models.User

	err := tx.NewSelect().Model(&admins).Where("u.provider_id = ?", by.ProviderID).Where("u.role = ?", models.RoleProviderAdmin).
		Where("u.deleted_at IS NULL").Order("u.id").For("NO KEY UPDATE").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock administrators: %w", err)
	}

	if !slices.ContainsFunc(admins, func(u models.User) bool { return u.ID == by.UserID && u.LockedAt == nil }) {
		return nil, models.NewError(models.CodeForbidden, "access.role")
	}

	return admins, nil
}
