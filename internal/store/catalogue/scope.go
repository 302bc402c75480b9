package catalogue

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

// scope is whose resources a caller sees. The zero value sees no company's, so that one which nothing was put into shows
// nothing.
type scope struct {
	all      bool
	provider uuid.UUID
}

// platformScope is the scope of the platform itself: the catalogue.
var platformScope = scope{all: true}

// scopeOf is what the actor sees of provider resources: their own company's for provider roles, whatever they ask for;
// that of the company they name, or all, for ADMIN and SUPER_ADMIN (rules: scope.admins). Error: FORBIDDEN for everybody else.
func scopeOf(by db.Actor, asked uuid.UUID) (scope, error) {
	if !by.Role.IsProvider() && !by.Role.IsAdmin() {
		return scope{}, models.NewError(models.CodeForbidden, "access.provider_resources")
	}

	provider, err := by.ProviderScope(asked)

	return scope{all: err == nil && provider == uuid.Nil, provider: provider}, err
}

// live is where every query for a resource starts: rows in the scope that are not deleted. No other code of the store
// may ask for resources that a caller has named.
func (sc scope) live(q *bun.SelectQuery) *bun.SelectQuery {
	q = q.Where("?TableAlias.deleted_at IS NULL")
	if sc.all {
		return q
	}

	return q.Where("?TableAlias.provider_id = ?", sc.provider)
}

// MayWrite reports whether the actor may change provider resources now, for work that has to be done before the store
// is asked to, such as taking an upload. Error: FORBIDDEN, also for staff of an INACTIVE provider (rules: companies.inactive).
func (s *Store) MayWrite(ctx context.Context, by db.Actor) error {
	_, err := writable(ctx, s.db, by)

	return err
}

// Writable is MayWrite within the caller's transaction: until it ends the provider's status stays.
func Writable(ctx context.Context, tx bun.Tx, by db.Actor) error {
	_, err := writable(ctx, tx, by)

	return err
}

// writable is the one gate before every change to provider resources. It returns the scope in which the actor may
// change them, and keeps the provider's status from changing until the transaction ends. Error: FORBIDDEN.
func writable(ctx context.Context, db bun.IDB, by db.Actor) (scope, error) {
	sc, err := scopeOf(by, uuid.Nil)
	if err != nil || sc.all {
		return sc, err
	}

	var status string

	err = db.NewSelect().Model((*models.Provider)(nil)).Column("status").
		Where("id = ?", sc.provider).For("SHARE").Scan(ctx, &status)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return scope{}, fmt.Errorf("read provider status: %w", err)
	}

	if status != models.StatusActive {
		return scope{}, models.NewError(models.CodeForbidden, "access.provider_inactive")
	}

	return sc, nil
}

// write runs a change to provider resources in one SQL transaction, behind the gate. do may run more than once.
func (s *Store) write(ctx context.Context, by db.Actor, do func(ctx context.Context, tx bun.Tx, sc scope) error) error {
	return s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		sc, err := writable(ctx, tx, by)
		if err != nil {
			return err
		}

		return do(ctx, tx, sc)
	})
}

// ownerOfNew is the provider that a new resource belongs to. Errors: VALIDATION_ERROR on provider_id when an admin
// names none, NOT_FOUND when there is no such provider, FORBIDDEN.
func ownerOfNew(ctx context.Context, tx bun.Tx, by db.Actor, named uuid.UUID) (uuid.UUID, error) {
	provider, err := by.ProviderForNew(named)
	if err != nil {
		return uuid.Nil, err
	}

	return provider, ProviderExists(ctx, tx, provider)
}

// ProviderExists is NOT_FOUND when there is no such provider.
func ProviderExists(ctx context.Context, db bun.IDB, id uuid.UUID) error {
	exists, err := db.NewSelect().Model((*models.Provider)(nil)).Where("id = ?", id).Exists(ctx)
	if err != nil {
		return fmt.Errorf("look for provider: %w", err)
	}

	if !exists {
		return models.NotFound()
	}

	return nil
}
