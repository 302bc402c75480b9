package payments_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/models"
)

// Whatever a deletion races with, no published trip that is still to depart ever uses what is deleted.
func TestDeletionRacesPublication(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)

	const rounds = 12

	published, deleted := 0, 0

	for i := range rounds {
		bus, err := b.Store.Catalogue.CreateBus(ctx, staff, bookstest.NewBus(uuid.Nil, uuid.NewString()))
		require.NoError(t, err)
		hotel, err := b.Store.Catalogue.CreateHotel(ctx, staff, models.Hotel{Name: "H", City: "C", Status: models.StatusActive})
		require.NoError(t, err)
		stop, err := b.Store.Catalogue.CreateRestStop(ctx, staff, models.RestStop{Name: "R", City: "C", Status: models.StatusActive})
		require.NoError(t, err)

		asked := b.NewTrip("Race", 10)
		asked.BusID, asked.HotelID, asked.RestStopIDs = bus.ID, &hotel.ID, []uuid.UUID{stop.ID}
		trip, err := b.Store.Catalogue.CreateTrip(ctx, staff, asked)
		require.NoError(t, err)

		var publishErr, deleteErr error

		bookstest.Race(
			func() { _, publishErr = b.Store.Catalogue.PublishTrip(ctx, staff, trip.ID, time.Now()) },
			func() {
				switch i % 3 {
				case 0:
					deleteErr = b.Store.Catalogue.DeleteBus(ctx, staff, bus.ID, time.Now())
				case 1:
					deleteErr = b.Store.Catalogue.DeleteHotel(ctx, staff, hotel.ID, time.Now())
				default:
					deleteErr = b.Store.Catalogue.DeleteRestStop(ctx, staff, stop.ID, time.Now())
				}
			})

		switch {
		case publishErr == nil && deleteErr != nil:
			bookstest.RequireCode(t, models.CodeResourceInUse, deleteErr)
			published++
		case deleteErr == nil && publishErr != nil:
			bookstest.RequireCode(t, models.CodeReferenceNotOwned, publishErr)
			deleted++
		case deleteErr == nil && i%3 == 2:
			deleted++ // a deleted stop is no part of the trip that is published after it
		default:
			require.Fail(t, "exactly one wins", "publish: %v, delete: %v", publishErr, deleteErr)
		}
	}

	require.Equal(t, rounds, published+deleted)
	require.Zero(t, b.Count(t, `
		SELECT count(*) FROM trips t JOIN buses b ON b.id = t.bus_id JOIN hotels h ON h.id = t.hotel_id
		WHERE t.status = 'PUBLISHED' AND (b.deleted_at IS NOT NULL OR h.deleted_at IS NOT NULL)`))
}

// The same with locks instead of luck: the deletion waits for a publication that has not been committed.
func TestDeletionWaitsForPublication(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)
	b.Exec(t, "UPDATE trips SET status = 'DRAFT'")

	tx, err := b.DB.BeginTx(ctx, nil)
	require.NoError(t, err)

	_, err = tx.ExecContext(ctx, "SELECT 1 FROM buses WHERE id = $1 FOR SHARE", b.Bus.ID)
	require.NoError(t, err)
	_, err = tx.ExecContext(ctx, "UPDATE trips SET status = 'PUBLISHED' WHERE id = $1", b.Trip.ID)
	require.NoError(t, err)

	done := make(chan error, 1)

	go func() { done <- b.Store.Catalogue.DeleteBus(ctx, staff, b.Bus.ID, time.Now()) }()

	b.awaitLocks(t, 1)
	require.NoError(t, tx.Commit())
	bookstest.RequireCode(t, models.CodeResourceInUse, <-done)
}

// awaitLocks waits until n sessions wait for a lock in the test's database.
func (b *books) awaitLocks(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		var waiting int

		err := b.DB.QueryRowContext(t.Context(), `
			SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting)

		return err == nil && waiting == n
	}, 10*time.Second, 5*time.Millisecond)
}

func TestDeactivationWaitsForWritesOfStaff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff, admin := t.Context(), bookstest.As(b.World, models.RoleProviderStaff), bookstest.As(b.World, models.RoleAdmin)

	done := make(chan error, 1)

	_, err := b.Store.Catalogue.UpdateHotel(ctx, staff, b.Hotel.ID, func(*models.Hotel) error {
		go func() {
			done <- bookstest.ErrorOf(b.Store.Catalogue.SetProviderStatus(ctx, admin, b.Provider.ID, false))
		}()
		b.awaitLocks(t, 1)

		return nil
	}, time.Now())
	require.NoError(t, err)
	require.NoError(t, <-done)

	_, err = b.Store.Catalogue.UpdateHotel(ctx, staff, b.Hotel.ID, func(*models.Hotel) error { return nil }, time.Now())
	bookstest.RequireCode(t, models.CodeForbidden, err)
}

// Two changes at once: the second sees the first, none is lost.
func TestUpdatesDoNotLoseEachOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)
	grow := func(x *models.Bus) error { x.Features = append(x.Features, "one more"); return nil }

	var wg sync.WaitGroup

	errs := make([]error, 10)
	for i := range errs {
		wg.Go(func() { _, errs[i] = b.Store.Catalogue.UpdateBus(ctx, staff, b.Bus.ID, grow, time.Now()) })
	}

	wg.Wait()

	for _, err := range errs {
		require.NoError(t, err)
	}

	bus, err := b.Store.Catalogue.GetBus(ctx, staff, b.Bus.ID)
	require.NoError(t, err)
	require.Len(t, bus.Features, 10)
}
