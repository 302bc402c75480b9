package catalogue_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/catalogue"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/models"
)

func TestTripLife(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)

	asked := b.NewTrip("New Trip", 10)
	asked.ID, asked.ProviderID, asked.Status, asked.SeatsTaken = uuid.Nil, uuid.Nil, models.TripPublished, 9
	trip, err := b.Store.Catalogue.CreateTrip(ctx, staff, asked)
	require.NoError(t, err)
	require.Equal(t, models.TripDraft, trip.Status)
	require.Equal(t, 10, trip.SeatsLeft())
	require.Equal(t, b.Provider.Name, trip.ProviderName)
	require.Equal(t, []uuid.UUID{b.RestStop.ID}, trip.RestStopIDs)

	_, err = b.Store.Catalogue.CatalogueTrip(ctx, trip.ID, time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)

	for range 2 {
		trip, err = b.Store.Catalogue.PublishTrip(ctx, staff, trip.ID, time.Now())
		require.NoError(t, err)
		require.Equal(t, models.TripPublished, trip.Status)
	}

	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'TRIP_PUBLISHED'"))
	b.Book(t, trip, 4)

	changed, err := b.Store.Bookings.UpdateTrip(ctx, staff, trip.ID, func(x *models.Trip) error {
		require.Equal(t, []uuid.UUID{b.RestStop.ID}, x.RestStopIDs, "a change sees the whole trip")

		x.Title, x.Capacity, x.RestStopIDs, x.Type, x.HotelID = "Other", 4, nil, models.TripUmrah, nil
		x.Status, x.SeatsTaken, x.ProviderID = models.TripDraft, 0, uuid.New()

		return nil
	}, time.Now())
	require.NoError(t, err)
	require.Equal(t, "Other", changed.Title)
	require.Nil(t, changed.HotelID)
	require.Empty(t, changed.RestStopIDs)
	require.Equal(t, models.TripPublished, changed.Status)
	require.Equal(t, 0, changed.SeatsLeft(), "bookings move the seats, nobody else")
	require.Equal(t, trip.DepartureAt, changed.DepartureAt)

	_, err = b.Store.Bookings.UpdateTrip(ctx, staff, trip.ID, func(x *models.Trip) error { x.Capacity, x.SeatsTaken = 3, 0; return nil }, time.Now())
	bookstest.RequireFields(t, models.CodeValidation, err, "capacity")

	bookstest.RequireCode(t, models.CodeInvalidState, b.Store.Catalogue.DeleteTrip(ctx, staff, trip.ID, time.Now()))
	b.Exec(t, "UPDATE bookings SET status = 'CANCELLED', seats_held = false")
	b.Exec(t, "UPDATE trips SET seats_taken = 0")
	require.NoError(t, b.Store.Catalogue.DeleteTrip(ctx, staff, trip.ID, time.Now()))
	bookstest.RequireCode(t, models.CodeNotFound, b.Store.Catalogue.DeleteTrip(ctx, staff, trip.ID, time.Now()))
	_, err = b.Store.Catalogue.PublishTrip(ctx, staff, trip.ID, time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, err = b.Store.Catalogue.CatalogueTrip(ctx, trip.ID, time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

func TestTripRefersToItsOwnProvidersResources(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := storetest.Fixture(t, b.Store)
	ctx, staff, admin := t.Context(), bookstest.As(b.World, models.RoleProviderStaff), bookstest.As(b.World, models.RoleAdmin)
	nowhere := uuid.New()

	for name, tt := range map[string]struct {
		edit   func(*models.Trip)
		code   models.Code
		fields []string
	}{
		"foreign bus":   {func(x *models.Trip) { x.BusID = other.Bus.ID }, models.CodeReferenceNotOwned, []string{"bus_id"}},
		"no bus":        {func(x *models.Trip) { x.BusID = nowhere }, models.CodeReferenceNotOwned, []string{"bus_id"}},
		"foreign hotel": {func(x *models.Trip) { x.HotelID = &other.Hotel.ID }, models.CodeReferenceNotOwned, []string{"hotel_id"}},
		"one foreign stop": {
			func(x *models.Trip) { x.RestStopIDs = append(x.RestStopIDs, other.RestStop.ID) }, models.CodeReferenceNotOwned, []string{"rest_stop_ids"},
		},
		"everything": {func(x *models.Trip) {
			x.BusID, x.HotelID, x.RestStopIDs = other.Bus.ID, &other.Hotel.ID, []uuid.UUID{nowhere}
		}, models.CodeReferenceNotOwned, []string{"bus_id", "hotel_id", "rest_stop_ids"}},
		"a stop twice": {
			func(x *models.Trip) { x.RestStopIDs = append(x.RestStopIDs, b.RestStop.ID) }, models.CodeValidation, []string{"rest_stop_ids"},
		},
		"no hotel":      {func(x *models.Trip) { x.HotelID = nil }, models.CodeValidation, []string{"hotel_id"}},
		"too many":      {func(x *models.Trip) { x.Capacity = 41 }, models.CodeValidation, []string{"capacity"}},
		"back too soon": {func(x *models.Trip) { x.ReturnAt = x.DepartureAt }, models.CodeValidation, []string{"return_at"}},
	} {
		asked := b.NewTrip(name, 10)
		tt.edit(&asked)
		_, err := b.Store.Catalogue.CreateTrip(ctx, staff, asked)
		bookstest.RequireFields(t, tt.code, err, tt.fields...)
		_, err = b.Store.Catalogue.CreateTrip(ctx, admin, asked)
		bookstest.RequireFields(t, tt.code, err, tt.fields...)
		_, err = b.Store.Bookings.UpdateTrip(ctx, staff, b.Trip.ID, func(x *models.Trip) error { tt.edit(x); return nil }, time.Now())
		bookstest.RequireFields(t, tt.code, err, tt.fields...)
	}

	require.Zero(t, b.Count(t, "SELECT count(*) FROM audit_log"))
}

func TestTripOfWhatWasDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)

	draft, err := b.Store.Catalogue.CreateTrip(ctx, staff, func() models.Trip { x := b.NewTrip("Draft", 10); x.ID = uuid.Nil; return x }())
	require.NoError(t, err)

	// The fixture's published trip uses all three.
	for _, used := range []error{
		b.Store.Catalogue.DeleteBus(ctx, staff, b.Bus.ID, time.Now()), b.Store.Catalogue.DeleteHotel(ctx, staff, b.Hotel.ID, time.Now()), b.Store.Catalogue.DeleteRestStop(ctx, staff, b.RestStop.ID, time.Now()),
	} {
		bookstest.RequireCode(t, models.CodeResourceInUse, used)
	}

	b.Exec(t, "UPDATE trips SET updated_at = now(), departure_at = now() - interval '1 hour' WHERE id = $1", b.Trip.ID)
	require.NoError(t, b.Store.Catalogue.DeleteBus(ctx, staff, b.Bus.ID, time.Now()), "a trip that has departed holds nothing, nor does a draft")
	require.NoError(t, b.Store.Catalogue.DeleteHotel(ctx, staff, b.Hotel.ID, time.Now()))
	require.NoError(t, b.Store.Catalogue.DeleteRestStop(ctx, staff, b.RestStop.ID, time.Now()))

	_, err = b.Store.Catalogue.PublishTrip(ctx, staff, draft.ID, time.Now())
	bookstest.RequireFields(t, models.CodeReferenceNotOwned, err, "bus_id", "hotel_id")

	read, err := b.Store.Catalogue.GetProviderTrip(ctx, staff, draft.ID)
	require.NoError(t, err)
	require.Equal(t, models.TripDraft, read.Status)
	require.Empty(t, read.RestStopIDs, "a deleted stop is not shown")
}

