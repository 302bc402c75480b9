package store_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// as is a user of a world as the one who acts.
func as(w storetest.World, role models.Role) store.Actor {
	u := w.Users[role]
	a := store.Actor{UserID: u.ID, Role: role, RequestID: "req-" + string(role)}

	if u.ProviderID != nil {
		a.ProviderID = *u.ProviderID
	}

	return a
}

// door is one kind of provider resource, with everything that can be done to it.
type door struct {
	name   string
	id     func(storetest.World) uuid.UUID
	list   func(ctx context.Context, by store.Actor, provider uuid.UUID) ([]uuid.UUID, error)
	get    func(ctx context.Context, by store.Actor, id uuid.UUID) error
	create func(ctx context.Context, by store.Actor, provider uuid.UUID) (owner uuid.UUID, err error)
	update func(ctx context.Context, by store.Actor, id uuid.UUID) error
	remove func(ctx context.Context, by store.Actor, id uuid.UUID) error
}

func idsOf[T any](page store.Listed[T], err error, id func(T) uuid.UUID) ([]uuid.UUID, error) {
	ids := make([]uuid.UUID, 0, len(page.Items))
	for _, item := range page.Items {
		ids = append(ids, id(item))
	}

	return ids, err
}

func doors(s *store.Store) []door {
	return []door{
		{
			"bus", func(w storetest.World) uuid.UUID { return w.Bus.ID },
			func(ctx context.Context, by store.Actor, provider uuid.UUID) ([]uuid.UUID, error) {
				page, err := s.ListBuses(ctx, by, store.BusFilter{ProviderID: provider})

				return idsOf(page, err, func(x models.Bus) uuid.UUID { return x.ID })
			},
			func(ctx context.Context, by store.Actor, id uuid.UUID) error {
				_, err := s.GetBus(ctx, by, id)
				return err
			},
			func(ctx context.Context, by store.Actor, provider uuid.UUID) (uuid.UUID, error) {
				x, err := s.CreateBus(ctx, newBus(provider, uuid.NewString()), by)

				return x.ProviderID, err
			},
			func(ctx context.Context, by store.Actor, id uuid.UUID) error {
				_, err := s.UpdateBus(ctx, id, func(x *models.Bus) error { x.ID, x.ProviderID = uuid.New(), uuid.New(); return nil }, by)

				return err
			},
			func(ctx context.Context, by store.Actor, id uuid.UUID) error { return s.DeleteBus(ctx, id, by) },
		},
		{
			"hotel", func(w storetest.World) uuid.UUID { return w.Hotel.ID },
			func(ctx context.Context, by store.Actor, provider uuid.UUID) ([]uuid.UUID, error) {
				page, err := s.ListHotels(ctx, by, store.HotelFilter{ProviderID: provider})

				return idsOf(page, err, func(x models.Hotel) uuid.UUID { return x.ID })
			},
			func(ctx context.Context, by store.Actor, id uuid.UUID) error {
				_, err := s.GetHotel(ctx, by, id)
				return err
			},
			func(ctx context.Context, by store.Actor, provider uuid.UUID) (uuid.UUID, error) {
				x, err := s.CreateHotel(ctx, models.Hotel{ProviderID: provider, Name: "Hotel", City: "City", Status: "ACTIVE"}, by)

				return x.ProviderID, err
			},
			func(ctx context.Context, by store.Actor, id uuid.UUID) error {
				_, err := s.UpdateHotel(ctx, id, func(x *models.Hotel) error { x.ID, x.ProviderID = uuid.New(), uuid.New(); return nil }, by)

				return err
			},
			func(ctx context.Context, by store.Actor, id uuid.UUID) error { return s.DeleteHotel(ctx, id, by) },
		},
		{
			"rest stop", func(w storetest.World) uuid.UUID { return w.RestStop.ID },
			func(ctx context.Context, by store.Actor, provider uuid.UUID) ([]uuid.UUID, error) {
				page, err := s.ListRestStops(ctx, by, store.RestStopFilter{ProviderID: provider})

				return idsOf(page, err, func(x models.RestStop) uuid.UUID { return x.ID })
			},
			func(ctx context.Context, by store.Actor, id uuid.UUID) error {
				_, err := s.GetRestStop(ctx, by, id)
				return err
			},
			func(ctx context.Context, by store.Actor, provider uuid.UUID) (uuid.UUID, error) {
				x, err := s.CreateRestStop(ctx, models.RestStop{ProviderID: provider, Name: "Stop", City: "City", Status: "ACTIVE"}, by)

				return x.ProviderID, err
			},
			func(ctx context.Context, by store.Actor, id uuid.UUID) error {
				_, err := s.UpdateRestStop(ctx, id, func(x *models.RestStop) error { x.ID, x.ProviderID = uuid.New(), uuid.New(); return nil }, by)

				return err
			},
			func(ctx context.Context, by store.Actor, id uuid.UUID) error { return s.DeleteRestStop(ctx, id, by) },
		},
	}
}

func newBus(provider uuid.UUID, plate string) models.Bus {
	return models.Bus{
		ProviderID: provider, PlateNumber: plate, Model: "Coach", Capacity: 40, DriverName: "Test Driver", Status: models.StatusActive,
	}
}

