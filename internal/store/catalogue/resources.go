package catalogue

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// resource is a row that belongs to a provider and is deleted by its deleted_at.
type resource interface {
	models.Bus | models.Hotel | models.RestStop | models.Trip | models.AdCampaign
}

// resourceKind is what the functions below have to know of a resource.
type resourceKind[T resource] struct {
	entity models.AuditEntity                                 // its name in the audit log
	noted  resourceActions                                    // what is done to it, there
	ids    func(*T) (id, provider *uuid.UUID)                 // where a row has them
	keep   []string                                           // columns that no update writes, besides the identity
	tidy   func(*T)                                           // brings a row that a caller made into its stored form; may be nil
	refuse func(err error) error                              // turns a violated constraint into the domain's error; may be nil
	state  func(*T) map[string]any                            // what the audit log says of a row; nil: nothing
	used   func(*bun.SelectQuery, uuid.UUID) *bun.SelectQuery // narrows trips to those that use the resource
}

// resourceActions are what the audit log calls the changes of a resource.
type resourceActions struct{ created, updated, deleted models.AuditAction }

// resourceStep is a part of a unit of work that only one kind of resource has; nil is none.
type resourceStep[T resource] func(ctx context.Context, tx bun.Tx, row *T) error

func (do resourceStep[T]) run(ctx context.Context, tx bun.Tx, row *T) error {
	if do == nil {
		return nil
	}

	return do(ctx, tx, row)
}

// listResources reads a page of what the actor sees of a resource, of one provider when one is asked for.
func listResources[T resource](
	ctx context.Context, s *Store, by db.Actor, asked uuid.UUID, p db.Page, o db.Order, narrow func(*bun.SelectQuery) *bun.SelectQuery,
) (db.Listed[T], error) {
	sc, err := scopeOf(by, asked)
	if err != nil {
		return db.Listed[T]{Items: []T{}}, err
	}

	return db.List[T](ctx, narrow(sc.live(s.db.NewSelect())), p, o)
}

// getResource reads one resource that the actor sees. Errors: NOT_FOUND, FORBIDDEN.
func getResource[T resource](ctx context.Context, s *Store, by db.Actor, id uuid.UUID) (T, error) {
	sc, err := scopeOf(by, uuid.Nil)
	if err != nil {
		var none T

		return none, err
	}

	return loadResource[T](ctx, s.db, sc, id, "")
}

// loadResource reads a live row in the scope, under a lock unless that is empty. Error: NOT_FOUND.
func loadResource[T resource](ctx context.Context, conn bun.IDB, sc scope, id uuid.UUID, lock string) (T, error) {
	var out T

	q := sc.live(conn.NewSelect().Model(&out)).Where("?TableAlias.id = ?", id)
	if lock != "" {
		q = q.For(lock)
	}

	return out, db.NotFound(q.Scan(ctx))
}

// createResource writes a new resource in the name of the actor, who must be allowed to. before and after are its own parts of
// the unit of work: before, the row has its id and its provider.
func createResource[T resource](
	ctx context.Context, s *Store, k resourceKind[T], by db.Actor, asked T, before, after resourceStep[T],
) (T, error) {
	var out T

	err := s.write(ctx, by, func(ctx context.Context, tx bun.Tx, _ scope) error {
		out = asked
		id, provider := k.ids(&out)

		owner, err := ownerOfNew(ctx, tx, by, *provider)
		if err != nil {
			return err
		}

		*provider = owner
		if *id == uuid.Nil {
			*id = models.NewID()
		}

		if k.tidy != nil {
			k.tidy(&out)
		}

		if err := before.run(ctx, tx, &out); err != nil {
			return err
		}

		_, err = tx.NewInsert().Model(&out).ExcludeColumn("created_at", "updated_at", "deleted_at").Returning("?Columns").Exec(ctx)
		if err != nil {
			return k.refusal(err, "insert")
		}

		if err := after.run(ctx, tx, &out); err != nil {
			return err
		}

		return k.note(ctx, tx, by, k.noted.created, *id, nil, k.stateOf(&out))
	})
	if err != nil {
		var none T

		return none, err
	}

	return out, nil
}

// updateResource changes a resource under its row lock: apply gets the row as it is, or the error that it returns is the
// result. What identifies the row stays as it was, whatever apply does. apply may run more than once.
func updateResource[T resource](
	ctx context.Context, s *Store, k resourceKind[T], by db.Actor, id uuid.UUID, apply func(*T) error, before, after resourceStep[T],
) (T, error) {
	var out T

	err := s.write(ctx, by, func(ctx context.Context, tx bun.Tx, sc scope) (err error) {
		if out, err = loadResource[T](ctx, tx, sc, id, "NO KEY UPDATE"); err != nil {
			return err
		}

		return k.change(ctx, tx, by, &out, apply, before, after)
	})
	if err != nil {
		var none T

		return none, err
	}

	return out, nil
}

