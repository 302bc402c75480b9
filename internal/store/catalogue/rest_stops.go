package catalogue

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// RestStopFilter narrows a list of rest stops; zero fields do not.
type RestStopFilter struct {
	ProviderID uuid.UUID
	Status     string
	City       string // the whole name, in any case
	Search     string // part of name or city
	Page       db.Page
}

var restStopOrder = db.Order{
	Columns:  map[string]string{"name": "rs.name", "city": "rs.city", "created_at": "rs.created_at"},
	ID:       "rs.id",
	Fallback: db.Sort{Field: "created_at"},
}

var restStopKind = resourceKind[models.RestStop]{
	entity: models.EntityRestStop,
	noted:  resourceActions{models.AuditRestStopCreated, models.AuditRestStopUpdated, models.AuditRestStopDeleted},
	ids:    func(r *models.RestStop) (id, provider *uuid.UUID) { return &r.ID, &r.ProviderID },
	tidy: func(r *models.RestStop) {
		if r.Amenities == nil {
			r.Amenities = []string{}
		}
	},
	used: func(q *bun.SelectQuery, stop uuid.UUID) *bun.SelectQuery {
		return q.Join("JOIN trip_rest_stops AS ts ON ts.trip_id = t.id").Where("ts.rest_stop_id = ?", stop)
	},
}

func (f RestStopFilter) apply(q *bun.SelectQuery) *bun.SelectQuery {
	q = db.WhereEqual(q, "rs.provider_id", f.ProviderID)
	q = db.WhereEqual(q, "rs.status", f.Status)
	q = whereName(q, "rs.city", f.City)

	return db.WhereContains(q, f.Search, "rs.name", "rs.city")
}

// ListRestStops lists the rest stops that the actor sees, oldest first. Errors: VALIDATION_ERROR on sort, FORBIDDEN.
func (s *Store) ListRestStops(ctx context.Context, by db.Actor, f RestStopFilter) (db.Listed[models.RestStop], error) {
	return listResources[models.RestStop](ctx, s, by, f.ProviderID, f.Page, restStopOrder, f.apply)
}

// GetRestStop finds a rest stop that the actor sees. Errors: NOT_FOUND, FORBIDDEN.
func (s *Store) GetRestStop(ctx context.Context, by db.Actor, id uuid.UUID) (models.RestStop, error) {
	return getResource[models.RestStop](ctx, s, by, id)
}

// CreateRestStop adds a rest stop; ProviderID is read for admins only, who must give it. Errors: FORBIDDEN,
// VALIDATION_ERROR on provider_id, NOT_FOUND (no such provider).
func (s *Store) CreateRestStop(ctx context.Context, by db.Actor, r models.RestStop) (models.RestStop, error) {
	return createResource(ctx, s, restStopKind, by, r, nil, nil)
}

// UpdateRestStop changes a rest stop under its row lock; apply gets it as it is, may run more than once, and its error
// is returned. Affected are the trips that use a rest stop which is taken out of use. Errors: NOT_FOUND, FORBIDDEN.
func (s *Store) UpdateRestStop(
	ctx context.Context, by db.Actor, id uuid.UUID, apply func(*models.RestStop) error, now time.Time,
) (models.RestStop, error) {
	var was string

	noting := func(r *models.RestStop) error {
		was = r.Status

		return apply(r)
	}

	return updateResource(ctx, s, restStopKind, by, id, noting, nil, func(ctx context.Context, tx bun.Tx, r *models.RestStop) (err error) {
		r.Affected, err = restStopKind.outOfUse(ctx, tx, r.ID, was, r.Status, now)

		return err
	})
}

// DeleteRestStop deletes a rest stop softly. Errors: NOT_FOUND, also the second time; RESOURCE_IN_USE when a published
// trip that is still to depart uses it; FORBIDDEN.
func (s *Store) DeleteRestStop(ctx context.Context, by db.Actor, id uuid.UUID, now time.Time) error {
	return deleteResource(ctx, s, restStopKind, by, id, nil, now)
}
