package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/storetest"
	"rihla/models"
)

func TestHotels(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), as(b.World, models.RoleProviderStaff)

	add := func(name, city string, stars *int, status string) uuid.UUID {
		h, err := b.s.CreateHotel(ctx, models.Hotel{Name: name, City: city, Stars: stars, Status: status}, staff)
		require.NoError(t, err)
		require.Equal(t, b.Provider.ID, h.ProviderID)

		return h.ID
	}
	first := b.Hotel.ID // AlUla, no stars
	grand := add("Grand", "Makkah", new(7), models.StatusActive)
	small := add("فندق صغير", "Madinah", new(2), models.StatusInactive)

	for name, tt := range map[string]struct {
		f    store.HotelFilter
		want []uuid.UUID
	}{
		"all":          {store.HotelFilter{}, []uuid.UUID{first, grand, small}},
		"city":         {store.HotelFilter{City: "makkah"}, []uuid.UUID{grand}},
		"part of city": {store.HotelFilter{City: "akka"}, []uuid.UUID{}},
		"stars":        {store.HotelFilter{Stars: 7}, []uuid.UUID{grand}},
		"status":       {store.HotelFilter{Status: models.StatusInactive}, []uuid.UUID{small}},
		"search name":  {store.HotelFilter{Search: "صغير"}, []uuid.UUID{small}},
		"search city":  {store.HotelFilter{Search: "ADINA"}, []uuid.UUID{small}},
		"by stars":     {store.HotelFilter{Page: store.Page{Sort: []store.Sort{{Field: "stars"}}}}, []uuid.UUID{small, grand, first}},
		"by city":      {store.HotelFilter{Page: store.Page{Sort: []store.Sort{{Field: "city", Desc: true}}}}, []uuid.UUID{grand, small, first}},
	} {
		got, err := b.s.ListHotels(ctx, staff, tt.f)
		ids, err := idsOf(got, err, func(x models.Hotel) uuid.UUID { return x.ID })
		require.NoError(t, err, name)
		require.Equal(t, tt.want, ids, name)
	}

	h, err := b.s.UpdateHotel(ctx, grand, func(h *models.Hotel) error { h.Stars, h.Address = nil, "Street 1"; return nil }, staff)
	require.NoError(t, err)
	require.Nil(t, h.Stars)
	require.Equal(t, "Grand", h.Name)
}

func TestRestStops(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), as(b.World, models.RoleProviderStaff)
	at := decimal.RequireFromString("21.422487")

	r, err := b.s.CreateRestStop(ctx, models.RestStop{
		Name: "استراحة", City: "Taif", Latitude: &at, Longitude: &at, Amenities: []string{"fuel", "mosque"}, Status: models.StatusActive,
	}, staff)
	require.NoError(t, err)

	read, err := b.s.GetRestStop(ctx, staff, r.ID)
	require.NoError(t, err)
	require.True(t, at.Equal(*read.Latitude))
	require.Equal(t, []string{"fuel", "mosque"}, read.Amenities)

	read, err = b.s.UpdateRestStop(ctx, r.ID, func(r *models.RestStop) error { r.Latitude, r.Amenities = nil, nil; return nil }, staff)
	require.NoError(t, err)
	require.Nil(t, read.Latitude)
	require.Equal(t, []string{}, read.Amenities)

	for name, tt := range map[string]struct {
		f    store.RestStopFilter
		want []uuid.UUID
	}{
		"all":     {store.RestStopFilter{}, []uuid.UUID{b.RestStop.ID, r.ID}},
		"city":    {store.RestStopFilter{City: "taif"}, []uuid.UUID{r.ID}},
		"status":  {store.RestStopFilter{Status: models.StatusInactive}, []uuid.UUID{}},
		"search":  {store.RestStopFilter{Search: "راح"}, []uuid.UUID{r.ID}},
		"by city": {store.RestStopFilter{Page: store.Page{Sort: []store.Sort{{Field: "city", Desc: true}}}}, []uuid.UUID{r.ID, b.RestStop.ID}},
	} {
		got, err := b.s.ListRestStops(ctx, staff, tt.f)
		ids, err := idsOf(got, err, func(x models.RestStop) uuid.UUID { return x.ID })
		require.NoError(t, err, name)
		require.Equal(t, tt.want, ids, name)
	}
}

func TestCatalogueOfResources(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := storetest.Fixture(t, b.s)
	ctx, admin := t.Context(), as(b.World, models.RoleAdmin)
	b.exec(t, "UPDATE trips SET status = 'DRAFT'")

	see := func(page store.Page) (buses, hotels, stops []uuid.UUID) {
		bs, err := b.s.CatalogueBuses(ctx, store.BusFilter{Status: models.StatusInactive, Page: page})
		buses, err = idsOf(bs, err, func(x models.Bus) uuid.UUID { return x.ID })
		require.NoError(t, err)

		hs, err := b.s.CatalogueHotels(ctx, store.HotelFilter{Page: page})
		hotels, err = idsOf(hs, err, func(x models.Hotel) uuid.UUID { return x.ID })
		require.NoError(t, err)

		rs, err := b.s.CatalogueRestStops(ctx, store.RestStopFilter{Page: page})
		stops, err = idsOf(rs, err, func(x models.RestStop) uuid.UUID { return x.ID })
		require.NoError(t, err)

		return buses, hotels, stops
	}
	requireSeen := func(worlds ...storetest.World) {
		t.Helper()

		buses, hotels, stops := see(store.Page{})
		require.Len(t, buses, len(worlds))
		require.Len(t, hotels, len(worlds))
		require.Len(t, stops, len(worlds))

		for i, w := range worlds {
			require.Equal(t, []uuid.UUID{w.Bus.ID, w.Hotel.ID, w.RestStop.ID}, []uuid.UUID{buses[i], hotels[i], stops[i]})
		}
	}

	requireSeen(b.World, other)

	_, err := b.s.SetProviderStatus(ctx, other.Provider.ID, false, admin)
	require.NoError(t, err)
	requireSeen(b.World)

	_, err = b.s.SetProviderStatus(ctx, other.Provider.ID, true, admin)
	require.NoError(t, err)
	b.exec(t, "UPDATE buses SET status = 'UNDER_MAINTENANCE' WHERE id = $1", b.Bus.ID)
	b.exec(t, "UPDATE hotels SET status = 'INACTIVE' WHERE id = $1", b.Hotel.ID)
	b.exec(t, "UPDATE rest_stops SET status = 'INACTIVE' WHERE id = $1", b.RestStop.ID)
	requireSeen(other)

	require.NoError(t, b.s.DeleteBus(ctx, other.Bus.ID, admin))
	require.NoError(t, b.s.DeleteHotel(ctx, other.Hotel.ID, admin))
	require.NoError(t, b.s.DeleteRestStop(ctx, other.RestStop.ID, admin))
	requireSeen()

	b.exec(t, "UPDATE hotels SET status = 'ACTIVE', stars = 5, city = 'Makkah' WHERE id = $1", b.Hotel.ID)

	hotels, err := b.s.CatalogueHotels(ctx, store.HotelFilter{Stars: 5, City: "MAKKAH", Search: "test", ProviderID: b.Provider.ID})
	require.NoError(t, err)
	require.EqualValues(t, 1, hotels.Total)
}
