package db

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// SecondPerson refuses a person who is no second one beside the first: either has made, invited, promoted, unlocked or reset the other's
// account within 30 days, or the booking is of the second one's address or phone, in any spelling (rules: people.second). first is nil
// where the service acted by itself, booking where there is none. Error: FORBIDDEN.
func SecondPerson(ctx context.Context, tx bun.Tx, first *uuid.UUID, second uuid.UUID, booking *uuid.UUID) error {
	var why sql.NullString

	if err := tx.NewRaw("SELECT second_person_refused(?, ?, ?)", first, second, booking).Scan(ctx, &why); err != nil {
		return fmt.Errorf("compare two people: %w", err)
	}

	switch {
	case !why.Valid:
		return nil
	case why.String == "CONTACT":
		return models.NewError(models.CodeForbidden,
			"access.same_person")
	default:
		return models.NewError(models.CodeForbidden, "access.linked_person")
	}
}

// IsGone reports whether an account is locked by an administrator, or removed. It stays as it is until the transaction ends. No account is
// not gone.
func IsGone(ctx context.Context, tx bun.Tx, account *uuid.UUID) (gone bool, err error) {
	if account == nil {
		return false, nil
	}

	err = tx.NewRaw("SELECT locked_at IS NOT NULL OR deleted_at IS NOT NULL FROM users WHERE id = ? FOR SHARE", *account).Scan(ctx, &gone)
	if err != nil {
		return false, fmt.Errorf("read the requester: %w", err)
	}

	return gone, nil
}
