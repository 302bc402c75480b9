package catalogue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// TripFilter narrows a list of trips; zero fields do not.
type TripFilter struct {
	Type        models.TripType
	Origin      string // the whole name, in any case
	Destination string
	DateFrom    models.Date // of departure, in Riyadh; both ends included
	DateTo      models.Date
	Search      string // part of title, origin or destination
	Page        db.Page
}

var tripOrder = db.Order{
	Columns:  map[string]string{"departure_at": "t.departure_at", "price_per_seat": "t.price_per_seat"},
	ID:       "t.id",
	Fallback: db.Sort{Field: "departure_at"},
}

// CatalogueTrips lists what consumers can book: published trips of ACTIVE providers with their departure still to
// come (rules: companies.publish). Error: VALIDATION_ERROR on sort.
func (s *Store) CatalogueTrips(ctx context.Context, f TripFilter, now time.Time) (db.Listed[models.Trip], error) {
	trips, err := db.List[models.Trip](ctx, f.apply(catalogue(s.db, now)), f.Page, tripOrder)
	if err != nil {
		return trips, err
	}

	return trips, loadRestStops(ctx, s.db, trips.Items)
}

func (f TripFilter) apply(q *bun.SelectQuery) *bun.SelectQuery {
	q = db.WhereEqual(q, "t.type", f.Type)
	q = whereName(q, "trips", "t.origin", f.Origin)
	q = whereName(q, "trips", "t.destination", f.Destination)
	q = db.WhereDuring(q, "t.departure_at", models.Days{From: f.DateFrom, To: f.DateTo})

	return db.WhereFound(q, "trips", "t.id", f.Search)
}

// CatalogueTrip finds one trip of the catalogue. Error: NOT_FOUND, also for a trip that is hidden or has departed.
func (s *Store) CatalogueTrip(ctx context.Context, id uuid.UUID, now time.Time) (models.Trip, error) {
	trips := make([]models.Trip, 1)

	if err := catalogue(s.db, now).Model(&trips[0]).Where("t.id = ?", id).Scan(ctx); err != nil {
		return models.Trip{}, db.NotFound(err)
	}

	err := loadRestStops(ctx, s.db, trips)

	return trips[0], err
}

// Departures are the departures of trips, by trip, in whatever state they are.
func (s *Store) Departures(ctx context.Context, trips ...uuid.UUID) (map[uuid.UUID]time.Time, error) {
	departures := make(map[uuid.UUID]time.Time, len(trips))
	if len(trips) == 0 {
		return departures, nil
	}

	var rows []models.Trip
	if err := s.db.NewSelect().Model(&rows).Column("id", "departure_at").Where("id IN (?)", bun.List(trips)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read departures: %w", err)
	}

	for i := range rows {
		departures[rows[i].ID] = rows[i].DepartureAt
	}

	return departures, nil
}

// catalogue is the one place that says what consumers see.
func catalogue(db bun.IDB, now time.Time) *bun.SelectQuery {
	return platformScope.live(withProvider(db.NewSelect())).Where("p.status = ?", models.StatusActive).
		Where("t.status = ?", models.TripPublished).Where("t.departure_at > ?", now)
}

// whereName narrows a list to rows whose column is the name, however it is written; no name narrows nothing.
func whereName(q *bun.SelectQuery, table, column, name string) *bun.SelectQuery {
	if name == "" {
		return q
	}

	alias, _, _ := strings.Cut(column, ".")

	// The words are found by an index, of which few rows are left to be compared.
	return db.WhereFound(q, table, alias+".id", name).Where("search_fold(?) = search_fold(?)", bun.Ident(column), name)
}

// loadRestStops fills RestStopIDs, in the order of the journey.
func loadRestStops(ctx context.Context, db bun.IDB, trips []models.Trip) error {
	if len(trips) == 0 {
		return nil
	}

	at := make(map[uuid.UUID]int, len(trips))
	ids := make([]uuid.UUID, len(trips))

	for i := range trips {
		trips[i].RestStopIDs = []uuid.UUID{}
		ids[i] = trips[i].ID
		at[trips[i].ID] = i
	}

	var stops []struct {
		TripID     uuid.UUID `bun:"trip_id"`
		RestStopID uuid.UUID `bun:"rest_stop_id"`
	}

	err := db.NewSelect().TableExpr("trip_rest_stops AS ts").Column("ts.trip_id", "ts.rest_stop_id").
		Join("JOIN rest_stops AS rs ON rs.id = ts.rest_stop_id").Where("rs.deleted_at IS NULL").
		Where("ts.trip_id IN (?)", bun.List(ids)).Order("ts.trip_id", "ts.position").Scan(ctx, &stops)
	if err != nil {
		return fmt.Errorf("read rest stops: %w", err)
	}

	for _, stop := range stops {
		t := &trips[at[stop.TripID]]
		t.RestStopIDs = append(t.RestStopIDs, stop.RestStopID)
	}

	return nil
}

// loadManaged fills in what the rows of trips do not have, for those who manage them.
func loadManaged(ctx context.Context, conn bun.IDB, trips []models.Trip) error {
	if err := loadRestStops(ctx, conn, trips); err != nil || len(trips) == 0 {
		return err
	}

	ids := make([]uuid.UUID, len(trips))
	for i := range trips {
		ids[i] = trips[i].ID
	}

	var with []uuid.UUID

	err := conn.NewSelect().Model((*models.TripCancellation)(nil)).Distinct().Column("tc.trip_id").
		Where("tc.trip_id IN (?)", bun.List(ids)).Scan(ctx, &with)
	if err != nil {
		return fmt.Errorf("read which trips have cancellations: %w", err)
	}

	for i := range trips {
		has := slices.Contains(with, trips[i].ID)
		trips[i].HasCancellation = &has
	}

	return nil
}
