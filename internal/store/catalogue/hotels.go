package catalogue

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// HotelFilter narrows a list of hotels; zero fields do not.
type HotelFilter struct {
	ProviderID uuid.UUID
	Status     string
	City       string // the whole name, in any case
	Stars      int
	Search     string // part of name or city
	Page       db.Page
}

var hotelOrder = db.Order{
	Columns: map[string]string{
		"name": "h.name", "city": "h.city", "stars": "h.stars", "created_at": "h.created_at",
	},
	ID:       "h.id",
	Fallback: db.Sort{Field: "created_at"},
}

var hotelKind = resourceKind[models.Hotel]{
	entity: models.EntityHotel,
	noted:  resourceActions{models.AuditHotelCreated, models.AuditHotelUpdated, models.AuditHotelDeleted},
	ids:    func(h *models.Hotel) (id, provider *uuid.UUID) { return &h.ID, &h.ProviderID },
	used:   func(q *bun.SelectQuery, hotel uuid.UUID) *bun.SelectQuery { return q.Where("t.hotel_id = ?", hotel) },
}

func (f HotelFilter) apply(q *bun.SelectQuery) *bun.SelectQuery {
	q = db.WhereEqual(q, "h.provider_id", f.ProviderID)
	q = db.WhereEqual(q, "h.status", f.Status)
	q = whereName(q, "h.city", f.City)
	q = db.WhereEqual(q, "h.stars", f.Stars)

	return db.WhereContains(q, f.Search, "h.name", "h.city")
}

// ListHotels lists the hotels that the actor sees, oldest first. Errors: VALIDATION_ERROR on sort, FORBIDDEN.
func (s *Store) ListHotels(ctx context.Context, by db.Actor, f HotelFilter) (db.Listed[models.Hotel], error) {
	return listResources[models.Hotel](ctx, s, by, f.ProviderID, f.Page, hotelOrder, f.apply)
}

// GetHotel finds a hotel that the actor sees. Errors: NOT_FOUND, FORBIDDEN.
func (s *Store) GetHotel(ctx context.Context, by db.Actor, id uuid.UUID) (models.Hotel, error) {
	return getResource[models.Hotel](ctx, s, by, id)
}

// CreateHotel adds a hotel; ProviderID is read for admins only, who must give it. Errors: FORBIDDEN, VALIDATION_ERROR
// on provider_id, NOT_FOUND (no such provider).
func (s *Store) CreateHotel(ctx context.Context, by db.Actor, h models.Hotel) (models.Hotel, error) {
	return createResource(ctx, s, hotelKind, by, h, nil, nil)
}

// UpdateHotel changes a hotel under its row lock; apply gets it as it is, may run more than once, and its error is
// returned. Affected are the trips that use a hotel which is taken out of use. Errors: NOT_FOUND, FORBIDDEN.
func (s *Store) UpdateHotel(
	ctx context.Context, by db.Actor, id uuid.UUID, apply func(*models.Hotel) error, now time.Time,
) (models.Hotel, error) {
	var was string

	noting := func(h *models.Hotel) error {
		was = h.Status

		return apply(h)
	}

	return updateResource(ctx, s, hotelKind, by, id, noting, nil, func(ctx context.Context, tx bun.Tx, h *models.Hotel) (err error) {
		h.Affected, err = hotelKind.outOfUse(ctx, tx, h.ID, was, h.Status, now)

		return err
	})
}

// DeleteHotel deletes a hotel softly. Errors: NOT_FOUND, also the second time; RESOURCE_IN_USE when a published trip
// that is still to depart uses it; FORBIDDEN.
func (s *Store) DeleteHotel(ctx context.Context, by db.Actor, id uuid.UUID, now time.Time) error {
	return deleteResource(ctx, s, hotelKind, by, id, nil, now)
}
