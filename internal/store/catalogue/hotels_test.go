package catalogue_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/catalogue"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/models"
)

func TestHotels(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)

	add := func(name, city string, stars *int, status string) uuid.UUID {
		h, err := b.Store.Catalogue.CreateHotel(ctx, staff, models.Hotel{Name: name, City: city, Stars: stars, Status: status})
		require.NoError(t, err)
		require.Equal(t, b.Provider.ID, h.ProviderID)

		return h.ID
	}
	first := b.Hotel.ID // AlUla, no stars
	grand := add("Grand", "Makkah", new(7), models.StatusActive)
	small := add("فندق صغير", "Madinah", new(2), models.StatusInactive)

	for name, tt := range map[string]struct {
		f    catalogue.HotelFilter
		want []uuid.UUID
	}{
		"all":          {catalogue.HotelFilter{}, []uuid.UUID{first, grand, small}},
		"city":         {catalogue.HotelFilter{City: "makkah"}, []uuid.UUID{grand}},
		"part of city": {catalogue.HotelFilter{City: "akka"}, []uuid.UUID{}},
		"stars":        {catalogue.HotelFilter{Stars: 7}, []uuid.UUID{grand}},
		"status":       {catalogue.HotelFilter{Status: models.StatusInactive}, []uuid.UUID{small}},
		"search name":  {catalogue.HotelFilter{Search: "صغير"}, []uuid.UUID{small}},
		"search city":  {catalogue.HotelFilter{Search: "ADINA"}, []uuid.UUID{small}},
		"by stars":     {catalogue.HotelFilter{Page: db.Page{Sort: []db.Sort{{Field: "stars"}}}}, []uuid.UUID{small, grand, first}},
		"by city":      {catalogue.HotelFilter{Page: db.Page{Sort: []db.Sort{{Field: "city", Desc: true}}}}, []uuid.UUID{grand, small, first}},
	} {
		got, err := b.Store.Catalogue.ListHotels(ctx, staff, tt.f)
		ids, err := bookstest.IDsOf(got, err, func(x models.Hotel) uuid.UUID { return x.ID })
		require.NoError(t, err, name)
		require.Equal(t, tt.want, ids, name)
	}

	h, err := b.Store.Catalogue.UpdateHotel(ctx, staff, grand, func(h *models.Hotel) error { h.Stars, h.Address = nil, "Street 1"; return nil }, time.Now())
	require.NoError(t, err)
	require.Nil(t, h.Stars)
	require.Equal(t, "Grand", h.Name)
}

func TestRestStops(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)
	at := decimal.RequireFromString("21.422487")

	r, err := b.Store.Catalogue.CreateRestStop(ctx, staff, models.RestStop{
		Name: "استراحة", City: "Taif", Latitude: &at, Longitude: &at, Amenities: []string{"fuel", "mosque"}, Status: models.StatusActive,
	})
	require.NoError(t, err)

	read, err := b.Store.Catalogue.GetRestStop(ctx, staff, r.ID)
	require.NoError(t, err)
	require.True(t, at.Equal(*read.Latitude))
	require.Equal(t, []string{"fuel", "mosque"}, read.Amenities)

	read, err = b.Store.Catalogue.UpdateRestStop(ctx, staff, r.ID, func(r *models.RestStop) error { r.Latitude, r.Amenities = nil, nil; return nil }, time.Now())
	require.NoError(t, err)
	require.Nil(t, read.Latitude)
	require.Equal(t, []string{}, read.Amenities)

	for name, tt := range map[string]struct {
		f    catalogue.RestStopFilter
		want []uuid.UUID
	}{
		"all":     {catalogue.RestStopFilter{}, []uuid.UUID{b.RestStop.ID, r.ID}},
		"city":    {catalogue.RestStopFilter{City: "taif"}, []uuid.UUID{r.ID}},
		"status":  {catalogue.RestStopFilter{Status: models.StatusInactive}, []uuid.UUID{}},
		"search":  {catalogue.RestStopFilter{Search: "راح"}, []uuid.UUID{r.ID}},
		"by city": {catalogue.RestStopFilter{Page: db.Page{Sort: []db.Sort{{Field: "city", Desc: true}}}}, []uuid.UUID{r.ID, b.RestStop.ID}},
	} {
		got, err := b.Store.Catalogue.ListRestStops(ctx, staff, tt.f)
		ids, err := bookstest.IDsOf(got, err, func(x models.RestStop) uuid.UUID { return x.ID })
		require.NoError(t, err, name)
		require.Equal(t, tt.want, ids, name)
	}
}