func TestPublishTripStates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)

	cancelled := b.InsertTrip(t, 10, func(x *models.Trip) { x.Status = models.TripCancelled })
	_, err := b.Store.Catalogue.PublishTrip(ctx, staff, cancelled.ID, time.Now())
	bookstest.RequireCode(t, models.CodeInvalidState, err)

	departed := b.InsertTrip(t, 10, func(x *models.Trip) {
		x.Status, x.DepartureAt = models.TripDraft, time.Now().Add(-time.Hour)
	})
	_, err = b.Store.Catalogue.PublishTrip(ctx, staff, departed.ID, time.Now())
	bookstest.RequireCode(t, models.CodeInvalidState, err)

	tooBig := b.InsertTrip(t, 41, func(x *models.Trip) { x.Status = models.TripDraft })
	_, err = b.Store.Catalogue.PublishTrip(ctx, staff, tooBig.ID, time.Now())
	bookstest.RequireFields(t, models.CodeValidation, err, "capacity")

	other := storetest.Fixture(t, b.Store)
	_, err = b.Store.Catalogue.PublishTrip(ctx, staff, other.Trip.ID, time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

// A trip that is on sale can be moved, but not out of sight.
func TestMovingAPublishedTrip(t *testing.T) {
	t.Parallel()
	b := setup(t)
	staff := bookstest.As(b.World, models.RoleProviderStaff)
	later, past := time.Now().Add(999*time.Hour), time.Now().Add(-time.Minute)
	move := func(to time.Time) func(*models.Trip) error {
		return func(x *models.Trip) error {
			x.DepartureAt, x.ReturnAt = to, to.Add(time.Hour)

			return nil
		}
	}

	_, err := b.Store.Bookings.UpdateTrip(t.Context(), staff, b.Trip.ID, move(past), time.Now())
	bookstest.RequireFields(t, models.CodeValidation, err, "departure_at")
	moved, err := b.Store.Bookings.UpdateTrip(t.Context(), staff, b.Trip.ID, move(later), time.Now())
	require.NoError(t, err)
	require.WithinDuration(t, later, moved.DepartureAt, time.Second)

	departed := b.InsertTrip(t, 10, func(x *models.Trip) { x.DepartureAt = past })
	_, err = b.Store.Bookings.UpdateTrip(t.Context(), staff, departed.ID, func(x *models.Trip) error { x.Title = "Corrected"; return nil }, time.Now())
	require.NoError(t, err, "what it does not move it does not hold against the trip")

	draft := b.InsertTrip(t, 10, func(x *models.Trip) { x.Status = models.TripDraft })
	_, err = b.Store.Bookings.UpdateTrip(t.Context(), staff, draft.ID, move(past), time.Now())
	require.NoError(t, err)
}

func TestListProviderTrips(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := storetest.Fixture(t, b.Store)
	ctx, staff, admin := t.Context(), bookstest.As(b.World, models.RoleProviderStaff), bookstest.As(b.World, models.RoleAdmin)

	draft := b.InsertTrip(t, 10, func(x *models.Trip) {
		x.Title, x.Status, x.PricePerSeat = "عمرة", models.TripDraft, models.MustMoney("1.00")
	})

	for name, tt := range map[string]struct {
		by   db.Actor
		f    catalogue.ProviderTripFilter
		want []uuid.UUID
	}{
		"own":     {staff, catalogue.ProviderTripFilter{}, []uuid.UUID{b.Trip.ID, draft.ID}},
		"foreign": {staff, catalogue.ProviderTripFilter{ProviderID: other.Provider.ID}, []uuid.UUID{}},
		"all":     {admin, catalogue.ProviderTripFilter{}, []uuid.UUID{b.Trip.ID, other.Trip.ID, draft.ID}},
		"one's":   {admin, catalogue.ProviderTripFilter{ProviderID: other.Provider.ID}, []uuid.UUID{other.Trip.ID}},
		"status":  {staff, catalogue.ProviderTripFilter{Status: models.TripDraft}, []uuid.UUID{draft.ID}},
		"search":  {staff, catalogue.ProviderTripFilter{TripFilter: catalogue.TripFilter{Search: "عمر"}}, []uuid.UUID{draft.ID}},
		"sort": {
			staff,
			catalogue.ProviderTripFilter{TripFilter: catalogue.TripFilter{Page: db.Page{Sort: []db.Sort{{Field: "price_per_seat"}}}}},
			[]uuid.UUID{draft.ID, b.Trip.ID},
		},
	} {
		got, err := b.Store.Catalogue.ListProviderTrips(ctx, tt.by, tt.f)
		ids, err := bookstest.IDsOf(got, err, func(x models.Trip) uuid.UUID { return x.ID })
		require.NoError(t, err, name)
		require.Equal(t, tt.want, ids, name)

		for _, x := range got.Items {
			require.NotEmpty(t, x.ProviderName)
			require.Len(t, x.RestStopIDs, 1)
		}
	}

	_, err := b.Store.Catalogue.GetProviderTrip(ctx, staff, other.Trip.ID)
	bookstest.RequireCode(t, models.CodeNotFound, err)
	read, err := b.Store.Catalogue.GetProviderTrip(ctx, admin, other.Trip.ID)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{other.RestStop.ID}, read.RestStopIDs)
	_, err = b.Store.Catalogue.ListProviderTrips(ctx, bookstest.As(b.World, models.RoleFinanceAdmin), catalogue.ProviderTripFilter{})
	bookstest.RequireCode(t, models.CodeForbidden, err)
}
