package catalogue_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
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

func TestBusLife(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)

	bus, err := b.Store.Catalogue.CreateBus(ctx, staff, bookstest.NewBus(uuid.Nil, "  ABC 1 "))
	require.NoError(t, err)
	require.Equal(t, "ABC 1", bus.PlateNumber)
	require.NotEqual(t, uuid.Nil, bus.ID)
	require.Equal(t, []string{}, bus.Features)
	require.False(t, bus.CreatedAt.IsZero())

	bus.Features = []string{"wifi", `quo"te, comma`, "مقعد"}
	changed, err := b.Store.Catalogue.UpdateBus(ctx, staff, bus.ID, func(x *models.Bus) error {
		x.Features, x.Status, x.DriverPhone = bus.Features, models.StatusUnderMaintenance, "+966500000000"

		return nil
	}, time.Now())
	require.NoError(t, err)
	require.Equal(t, bus.Features, changed.Features)
	require.Equal(t, models.StatusUnderMaintenance, changed.Status)
	require.Equal(t, "Test Driver", changed.DriverName)

	// Fewer than before: nothing is left over of the old ones.
	_, err = b.Store.Catalogue.UpdateBus(ctx, staff, bus.ID, func(x *models.Bus) error { x.Features = x.Features[:1]; return nil }, time.Now())
	require.NoError(t, err)
	read, err := b.Store.Catalogue.GetBus(ctx, staff, bus.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"wifi"}, read.Features)

	refusal := errors.New("no")
	_, err = b.Store.Catalogue.UpdateBus(ctx, staff, bus.ID, func(x *models.Bus) error { x.Model = "X"; return refusal }, time.Now())
	require.ErrorIs(t, err, refusal)
	read, err = b.Store.Catalogue.GetBus(ctx, staff, bus.ID)
	require.NoError(t, err)
	require.Equal(t, "Coach", read.Model)
}

func TestBusPlates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := storetest.Fixture(t, b.Store) // whose bus has the same plate
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)
	require.Equal(t, b.Bus.PlateNumber, other.Bus.PlateNumber)

	for _, same := range []string{
		" " + b.Bus.PlateNumber, strings.ToLower(b.Bus.PlateNumber), strings.ReplaceAll(b.Bus.PlateNumber, " ", ""),
		strings.Join(strings.Split(b.Bus.PlateNumber, ""), "\u00a0"),
	} {
		_, err := b.Store.Catalogue.CreateBus(ctx, staff, bookstest.NewBus(uuid.Nil, same))
		bookstest.RequireCode(t, models.CodeBusPlateAlreadyExists, err)
	}

	second, err := b.Store.Catalogue.CreateBus(ctx, staff, bookstest.NewBus(uuid.Nil, "SECOND"))
	require.NoError(t, err)
	_, err = b.Store.Catalogue.UpdateBus(ctx, staff, second.ID, func(x *models.Bus) error { x.PlateNumber = b.Bus.PlateNumber; return nil }, time.Now())
	bookstest.RequireCode(t, models.CodeBusPlateAlreadyExists, err)

	require.NoError(t, b.Store.Catalogue.DeleteBus(ctx, staff, second.ID, time.Now()))
	_, err = b.Store.Catalogue.CreateBus(ctx, staff, bookstest.NewBus(uuid.Nil, "SECOND"))
	require.NoError(t, err, "a deleted bus frees its plate")
}

func TestOnePlateInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)

	var wg sync.WaitGroup

	errs := make([]error, 20)
	for i := range errs {
		wg.Go(func() { _, errs[i] = b.Store.Catalogue.CreateBus(ctx, staff, bookstest.NewBus(uuid.Nil, "ONE")) })
	}

	wg.Wait()

	won := 0

	for _, err := range errs {
		if err == nil {
			won++
		} else {
			bookstest.RequireCode(t, models.CodeBusPlateAlreadyExists, err)
		}
	}

	require.Equal(t, 1, won)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM buses WHERE plate_number = 'ONE'"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'BUS_CREATED'"))
}

func TestListBuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)

	add := func(plate, model, driver, status string) uuid.UUID {
		x := bookstest.NewBus(uuid.Nil, plate)
		x.Model, x.DriverName, x.Status = model, driver, status
		x, err := b.Store.Catalogue.CreateBus(ctx, staff, x)
		require.NoError(t, err)

		return x.ID
	}
	first := b.Bus.ID
	arabic := add("أ ب ج 1", "حافلة", "سائق", models.StatusActive)
	old := add("ZZ_9", "Old Coach", "Driver", models.StatusUnderMaintenance)

	for name, tt := range map[string]struct {
		f    catalogue.BusFilter
		want []uuid.UUID
	}{
		"all, oldest first": {catalogue.BusFilter{}, []uuid.UUID{first, arabic, old}},
		"status":            {catalogue.BusFilter{Status: models.StatusUnderMaintenance}, []uuid.UUID{old}},
		"plate":             {catalogue.BusFilter{Search: "z_9"}, []uuid.UUID{old}},
		"not a wildcard":    {catalogue.BusFilter{Search: "T_ST"}, []uuid.UUID{}},
		"model":             {catalogue.BusFilter{Search: "COACH"}, []uuid.UUID{first, old}},
		"driver":            {catalogue.BusFilter{Search: "سائق"}, []uuid.UUID{arabic}},
		"sort by plate":     {catalogue.BusFilter{Page: db.Page{Sort: []db.Sort{{Field: "plate_number", Desc: true}}}}, []uuid.UUID{arabic, old, first}},
		"sort by status": {
			catalogue.BusFilter{Page: db.Page{Sort: []db.Sort{{Field: "status", Desc: true}, {Field: "created_at", Desc: true}}}},
			[]uuid.UUID{old, arabic, first},
		},
	} {
		got, err := b.Store.Catalogue.ListBuses(ctx, staff, tt.f)
		ids, err := bookstest.IDsOf(got, err, func(x models.Bus) uuid.UUID { return x.ID })
		require.NoError(t, err, name)
		require.Equal(t, tt.want, ids, name)
	}

	_, err := b.Store.Catalogue.ListBuses(ctx, staff, catalogue.BusFilter{Page: db.Page{Sort: []db.Sort{{Field: "driver_phone"}}}})
	bookstest.RequireCode(t, models.CodeValidation, err)
}

// A walk over the pages while buses are added: those that were there at its start come exactly once each.
func TestPageWalkWhileRowsAreInserted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)

	for i := range 30 {
		_, err := b.Store.Catalogue.CreateBus(ctx, staff, bookstest.NewBus(uuid.Nil, fmt.Sprint("OLD ", i)))
		require.NoError(t, err)
	}

	done := make(chan struct{})
	added := make(chan int)

	go func() {
		defer close(added)

		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}

			if _, err := b.Store.Catalogue.CreateBus(ctx, staff, bookstest.NewBus(uuid.Nil, fmt.Sprint("NEW ", i))); err != nil {
				return
			}

			select {
			case added <- i:
			case <-done:
				return
			}
		}
	}()

	seen := map[uuid.UUID]bool{}
	old := 0

	for number := 1; ; number++ {
		<-added // at least one more between any two pages

		page, err := b.Store.Catalogue.ListBuses(ctx, staff, catalogue.BusFilter{Page: db.Page{Number: number, PerPage: 10}})
		require.NoError(t, err)

		for _, bus := range page.Items {
			require.False(t, seen[bus.ID], "%s came twice", bus.PlateNumber)
			seen[bus.ID] = true

			if strings.HasPrefix(bus.PlateNumber, "OLD") {
				old++
			}
		}

		if number == 6 {
			break
		}
	}

	close(done)

	for range added {
		continue
	}

	require.Equal(t, 30, old)
	require.True(t, seen[b.Bus.ID])
}

func TestBusCapacityHoldsItsTrips(t *testing.T) {
	t.Parallel()
	b := setup(t) // a published trip of 40 seats
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)
	resize := func(n int) error {
		_, err := b.Store.Catalogue.UpdateBus(ctx, staff, b.Bus.ID, func(x *models.Bus) error { x.Capacity = n; return nil }, time.Now())

		return err
	}

	require.NoError(t, resize(50))
	require.NoError(t, resize(40))
	bookstest.RequireCode(t, models.CodeValidation, resize(39))

	b.Exec(t, "UPDATE trips SET updated_at = now(), departure_at = now() - interval '1 day'")
	require.NoError(t, resize(39))
}