func TestCatalogueOfResources(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := storetest.Fixture(t, b.Store)
	ctx, admin := t.Context(), bookstest.As(b.World, models.RoleAdmin)
	b.Exec(t, "UPDATE trips SET status = 'DRAFT'")

	see := func(page db.Page) (buses, hotels, stops []uuid.UUID) {
		bs, err := b.Store.Catalogue.CatalogueBuses(ctx, catalogue.BusFilter{Status: models.StatusInactive, Page: page})
		buses, err = bookstest.IDsOf(bs, err, func(x models.Bus) uuid.UUID { return x.ID })
		require.NoError(t, err)

		hs, err := b.Store.Catalogue.CatalogueHotels(ctx, catalogue.HotelFilter{Page: page})
		hotels, err = bookstest.IDsOf(hs, err, func(x models.Hotel) uuid.UUID { return x.ID })
		require.NoError(t, err)

		rs, err := b.Store.Catalogue.CatalogueRestStops(ctx, catalogue.RestStopFilter{Page: page})
		stops, err = bookstest.IDsOf(rs, err, func(x models.RestStop) uuid.UUID { return x.ID })
		require.NoError(t, err)

		return buses, hotels, stops
	}
	requireSeen := func(worlds ...storetest.World) {
		t.Helper()

		buses, hotels, stops := see(db.Page{})
		require.Len(t, buses, len(worlds))
		require.Len(t, hotels, len(worlds))
		require.Len(t, stops, len(worlds))

		for i, w := range worlds {
			require.Equal(t, []uuid.UUID{w.Bus.ID, w.Hotel.ID, w.RestStop.ID}, []uuid.UUID{buses[i], hotels[i], stops[i]})
		}
	}

	requireSeen(b.World, other)

	_, err := b.Store.Catalogue.SetProviderStatus(ctx, admin, other.Provider.ID, false)
	require.NoError(t, err)
	requireSeen(b.World)

	_, err = b.Store.Catalogue.SetProviderStatus(ctx, admin, other.Provider.ID, true)
	require.NoError(t, err)
	b.Exec(t, "UPDATE buses SET status = 'UNDER_MAINTENANCE' WHERE id = $1", b.Bus.ID)
	b.Exec(t, "UPDATE hotels SET status = 'INACTIVE' WHERE id = $1", b.Hotel.ID)
	b.Exec(t, "UPDATE rest_stops SET status = 'INACTIVE' WHERE id = $1", b.RestStop.ID)
	requireSeen(other)

	require.NoError(t, b.Store.Catalogue.DeleteBus(ctx, admin, other.Bus.ID, time.Now()))
	require.NoError(t, b.Store.Catalogue.DeleteHotel(ctx, admin, other.Hotel.ID, time.Now()))
	require.NoError(t, b.Store.Catalogue.DeleteRestStop(ctx, admin, other.RestStop.ID, time.Now()))
	requireSeen()

	b.Exec(t, "UPDATE hotels SET status = 'ACTIVE', stars = 5, city = 'Makkah' WHERE id = $1", b.Hotel.ID)

	hotels, err := b.Store.Catalogue.CatalogueHotels(ctx, catalogue.HotelFilter{Stars: 5, City: "MAKKAH", Search: "test", ProviderID: b.Provider.ID})
	require.NoError(t, err)
	require.EqualValues(t, 1, hotels.Total)
}
