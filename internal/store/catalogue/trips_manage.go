package catalogue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// ProviderTripFilter narrows a provider's list of trips; zero fields do not.
type ProviderTripFilter struct {
	TripFilter

	ProviderID uuid.UUID
	Status     models.TripStatus
}

var providerTripOrder = db.Order{
	Columns: map[string]string{
		"departure_at": "t.departure_at", "price_per_seat": "t.price_per_seat", "title": "t.title", "status": "t.status",
		"created_at": "t.created_at",
	},
	ID:       "t.id",
	Fallback: db.Sort{Field: "created_at"},
}

var tripKind = resourceKind[models.Trip]{
	entity: models.EntityTrip,
	noted:  resourceActions{models.AuditTripCreated, models.AuditTripUpdated, models.AuditTripDeleted},
	ids:    func(t *models.Trip) (id, provider *uuid.UUID) { return &t.ID, &t.ProviderID },
	keep:   []string{"status", "seats_taken"}, // actions move the one, bookings the other
	state: func(t *models.Trip) map[string]any {
		stops := make([]string, len(t.RestStopIDs))
		for i, stop := range t.RestStopIDs {
			stops[i] = stop.String()
		}

		return map[string]any{
			"type": string(t.Type), "title": t.Title, "origin": t.Origin, "destination": t.Destination,
			"departure_at": FormatTime(t.DepartureAt), "return_at": FormatTime(t.ReturnAt), "hotel_id": idOrEmpty(t.HotelID),
			"bus_id": t.BusID.String(), "rest_stop_ids": stops, "price_per_seat": t.PricePerSeat, "capacity": t.Capacity,
			"status": string(t.Status),
		}
	},
}

// FormatTime is a time as the audit log shows it: RFC 3339, UTC.
func FormatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// idOrEmpty is an id as the audit log shows it; empty for none.
func idOrEmpty(id *uuid.UUID) string {
	if id == nil {
		return ""
	}

	return id.String()
}

// ListProviderTrips lists the trips that the actor sees, in whatever status, oldest first. Errors: VALIDATION_ERROR on
// sort, FORBIDDEN.
func (s *Store) ListProviderTrips(ctx context.Context, by db.Actor, f ProviderTripFilter) (db.Listed[models.Trip], error) {
	page, err := listResources[models.Trip](ctx, s, by, f.ProviderID, f.Page, providerTripOrder,
		func(q *bun.SelectQuery) *bun.SelectQuery {
			q = db.WhereEqual(withProvider(q), "t.provider_id", f.ProviderID)

			return f.apply(db.WhereEqual(q, "t.status", f.Status))
		})
	if err != nil {
		return page, err
	}

	return page, loadManaged(ctx, s.db, page.Items)
}

// GetProviderTrip finds a trip that the actor sees, in whatever status. Errors: NOT_FOUND, FORBIDDEN.
func (s *Store) GetProviderTrip(ctx context.Context, by db.Actor, id uuid.UUID) (models.Trip, error) {
	sc, err := scopeOf(by, uuid.Nil)
	if err != nil {
		return models.Trip{}, err
	}

	return wholeTrip(ctx, s.db, sc, id)
}

// CreateTrip adds a DRAFT, of what may be out of use; ProviderID is read for admins only, who must give it. Errors:
// REFERENCE_NOT_OWNED with the fields whose bus, hotel or rest stop is not a live one of the provider, VALIDATION_ERROR (models.Trip.Check,
// rest_stop_ids, provider_id), FORBIDDEN, NOT_FOUND (no such provider).
func (s *Store) CreateTrip(ctx context.Context, by db.Actor, t models.Trip) (models.Trip, error) {
	t.Status, t.SeatsTaken = models.TripDraft, 0

	return createResource(ctx, s, tripKind, by, t, checkTrip, func(ctx context.Context, tx bun.Tx, t *models.Trip) (err error) {
		if err = saveStops(ctx, tx, t); err != nil {
			return err
		}

		*t, err = wholeTrip(ctx, tx, platformScope, t.ID)

		return err
	})
}

