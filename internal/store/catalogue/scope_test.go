package catalogue_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/bookstest"
	"rihla/internal/store/catalogue"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// resourceCase is one kind of provider resource, with everything that can be done to it.
type resourceCase struct {
	name   string
	id     func(storetest.World) uuid.UUID
	list   func(ctx context.Context, by db.Actor, provider uuid.UUID) ([]uuid.UUID, error)
	get    func(ctx context.Context, by db.Actor, id uuid.UUID) error
	create func(ctx context.Context, by db.Actor, provider uuid.UUID) (owner uuid.UUID, err error)
	update func(ctx context.Context, by db.Actor, id uuid.UUID) error
	remove func(ctx context.Context, by db.Actor, id uuid.UUID) error
}

func resourceCases(s *store.Store) []resourceCase {
	return []resourceCase{
		{
			"bus", func(w storetest.World) uuid.UUID { return w.Bus.ID },
			func(ctx context.Context, by db.Actor, provider uuid.UUID) ([]uuid.UUID, error) {
				page, err := s.Catalogue.ListBuses(ctx, by, catalogue.BusFilter{ProviderID: provider})

				return bookstest.IDsOf(page, err, func(x models.Bus) uuid.UUID { return x.ID })
			},
			func(ctx context.Context, by db.Actor, id uuid.UUID) error {
				_, err := s.Catalogue.GetBus(ctx, by, id)
				return err
			},
			func(ctx context.Context, by db.Actor, provider uuid.UUID) (uuid.UUID, error) {
				x, err := s.Catalogue.CreateBus(ctx, by, bookstest.NewBus(provider, uuid.NewString()))

				return x.ProviderID, err
			},
			func(ctx context.Context, by db.Actor, id uuid.UUID) error {
				_, err := s.Catalogue.UpdateBus(ctx, by, id, func(x *models.Bus) error { x.ID, x.ProviderID = uuid.New(), uuid.New(); return nil }, time.Now())

				return err
			},
			func(ctx context.Context, by db.Actor, id uuid.UUID) error {
				return s.Catalogue.DeleteBus(ctx, by, id, time.Now())
			},
		},
		{
			"hotel", func(w storetest.World) uuid.UUID { return w.Hotel.ID },
			func(ctx context.Context, by db.Actor, provider uuid.UUID) ([]uuid.UUID, error) {
				page, err := s.Catalogue.ListHotels(ctx, by, catalogue.HotelFilter{ProviderID: provider})

				return bookstest.IDsOf(page, err, func(x models.Hotel) uuid.UUID { return x.ID })
			},
			func(ctx context.Context, by db.Actor, id uuid.UUID) error {
				_, err := s.Catalogue.GetHotel(ctx, by, id)
				return err
			},
			func(ctx context.Context, by db.Actor, provider uuid.UUID) (uuid.UUID, error) {
				x, err := s.Catalogue.CreateHotel(ctx, by, models.Hotel{ProviderID: provider, Name: "Hotel", City: "City", Status: "ACTIVE"})

				return x.ProviderID, err
			},
			func(ctx context.Context, by db.Actor, id uuid.UUID) error {
				_, err := s.Catalogue.UpdateHotel(ctx, by, id, func(x *models.Hotel) error { x.ID, x.ProviderID = uuid.New(), uuid.New(); return nil }, time.Now())

				return err
			},
			func(ctx context.Context, by db.Actor, id uuid.UUID) error {
				return s.Catalogue.DeleteHotel(ctx, by, id, time.Now())
			},
		},
		{
			"rest stop", func(w storetest.World) uuid.UUID { return w.RestStop.ID },
			func(ctx context.Context, by db.Actor, provider uuid.UUID) ([]uuid.UUID, error) {
				page, err := s.Catalogue.ListRestStops(ctx, by, catalogue.RestStopFilter{ProviderID: provider})

				return bookstest.IDsOf(page, err, func(x models.RestStop) uuid.UUID { return x.ID })
			},
			func(ctx context.Context, by db.Actor, id uuid.UUID) error {
				_, err := s.Catalogue.GetRestStop(ctx, by, id)
				return err
			},
			func(ctx context.Context, by db.Actor, provider uuid.UUID) (uuid.UUID, error) {
				x, err := s.Catalogue.CreateRestStop(ctx, by, models.RestStop{ProviderID: provider, Name: "Stop", City: "City", Status: "ACTIVE"})

				return x.ProviderID, err
			},
			func(ctx context.Context, by db.Actor, id uuid.UUID) error {
				_, err := s.Catalogue.UpdateRestStop(ctx, by, id, func(x *models.RestStop) error { x.ID, x.ProviderID = uuid.New(), uuid.New(); return nil }, time.Now())

				return err
			},
			func(ctx context.Context, by db.Actor, id uuid.UUID) error {
				return s.Catalogue.DeleteRestStop(ctx, by, id, time.Now())
			},
		},
	}
}

