package catalogue

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// BusFilter narrows a list of buses; zero fields do not.
type BusFilter struct {
	ProviderID uuid.UUID
	Status     string
	Search     string // part of plate number, model or driver's name
	Page       db.Page
}

var busOrder = db.Order{
	Columns: map[string]string{
		"plate_number": "b.plate_number", "model": "b.model", "status": "b.status", "created_at": "b.created_at",
	},
	ID:       "b.id",
	Fallback: db.Sort{Field: "created_at"},
}

var busKind = resourceKind[models.Bus]{
	entity: models.EntityBus,
	noted:  resourceActions{models.AuditBusCreated, models.AuditBusUpdated, models.AuditBusDeleted},
	ids:    func(b *models.Bus) (id, provider *uuid.UUID) { return &b.ID, &b.ProviderID },
	tidy: func(b *models.Bus) {
		b.PlateNumber = strings.TrimSpace(b.PlateNumber)
		if b.Features == nil {
			b.Features = []string{}
		}
	},
	refuse: func(err error) error {
		if db.Violates(err, "buses_plate_live") {
			return models.NewError(models.CodeBusPlateAlreadyExists, "bus.plate_exists")
		}

		return nil
	},
	used: func(q *bun.SelectQuery, bus uuid.UUID) *bun.SelectQuery { return q.Where("t.bus_id = ?", bus) },
}

func (f BusFilter) apply(q *bun.SelectQuery) *bun.SelectQuery {
	q = db.WhereEqual(q, "b.provider_id", f.ProviderID)
	q = db.WhereEqual(q, "b.status", f.Status)

	return db.WhereFound(q, "buses", "b.id", f.Search)
}

// ListBuses lists the buses that the actor sees, oldest first. Errors: VALIDATION_ERROR on sort, FORBIDDEN.
func (s *Store) ListBuses(ctx context.Context, by db.Actor, f BusFilter) (db.Listed[models.Bus], error) {
	return listResources[models.Bus](ctx, s, by, f.ProviderID, f.Page, busOrder, f.apply)
}

// GetBus finds a bus that the actor sees. Errors: NOT_FOUND, FORBIDDEN.
func (s *Store) GetBus(ctx context.Context, by db.Actor, id uuid.UUID) (models.Bus, error) {
	return getResource[models.Bus](ctx, s, by, id)
}

// CreateBus adds a bus, with its photos if it has any; ProviderID is read for admins only, who must give it. Errors:
// BUS_PLATE_ALREADY_EXISTS, FORBIDDEN, VALIDATION_ERROR on provider_id or photos, NOT_FOUND (no such provider).
func (s *Store) CreateBus(ctx context.Context, by db.Actor, b models.Bus, photos ...models.BusPhoto) (models.Bus, error) {
	return createResource(ctx, s, busKind, by, b, nil, func(ctx context.Context, tx bun.Tx, b *models.Bus) error {
		_, err := s.addPhotos(ctx, tx, b, photos)

		return err
	})
}

// UpdateBus changes a bus under its row lock; apply gets it as it is, may run more than once, and its error is
// returned. Errors: NOT_FOUND, BUS_PLATE_ALREADY_EXISTS, FORBIDDEN, VALIDATION_ERROR on capacity when a published trip
// that is still to depart offers more seats than that. Affected are the trips that use a bus which is taken out of use.
func (s *Store) UpdateBus(
	ctx context.Context, by db.Actor, id uuid.UUID, apply func(*models.Bus) error, now time.Time,
) (models.Bus, error) {
	var was string

	noting := func(b *models.Bus) error {
		was = b.Status

		return apply(b)
	}

	return updateResource(ctx, s, busKind, by, id, noting, func(ctx context.Context, tx bun.Tx, b *models.Bus) error {
		tooSmall, err := upcoming(tx, now).Where("t.bus_id = ?", b.ID).Where("t.capacity > ?", b.Capacity).Exists(ctx)
		if err != nil {
			return fmt.Errorf("look for trips: %w", err)
		}

		if tooSmall {
			return models.Invalid("capacity", "bus.capacity")
		}

		return nil
	}, func(ctx context.Context, tx bun.Tx, b *models.Bus) (err error) {
		b.Affected, err = busKind.outOfUse(ctx, tx, b.ID, was, b.Status, now)

		return err
	})
}

// DeleteBus deletes a bus softly, which frees its plate number. Errors: NOT_FOUND, also the second time;
// RESOURCE_IN_USE when a published trip that is still to depart uses it; FORBIDDEN.
func (s *Store) DeleteBus(ctx context.Context, by db.Actor, id uuid.UUID, now time.Time) error {
	return deleteResource(ctx, s, busKind, by, id, nil, now)
}