// PublishTrip offers a DRAFT to consumers. A trip that is PUBLISHED stays as it is. Errors: INVALID_STATE when it is
// CANCELLED or its departure has passed, NOT_FOUND, FORBIDDEN, those of CreateTrip, for what it refers to may have
// changed since, and VALIDATION_ERROR with the fields whose bus, hotel or rest stop is out of use.
func (s *Store) PublishTrip(ctx context.Context, by db.Actor, id uuid.UUID, now time.Time) (models.Trip, error) {
	return s.ChangeTrip(ctx, by, id, nil, func(ctx context.Context, tx bun.Tx, t *models.Trip) error {
		if t.Status == models.TripPublished {
			return nil
		}

		if t.Status != models.TripDraft {
			return models.NewError(models.CodeInvalidState, "trip.not_publishable", "status", t.Status)
		}

		if err := checkOffered(ctx, tx, t); err != nil {
			return err
		}

		if !t.DepartureAt.After(now) {
			return models.NewError(models.CodeInvalidState, "trip.departed")
		}

		res, err := tx.NewUpdate().Model((*models.Trip)(nil)).Set("status = ?", models.TripPublished).Set("updated_at = now()").
			Where("id = ?", id).Where("status = ?", models.TripDraft).Exec(ctx)
		if err != nil {
			return fmt.Errorf("publish trip: %w", err)
		}

		if err := db.AffectedOne(res, "trip"); err != nil {
			return err
		}

		return tripKind.note(ctx, tx, by, models.AuditTripPublished, id,
			map[string]any{"status": string(models.TripDraft)}, map[string]any{"status": string(models.TripPublished)})
	})
}

// DeleteTrip deletes a trip softly. Errors: NOT_FOUND, also the second time; INVALID_STATE while bookings hold seats on
// it, paid or waiting for their payment: they have to be cancelled or refunded first; FORBIDDEN.
func (s *Store) DeleteTrip(ctx context.Context, by db.Actor, id uuid.UUID, now time.Time) error {
	return deleteResource(ctx, s, tripKind, by, id, func(_ context.Context, _ bun.Tx, t *models.Trip) error {
		switch {
		case t.Status == models.TripCancelling:
			return models.NewError(models.CodeInvalidState, "trip_cancellation.fixed", "status", t.Status)
		case t.SeatsTaken > 0:
			return models.NewError(models.CodeInvalidState, "trip.seats_booked", "n", t.SeatsTaken)
		}

		return nil
	}, now)
}

// ChangeTrip runs a change of a trip under its row lock and returns what became of it. before gets the trip as it is before it is
// locked, for what has to be locked first.
func (s *Store) ChangeTrip(ctx context.Context, by db.Actor, id uuid.UUID, before, do resourceStep[models.Trip]) (models.Trip, error) {
	var t models.Trip

	err := s.write(ctx, by, func(ctx context.Context, tx bun.Tx, sc scope) error {
		if before != nil {
			seen, err := tripWithStops(ctx, tx, sc, id, "")
			if err != nil {
				return err
			}

			if err := before(ctx, tx, &seen); err != nil {
				return err
			}
		}

		locked, err := tripWithStops(ctx, tx, sc, id, "NO KEY UPDATE")
		if err != nil {
			return err
		}

		if err := do(ctx, tx, &locked); err != nil {
			return err
		}

		t, err = wholeTrip(ctx, tx, sc, id)

		return err
	})
	if err != nil {
		return models.Trip{}, err
	}

	return t, nil
}

