package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store"
	"rihla/internal/store/storetest"
	"rihla/models"
)

func TestBusLife(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), as(b.World, models.RoleProviderStaff)

	bus, err := b.s.CreateBus(ctx, newBus(uuid.Nil, "  ABC 1 "), staff)
	require.NoError(t, err)
	require.Equal(t, "ABC 1", bus.PlateNumber)
	require.NotEqual(t, uuid.Nil, bus.ID)
	require.Equal(t, []string{}, bus.Features)
	require.False(t, bus.CreatedAt.IsZero())

	bus.Features = []string{"wifi", `quo"te, comma`, "مقعد"}
	changed, err := b.s.UpdateBus(ctx, bus.ID, func(x *models.Bus) error {
		x.Features, x.Status, x.DriverPhone = bus.Features, models.StatusUnderMaintenance, "+966500000000"

		return nil
	}, staff)
	require.NoError(t, err)
	require.Equal(t, bus.Features, changed.Features)
	require.Equal(t, models.StatusUnderMaintenance, changed.Status)
	require.Equal(t, "Test Driver", changed.DriverName)

	// Fewer than before: nothing is left over of the old ones.
	_, err = b.s.UpdateBus(ctx, bus.ID, func(x *models.Bus) error { x.Features = x.Features[:1]; return nil }, staff)
	require.NoError(t, err)
	read, err := b.s.GetBus(ctx, staff, bus.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"wifi"}, read.Features)

	refusal := errors.New("no")
	_, err = b.s.UpdateBus(ctx, bus.ID, func(x *models.Bus) error { x.Model = "X"; return refusal }, staff)
	require.ErrorIs(t, err, refusal)
	read, err = b.s.GetBus(ctx, staff, bus.ID)
	require.NoError(t, err)
	require.Equal(t, "Coach", read.Model)
}

func TestBusPlates(t *testing.T) {
	t.Parallel()
	b := setup(t)
	other := storetest.Fixture(t, b.s) // whose bus has the same plate
	ctx, staff := t.Context(), as(b.World, models.RoleProviderStaff)
	require.Equal(t, b.Bus.PlateNumber, other.Bus.PlateNumber)

	for _, same := range []string{
		" " + b.Bus.PlateNumber, strings.ToLower(b.Bus.PlateNumber), strings.ReplaceAll(b.Bus.PlateNumber, " ", ""),
		strings.Join(strings.Split(b.Bus.PlateNumber, ""), "\u00a0"),
	} {
		_, err := b.s.CreateBus(ctx, newBus(uuid.Nil, same), staff)
		requireCode(t, models.CodeBusPlateAlreadyExists, err)
	}

	second, err := b.s.CreateBus(ctx, newBus(uuid.Nil, "SECOND"), staff)
	require.NoError(t, err)
	_, err = b.s.UpdateBus(ctx, second.ID, func(x *models.Bus) error { x.PlateNumber = b.Bus.PlateNumber; return nil }, staff)
	requireCode(t, models.CodeBusPlateAlreadyExists, err)

	require.NoError(t, b.s.DeleteBus(ctx, second.ID, staff))
	_, err = b.s.CreateBus(ctx, newBus(uuid.Nil, "SECOND"), staff)
	require.NoError(t, err, "a deleted bus frees its plate")
}

func TestOnePlateInParallel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), as(b.World, models.RoleProviderStaff)

	var wg sync.WaitGroup

	errs := make([]error, 20)
	for i := range errs {
		wg.Go(func() { _, errs[i] = b.s.CreateBus(ctx, newBus(uuid.Nil, "ONE"), staff) })
	}

	wg.Wait()

	won := 0

	for _, err := range errs {
		if err == nil {
			won++
		} else {
			requireCode(t, models.CodeBusPlateAlreadyExists, err)
		}
	}

	require.Equal(t, 1, won)
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM buses WHERE plate_number = 'ONE'"))
	require.Equal(t, 1, b.count(t, "SELECT count(*) FROM audit_log WHERE action = 'BUS_CREATED'"))
}

func TestListBuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), as(b.World, models.RoleProviderStaff)

	add := func(plate, model, driver, status string) uuid.UUID {
		x := newBus(uuid.Nil, plate)
		x.Model, x.DriverName, x.Status = model, driver, status
		x, err := b.s.CreateBus(ctx, x, staff)
		require.NoError(t, err)

		return x.ID
	}
	first := b.Bus.ID
	arabic := add("أ ب ج 1", "حافلة", "سائق", models.StatusActive)
	old := add("ZZ_9", "Old Coach", "Driver", models.StatusUnderMaintenance)

	for name, tt := range map[string]struct {
		f    store.BusFilter
		want []uuid.UUID
	}{
		"all, oldest first": {store.BusFilter{}, []uuid.UUID{first, arabic, old}},
		"status":            {store.BusFilter{Status: models.StatusUnderMaintenance}, []uuid.UUID{old}},
		"plate":             {store.BusFilter{Search: "z_9"}, []uuid.UUID{old}},
		"not a wildcard":    {store.BusFilter{Search: "T_ST"}, []uuid.UUID{}},
		"model":             {store.BusFilter{Search: "COACH"}, []uuid.UUID{first, old}},
		"driver":            {store.BusFilter{Search: "سائق"}, []uuid.UUID{arabic}},
		"sort by plate":     {store.BusFilter{Page: store.Page{Sort: []store.Sort{{Field: "plate_number", Desc: true}}}}, []uuid.UUID{arabic, old, first}},
		"sort by status": {
			store.BusFilter{Page: store.Page{Sort: []store.Sort{{Field: "status", Desc: true}, {Field: "created_at", Desc: true}}}},
			[]uuid.UUID{old, arabic, first},
		},
	} {
		got, err := b.s.ListBuses(ctx, staff, tt.f)
		ids, err := idsOf(got, err, func(x models.Bus) uuid.UUID { return x.ID })
		require.NoError(t, err, name)
		require.Equal(t, tt.want, ids, name)
	}

	_, err := b.s.ListBuses(ctx, staff, store.BusFilter{Page: store.Page{Sort: []store.Sort{{Field: "driver_phone"}}}})
	requireCode(t, models.CodeValidation, err)
}

// A walk over the pages while buses are added: those that were there at its start come exactly once each.
func TestPageWalkWhileRowsAreInserted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), as(b.World, models.RoleProviderStaff)

	for i := range 30 {
		_, err := b.s.CreateBus(ctx, newBus(uuid.Nil, fmt.Sprint("OLD ", i)), staff)
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

			if _, err := b.s.CreateBus(ctx, newBus(uuid.Nil, fmt.Sprint("NEW ", i)), staff); err != nil {
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

		page, err := b.s.ListBuses(ctx, staff, store.BusFilter{Page: store.Page{Number: number, PerPage: 10}})
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
	ctx, staff := t.Context(), as(b.World, models.RoleProviderStaff)
	resize := func(n int) error {
		_, err := b.s.UpdateBus(ctx, b.Bus.ID, func(x *models.Bus) error { x.Capacity = n; return nil }, staff)

		return err
	}

	require.NoError(t, resize(50))
	require.NoError(t, resize(40))
	requireCode(t, models.CodeValidation, resize(39))

	b.exec(t, "UPDATE trips SET updated_at = now(), departure_at = now() - interval '1 day'")
	require.NoError(t, resize(39))
}