// change is updateResource of a row that the caller has locked.
func (k resourceKind[T]) change(
	ctx context.Context, tx bun.Tx, by db.Actor, out *T, apply func(*T) error, before, after resourceStep[T],
) error {
	id, provider := k.ids(out)
	itsID, itsProvider := *id, *provider
	was := k.stateOf(out)

	if err := apply(out); err != nil {
		return err
	}

	*id, *provider = itsID, itsProvider

	if k.tidy != nil {
		k.tidy(out)
	}

	if err := before.run(ctx, tx, out); err != nil {
		return err
	}

	fixed := append([]string{"id", "provider_id", "created_at", "updated_at", "deleted_at"}, k.keep...)

	_, err := tx.NewUpdate().Model(out).ExcludeColumn(fixed...).Set("updated_at = now()").
		Where("id = ?", itsID).Returning("?Columns").Exec(ctx)
	if err != nil {
		return k.refusal(err, "update")
	}

	if err := after.run(ctx, tx, out); err != nil {
		return err
	}

	from, to := changedFields(was, k.stateOf(out))

	return k.note(ctx, tx, by, k.noted.updated, itsID, from, to)
}

// deleteResource deletes a resource softly, under its row lock, unless a published trip that has not departed uses it. Trips
// lock what they use FOR SHARE before they name it: either the trip is seen here, or the deletion is seen there.
func deleteResource[T resource](
	ctx context.Context, s *Store, k resourceKind[T], by db.Actor, id uuid.UUID, before resourceStep[T], now time.Time,
) error {
	return s.write(ctx, by, func(ctx context.Context, tx bun.Tx, sc scope) error {
		out, err := loadResource[T](ctx, tx, sc, id, "NO KEY UPDATE")
		if err != nil {
			return err
		}

		if err := before.run(ctx, tx, &out); err != nil {
			return err
		}

		if k.used != nil {
			used, err := k.used(upcoming(tx, now), id).Exists(ctx)
			if err != nil {
				return fmt.Errorf("look for trips: %w", err)
			}

			if used {
				return models.NewError(models.CodeResourceInUse, "trip.in_use")
			}
		}

		_, err = tx.NewUpdate().Model((*T)(nil)).Set("deleted_at = now()").Set("updated_at = now()").
			Where("id = ?", id).Exec(ctx)
		if err != nil {
			return fmt.Errorf("delete %s: %w", k.entity, err)
		}

		return k.note(ctx, tx, by, k.noted.deleted, id, k.stateOf(&out), nil)
	})
}

// maxAffected bounds the trips that are named when a resource is taken out of use.
const maxAffected = 50

// outOfUse says which published trips, still to leave, use a resource whose row the caller has locked and written: nil unless its
// status has changed, to another one than ACTIVE. Publishing locks what a trip uses FOR SHARE: either the trip is seen here, or the
// new status is seen there (rules: companies.in-order).
func (k resourceKind[T]) outOfUse(
	ctx context.Context, tx bun.Tx, id uuid.UUID, was, is string, now time.Time,
) (*models.Affected, error) {
	if was == is || is == models.StatusActive {
		return nil, nil //nolint:nilnil // nothing is affected
	}

	out := &models.Affected{Trips: []models.Trip{}}

	n, err := k.used(upcoming(tx, now), id).Model(&out.Trips).Column("t.id", "t.title", "t.departure_at").
		Order("t.departure_at", "t.id").Limit(maxAffected).ScanAndCount(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for trips: %w", err)
	}

	out.Total = n

	return out, nil
}

// upcoming selects the published trips that are still to depart.
func upcoming(db bun.IDB, now time.Time) *bun.SelectQuery {
	return platformScope.live(db.NewSelect().Model((*models.Trip)(nil))).
		Where("t.status = ?", models.TripPublished).Where("t.departure_at > ?", now)
}

// note writes the audit entry of a change. before and after are what it has changed, of kinds that say so; nil where there is
// nothing.
func (k resourceKind[T]) note(
	ctx context.Context, tx bun.Tx, by db.Actor, action models.AuditAction, id uuid.UUID, before, after map[string]any,
) error {
	var details any
	if k.state != nil {
		details = map[string]any{"before": before, "after": after}
	}

	return db.Audit(ctx, tx, by, action, k.entity, &id, details)
}

// stateOf is what the audit log says of a row; nil for kinds that say nothing.
func (k resourceKind[T]) stateOf(row *T) map[string]any {
	if k.state == nil {
		return nil
	}

	return k.state(row)
}

// changedFields are the parts of two states of one row that differ. Values are compared as they are written down.
func changedFields(was, is map[string]any) (before, after map[string]any) {
	before, after = map[string]any{}, map[string]any{}

	for name, value := range is {
		if fmt.Sprint(was[name]) != fmt.Sprint(value) {
			before[name], after[name] = was[name], value
		}
	}

	return before, after
}

func (k resourceKind[T]) refusal(err error, doing string) error {
	if k.refuse != nil {
		if refused := k.refuse(err); refused != nil {
			return refused
		}
	}

	return fmt.Errorf("%s %s: %w", doing, k.entity, err)
}