// SaveTrip applies a change to a trip whose row the caller has locked, with the checks of CreateTrip and the audit entry; a PUBLISHED
// trip that is still to leave is held to those of PublishTrip. after runs in the same SQL transaction, when the trip and its rest stops
// have been written.
func SaveTrip(
	ctx context.Context, tx bun.Tx, by db.Actor, t *models.Trip,
	apply func(*models.Trip) error, after resourceStep[models.Trip], now time.Time,
) error {
	check := func(ctx context.Context, tx bun.Tx, t *models.Trip) error {
		if t.Runs(now) {
			return checkOffered(ctx, tx, t)
		}

		return checkTrip(ctx, tx, t)
	}

	return tripKind.change(ctx, tx, by, t, apply, check, func(ctx context.Context, tx bun.Tx, t *models.Trip) error {
		if err := saveStops(ctx, tx, t); err != nil {
			return err
		}

		return after(ctx, tx, t)
	})
}

// tripWithStops reads one trip with its rest stops, under a lock unless that is empty. Error: NOT_FOUND.
func tripWithStops(ctx context.Context, tx bun.Tx, sc scope, id uuid.UUID, lock string) (models.Trip, error) {
	t, err := loadResource[models.Trip](ctx, tx, sc, id, lock)
	if err != nil {
		return t, err
	}

	one := []models.Trip{t}
	err = loadManaged(ctx, tx, one)

	return one[0], err
}

// wholeTrip reads a trip with its rest stops and its provider's name. Error: NOT_FOUND.
func wholeTrip(ctx context.Context, conn bun.IDB, sc scope, id uuid.UUID) (models.Trip, error) {
	one := make([]models.Trip, 1)

	if err := withProvider(sc.live(conn.NewSelect().Model(&one[0]))).Where("t.id = ?", id).Scan(ctx); err != nil {
		return models.Trip{}, db.NotFound(err)
	}

	err := loadManaged(ctx, conn, one)

	return one[0], err
}

// withProvider adds the name of its provider to a trip.
func withProvider(q *bun.SelectQuery) *bun.SelectQuery {
	return q.ColumnExpr("?TableColumns").ColumnExpr("p.name AS provider_name").Join("JOIN providers AS p ON p.id = t.provider_id")
}

// checkTrip holds a trip against the rules and against what it refers to, which it locks FOR SHARE: none of it can be
// deleted or taken out of use, and the bus not become smaller, before the trip is written.
func checkTrip(ctx context.Context, tx bun.Tx, t *models.Trip) error {
	_, err := checkReferences(ctx, tx, t)

	return err
}

// checkOffered is checkTrip of a trip that is, or becomes, offered to consumers: what it refers to has to be in use, too
// (rules: companies.in-order). Error, besides: VALIDATION_ERROR with the fields.
func checkOffered(ctx context.Context, tx bun.Tx, t *models.Trip) error {
	used, err := checkReferences(ctx, tx, t)
	if err != nil {
		return err
	}

	idle := map[string][]models.Text{}

	switch used.bus.Status {
	case models.StatusActive:
	case models.StatusUnderMaintenance:
		idle["bus_id"] = []models.Text{models.TextOf("trip.bus_under_maintenance")}
	default:
		idle["bus_id"] = []models.Text{models.TextOf("trip.bus_inactive")}
	}

	if slices.ContainsFunc(used.hotel, ownResource.idle) {
		idle["hotel_id"] = []models.Text{models.TextOf("trip.hotel_inactive")}
	}

	if slices.ContainsFunc(used.stops, ownResource.idle) {
		idle["rest_stop_ids"] = []models.Text{models.TextOf("trip.rest_stops_inactive")}
	}

	if len(idle) > 0 {
		return models.InvalidFields("trip.out_of_use", idle)
	}

	return nil
}

// tripResources are what a trip refers to, locked FOR SHARE.
type tripResources struct {
	bus          ownResource
	hotel, stops []ownResource
}

// ownResource is a live row of a provider.
type ownResource struct {
	ID       uuid.UUID `bun:"id"`
	Status   string    `bun:"status"`
	Capacity int       `bun:"capacity"` // of a bus
}

func (r ownResource) idle() bool { return r.Status != models.StatusActive }