func TestResourcesStayWithTheirProvider(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := storetest.Fixture(t, b.s)
	ctx := t.Context()
	staff, admin := as(b.World, models.RoleProviderStaff), as(b.World, models.RoleAdmin)
	nobodys := store.Actor{UserID: uuid.New(), Role: models.RoleProviderAdmin}

	// A published trip of each world uses everything.
	b.exec(t, "UPDATE trips SET status = 'DRAFT'")

	for _, d := range doors(b.s) {
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
			requireCode(t, models.CodeNotFound, refused)
		}

		// Writing: staff create for themselves, admins say for whom.
		owner, err := d.create(ctx, staff, other.Provider.ID)
		require.NoError(t, err, d.name)
		require.Equal(t, b.Provider.ID, owner, d.name)

		owner, err = d.create(ctx, admin, other.Provider.ID)
		require.NoError(t, err, d.name)
		require.Equal(t, other.Provider.ID, owner, d.name)

		_, err = d.create(ctx, admin, uuid.Nil)
		requireCode(t, models.CodeValidation, err)
		_, err = d.create(ctx, admin, uuid.New())
		requireCode(t, models.CodeNotFound, err)

		require.NoError(t, d.update(ctx, admin, foreign), d.name)
		require.NoError(t, d.get(ctx, as(other, models.RoleProviderAdmin), foreign), "what identifies a row stays: %s", d.name)

		// A role without a company, and roles that have nothing to do with them.
		for _, stranger := range []store.Actor{
			nobodys, as(b.World, models.RoleEndUser), as(b.World, models.RoleSupportAgent), as(b.World, models.RoleFinanceAdmin), {},
		} {
			_, err := d.list(ctx, stranger, uuid.Nil)
			requireCode(t, models.CodeForbidden, err)
			requireCode(t, models.CodeForbidden, d.get(ctx, stranger, own))
			_, err = d.create(ctx, stranger, b.Provider.ID)
			requireCode(t, models.CodeForbidden, err)
			requireCode(t, models.CodeForbidden, d.update(ctx, stranger, own))
			requireCode(t, models.CodeForbidden, d.remove(ctx, stranger, own))
		}

		// Deleted is as if it had never been.
		require.NoError(t, d.remove(ctx, staff, own), d.name)

		for _, gone := range []error{d.get(ctx, admin, own), d.update(ctx, admin, own), d.remove(ctx, admin, own)} {
			requireCode(t, models.CodeNotFound, gone)
		}

		ids, err = d.list(ctx, admin, b.Provider.ID)
		require.NoError(t, err, d.name)
		require.NotContains(t, ids, own)
	}

	for _, want := range []string{"BUS_CREATED", "HOTEL_UPDATED", "REST_STOP_DELETED"} {
		require.NotZero(t, b.count(t, "SELECT count(*) FROM audit_log WHERE action = $1 AND entity_id IS NOT NULL", want), want)
	}
}

func TestStaffOfAnInactiveProviderCanOnlyRead(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	staff, admin := as(b.World, models.RoleProviderAdmin), as(b.World, models.RoleSuperAdmin)

	require.NoError(t, b.s.MayWrite(ctx, staff))
	_, err := b.s.SetProviderStatus(ctx, b.Provider.ID, false, admin)
	require.NoError(t, err)

	requireCode(t, models.CodeForbidden, b.s.MayWrite(ctx, staff))
	requireCode(t, models.CodeForbidden, b.s.MayWrite(ctx, as(b.World, models.RoleEndUser)))
	require.NoError(t, b.s.MayWrite(ctx, admin))

	for _, d := range doors(b.s) {
		id := d.id(b.World)
		require.NoError(t, d.get(ctx, staff, id), d.name)

		ids, err := d.list(ctx, staff, uuid.Nil)
		require.NoError(t, err, d.name)
		require.Len(t, ids, 1, d.name)

		_, err = d.create(ctx, staff, uuid.Nil)
		requireCode(t, models.CodeForbidden, err)
		requireCode(t, models.CodeForbidden, d.update(ctx, staff, id))
		requireCode(t, models.CodeForbidden, d.remove(ctx, staff, id))
		requireCode(t, models.CodeForbidden, d.update(ctx, staff, uuid.New()))

		require.NoError(t, d.update(ctx, admin, id), "the platform still can: %s", d.name)
	}

	for name, err := range map[string]error{
		"trip":           second(b.s.CreateTrip(ctx, b.NewTrip("Trip", 10), staff)),
		"update trip":    second(b.s.UpdateTrip(ctx, b.Trip.ID, func(*models.Trip) error { return nil }, staff)),
		"publish":        second(b.s.PublishTrip(ctx, b.Trip.ID, staff)),
		"delete trip":    b.s.DeleteTrip(ctx, b.Trip.ID, staff),
		"campaign":       second(b.s.CreateCampaign(ctx, b.newCampaign(), staff, clock())),
		"photos":         second(b.s.AddBusPhotos(ctx, b.Bus.ID, nil, staff)),
		"pause":          second(b.s.PauseCampaign(ctx, uuid.New(), staff, clock())),
		"delete a photo": second(b.s.DeleteBusPhoto(ctx, b.Bus.ID, uuid.New(), staff)),
	} {
		require.Error(t, err, name)
		require.Equal(t, models.CodeForbidden, models.CodeOf(err), name)
	}

	_, err = b.s.SetProviderStatus(ctx, b.Provider.ID, true, admin)
	require.NoError(t, err)
	require.NoError(t, b.s.MayWrite(ctx, staff))
}

func second[T any](_ T, err error) error { return err }
