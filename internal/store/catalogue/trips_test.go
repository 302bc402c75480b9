package catalogue_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/catalogue"
	"rihla/internal/store/seed"
	"rihla/models"
)

func TestCatalogueShowsWhatCanBeBooked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	past := time.Now().Add(-time.Hour)

	for _, edit := range []func(*models.Trip){
		func(x *models.Trip) { x.Status = models.TripDraft },
		func(x *models.Trip) { x.Status = models.TripCancelled },
		func(x *models.Trip) { x.DepartureAt = past },
		func(x *models.Trip) { x.DeletedAt = &past },
	} {
		hidden := b.InsertTrip(t, 10, edit)
		_, err := b.Store.Catalogue.CatalogueTrip(t.Context(), hidden.ID, time.Now())
		bookstest.RequireCode(t, models.CodeNotFound, err)
	}

	got, err := b.Store.Catalogue.CatalogueTrips(t.Context(), catalogue.TripFilter{}, time.Now())
	require.NoError(t, err)
	require.EqualValues(t, 1, got.Total)
	require.Equal(t, b.Trip.ID, got.Items[0].ID)

	one, err := b.Store.Catalogue.CatalogueTrip(t.Context(), b.Trip.ID, time.Now())
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{b.RestStop.ID}, one.RestStopIDs)
	require.Equal(t, "115.00", one.PricePerSeat.String())
	require.True(t, b.Trip.DepartureAt.Equal(one.DepartureAt))

	b.Exec(t, "UPDATE providers SET status = 'INACTIVE'")

	got, err = b.Store.Catalogue.CatalogueTrips(t.Context(), catalogue.TripFilter{}, time.Now())
	require.NoError(t, err)
	require.Zero(t, got.Total)
	_, err = b.Store.Catalogue.CatalogueTrip(t.Context(), b.Trip.ID, time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

func TestCatalogueFilters(t *testing.T) {
	t.Parallel()
	b := setup(t)
	day := models.DateIn(time.Now()).AddDays(60)

	// The last minute of the day in Riyadh is still that day.
	umrah := b.InsertTrip(t, 10, func(x *models.Trip) {
		x.Type, x.HotelID, x.Origin, x.Destination = models.TripUmrah, nil, "Jeddah", "Makkah"
		x.DepartureAt = day.AddDays(1).Start().Add(-time.Minute)
		x.ReturnAt = x.DepartureAt.AddDate(0, 0, 1)
		x.RestStopIDs = nil
	})

	for name, f := range map[string]catalogue.TripFilter{
		"type":        {Type: models.TripUmrah},
		"origin":      {Origin: "jeddah"},
		"destination": {Destination: "MAKKAH"},
		"from":        {DateFrom: day},
		"both":        {DateFrom: day, DateTo: day},
		"search":      {Search: "akk"},
	} {
		got, err := b.Store.Catalogue.CatalogueTrips(t.Context(), f, time.Now())
		require.NoError(t, err, name)
		require.Len(t, got.Items, 1, name)
		require.Equal(t, umrah.ID, got.Items[0].ID, name)
		require.NotNil(t, got.Items[0].RestStopIDs)
	}

	for name, f := range map[string]catalogue.TripFilter{
		"part of a name": {Origin: "Jedd"},
		"day after":      {DateFrom: day.AddDays(1)},
		"wildcard":       {Origin: "%"},
	} {
		got, err := b.Store.Catalogue.CatalogueTrips(t.Context(), f, time.Now())
		require.NoError(t, err, name)
		require.Empty(t, got.Items, name)
	}

	got, err := b.Store.Catalogue.CatalogueTrips(t.Context(), catalogue.TripFilter{DateTo: day.AddDays(-1)}, time.Now())
	require.NoError(t, err)
	require.Len(t, got.Items, 1)
	require.Equal(t, b.Trip.ID, got.Items[0].ID)
}

func TestCatalogueRestStopsComeInOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)

	stops := make([]models.RestStop, 4)
	for i := range stops {
		stops[i] = models.RestStop{
			ID: uuid.New(), ProviderID: b.Provider.ID, Name: "Stop", City: "Hail", Amenities: []string{}, Status: models.StatusActive,
		}
	}

	require.NoError(t, seed.Of(b.Store).InsertDemo(t.Context(), seed.DemoData{RestStops: stops}))

	trip := b.InsertTrip(t, 10, func(x *models.Trip) {
		x.RestStopIDs = []uuid.UUID{stops[2].ID, stops[0].ID, stops[3].ID, stops[1].ID}
	})

	got, err := b.Store.Catalogue.CatalogueTrip(t.Context(), trip.ID, time.Now())
	require.NoError(t, err)
	require.Equal(t, trip.RestStopIDs, got.RestStopIDs)
}