func checkReferences(ctx context.Context, tx bun.Tx, t *models.Trip) (used tripResources, err error) {
	own := scope{provider: t.ProviderID}
	foreign := map[string][]models.Text{}

	buses, err := lockOwn[models.Bus](ctx, tx, own, []uuid.UUID{t.BusID}, "capacity")
	if err != nil {
		return used, err
	}

	if len(buses) == 0 {
		foreign["bus_id"] = []models.Text{models.TextOf("trip.foreign_bus")}
	} else {
		used.bus = buses[0]
	}

	if t.HotelID != nil {
		if used.hotel, err = lockOwn[models.Hotel](ctx, tx, own, []uuid.UUID{*t.HotelID}); err != nil {
			return used, err
		}

		if len(used.hotel) == 0 {
			foreign["hotel_id"] = []models.Text{models.TextOf("trip.foreign_hotel")}
		}
	}

	if len(t.RestStopIDs) > 0 {
		if used.stops, err = lockOwn[models.RestStop](ctx, tx, own, t.RestStopIDs); err != nil {
			return used, err
		}

		if len(used.stops) < distinct(t.RestStopIDs) {
			foreign["rest_stop_ids"] = []models.Text{models.TextOf("trip.foreign_rest_stops")}
		}
	}

	if len(foreign) > 0 {
		return used, &models.Error{
			Code: models.CodeReferenceNotOwned, Text: models.TextOf("trip.foreign"), Details: foreign,
		}
	}

	if distinct(t.RestStopIDs) < len(t.RestStopIDs) {
		return used, models.Invalid("rest_stop_ids", "trip.rest_stop_repeated")
	}

	return used, t.Check(used.bus.Capacity)
}

// lockOwn locks live rows of a provider FOR SHARE, always in the same order, and returns those that there are, with their status and
// the further columns.
func lockOwn[T resource](ctx context.Context, tx bun.Tx, own scope, ids []uuid.UUID, columns ...string) ([]ownResource, error) {
	var there []ownResource

	err := own.live(tx.NewSelect().Model((*T)(nil))).Column("id", "status").Column(columns...).
		Where("id IN (?)", bun.List(ids)).Order("id").For("SHARE").Scan(ctx, &there)
	if err != nil {
		return nil, fmt.Errorf("lock what the trip refers to: %w", err)
	}

	return there, nil
}

func distinct(ids []uuid.UUID) int {
	seen := slices.Clone(ids)
	slices.SortFunc(seen, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })

	return len(slices.Compact(seen))
}

// TripRestStop is one stop of a trip's journey.
type TripRestStop struct {
	bun.BaseModel `bun:"table:trip_rest_stops"`

	TripID     uuid.UUID `bun:"trip_id"`
	RestStopID uuid.UUID `bun:"rest_stop_id"`
	ProviderID uuid.UUID `bun:"provider_id"`
	Position   int       `bun:"position"`
}

// StopsOf are the rows of a trip's rest stops, in the order of the journey.
func StopsOf(t *models.Trip) []TripRestStop {
	stops := make([]TripRestStop, len(t.RestStopIDs))
	for i, stop := range t.RestStopIDs {
		stops[i] = TripRestStop{TripID: t.ID, RestStopID: stop, ProviderID: t.ProviderID, Position: i + 1}
	}

	return stops
}

// saveStops writes the rest stops of a trip that has been written, in the order of the journey.
func saveStops(ctx context.Context, tx bun.Tx, t *models.Trip) error {
	_, err := tx.NewDelete().TableExpr("trip_rest_stops").Where("trip_id = ?", t.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("clear rest stops: %w", err)
	}

	stops := StopsOf(t)
	if len(stops) == 0 {
		return nil
	}

	if _, err := tx.NewInsert().Model(&stops).Exec(ctx); err != nil {
		return fmt.Errorf("insert rest stops: %w", err)
	}

	return nil
}