func TestResourcesStayWithTheirProvider(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := storetest.Fixture(t, b.Store)
	ctx := t.Context()
	staff, admin := bookstest.As(b.World, models.RoleProviderStaff), bookstest.As(b.World, models.RoleAdmin)
	nobodys := db.Actor{UserID: uuid.New(), Role: models.RoleProviderAdmin}

	// A published trip of each world uses everything.
	b.Exec(t, "UPDATE trips SET status = 'DRAFT'")

	for _, d := range resourceCases(b.Store) {
		own, foreign := d.id(b.World), d.id(other)

		// Reading: whatever staff ask for, they see their own.
		for _, asked := range []uuid.UUID{uuid.Nil, b.Provider.ID} {
			ids, err := d.list(ctx, staff, asked)
			require.NoError(t, err, d.name)
			require.Equal(t, []uuid.UUID{own}, ids, d.name)
		}

		ids, err := d.list(ctx, staff, other.Provider.ID)
		require.NoError(t, err, d.name)
		require.Empty(t, ids, d.name)

		ids, err = d.list(ctx, admin, uuid.Nil)
		require.NoError(t, err, d.name)
		require.Equal(t, []uuid.UUID{own, foreign}, ids, d.name)

		ids, err = d.list(ctx, admin, other.Provider.ID)
		require.NoError(t, err, d.name)
		require.Equal(t, []uuid.UUID{foreign}, ids, d.name)

		require.NoError(t, d.get(ctx, staff, own), d.name)
		require.NoError(t, d.get(ctx, admin, foreign), d.name)

		for _, refused := range []error{
			d.get(ctx, staff, foreign), d.get(ctx, staff, uuid.New()), d.update(ctx, staff, foreign), d.remove(ctx, staff, foreign),
		} {
			bookstest.RequireCode(t, models.CodeNotFound, refused)
		}

		// Writing: staff create for themselves, admins say for whom.
		owner, err := d.create(ctx, staff, other.Provider.ID)
		require.NoError(t, err, d.name)
		require.Equal(t, b.Provider.ID, owner, d.name)

		owner, err = d.create(ctx, admin, other.Provider.ID)
		require.NoError(t, err, d.name)
		require.Equal(t, other.Provider.ID, owner, d.name)

		_, err = d.create(ctx, admin, uuid.Nil)
		bookstest.RequireCode(t, models.CodeValidation, err)
		_, err = d.create(ctx, admin, uuid.New())
		bookstest.RequireCode(t, models.CodeNotFound, err)

		require.NoError(t, d.update(ctx, admin, foreign), d.name)
		require.NoError(t, d.get(ctx, bookstest.As(other, models.RoleProviderAdmin), foreign), "what identifies a row stays: %s", d.name)

		// A role without a company, and roles that have nothing to do with them.
		for _, stranger := range []db.Actor{
			nobodys, bookstest.As(b.World, models.RoleEndUser), bookstest.As(b.World, models.RoleSupportAgent), bookstest.As(b.World, models.RoleFinanceAdmin), {},
		} {
			_, err := d.list(ctx, stranger, uuid.Nil)
			bookstest.RequireCode(t, models.CodeForbidden, err)
			bookstest.RequireCode(t, models.CodeForbidden, d.get(ctx, stranger, own))
			_, err = d.create(ctx, stranger, b.Provider.ID)
			bookstest.RequireCode(t, models.CodeForbidden, err)
			bookstest.RequireCode(t, models.CodeForbidden, d.update(ctx, stranger, own))
			bookstest.RequireCode(t, models.CodeForbidden, d.remove(ctx, stranger, own))
		}

		// Deleted is as if it had never been.
		require.NoError(t, d.remove(ctx, staff, own), d.name)

		for _, gone := range []error{d.get(ctx, admin, own), d.update(ctx, admin, own), d.remove(ctx, admin, own)} {
			bookstest.RequireCode(t, models.CodeNotFound, gone)
		}

		ids, err = d.list(ctx, admin, b.Provider.ID)
		require.NoError(t, err, d.name)
		require.NotContains(t, ids, own)
	}

	for _, want := range []string{"BUS_CREATED", "HOTEL_UPDATED", "REST_STOP_DELETED"} {
		require.NotZero(t, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = $1 AND entity_id IS NOT NULL", want), want)
	}
}

func TestStaffOfAnInactiveProviderCanOnlyRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	staff, admin := bookstest.As(b.World, models.RoleProviderAdmin), bookstest.As(b.World, models.RoleSuperAdmin)

	require.NoError(t, b.Store.Catalogue.MayWrite(ctx, staff))
	_, err := b.Store.Catalogue.SetProviderStatus(ctx, admin, b.Provider.ID, false)
	require.NoError(t, err)

	bookstest.RequireCode(t, models.CodeForbidden, b.Store.Catalogue.MayWrite(ctx, staff))
	bookstest.RequireCode(t, models.CodeForbidden, b.Store.Catalogue.MayWrite(ctx, bookstest.As(b.World, models.RoleEndUser)))
	require.NoError(t, b.Store.Catalogue.MayWrite(ctx, admin))

	for _, d := range resourceCases(b.Store) {
		id := d.id(b.World)
		require.NoError(t, d.get(ctx, staff, id), d.name)

		ids, err := d.list(ctx, staff, uuid.Nil)
		require.NoError(t, err, d.name)
		require.Len(t, ids, 1, d.name)

		_, err = d.create(ctx, staff, uuid.Nil)
		bookstest.RequireCode(t, models.CodeForbidden, err)
		bookstest.RequireCode(t, models.CodeForbidden, d.update(ctx, staff, id))
		bookstest.RequireCode(t, models.CodeForbidden, d.remove(ctx, staff, id))
		bookstest.RequireCode(t, models.CodeForbidden, d.update(ctx, staff, uuid.New()))

		require.NoError(t, d.update(ctx, admin, id), "the platform still can: %s", d.name)
	}

	for name, err := range map[string]error{
		"trip":           bookstest.ErrorOf(b.Store.Catalogue.CreateTrip(ctx, staff, b.NewTrip("Trip", 10))),
		"update trip":    bookstest.ErrorOf(b.Store.Bookings.UpdateTrip(ctx, staff, b.Trip.ID, func(*models.Trip) error { return nil }, time.Now())),
		"publish":        bookstest.ErrorOf(b.Store.Catalogue.PublishTrip(ctx, staff, b.Trip.ID, time.Now())),
		"delete trip":    b.Store.Catalogue.DeleteTrip(ctx, staff, b.Trip.ID, time.Now()),
		"campaign":       bookstest.ErrorOf(b.Store.Catalogue.CreateCampaign(ctx, staff, b.newCampaign(), bookstest.Clock())),
		"photos":         bookstest.ErrorOf(b.Store.Catalogue.AddBusPhotos(ctx, staff, b.Bus.ID, nil)),
		"pause":          bookstest.ErrorOf(b.Store.Catalogue.PauseCampaign(ctx, staff, uuid.New(), bookstest.Clock())),
		"delete a photo": bookstest.ErrorOf(b.Store.Catalogue.DeleteBusPhoto(ctx, staff, b.Bus.ID, uuid.New())),
	} {
		require.Error(t, err, name)
		require.Equal(t, models.CodeForbidden, models.CodeOf(err), name)
	}

	_, err = b.Store.Catalogue.SetProviderStatus(ctx, admin, b.Provider.ID, true)
	require.NoError(t, err)
	require.NoError(t, b.Store.Catalogue.MayWrite(ctx, staff))
}
