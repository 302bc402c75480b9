package bookings_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/models"
)

// tripPart is something that a trip uses and that can be taken out of use.
type tripPart struct {
	field    string
	statuses []string
	set      func(ctx context.Context, b *books, by db.Actor, status string) (*models.Affected, error)
}

var tripParts = map[string]tripPart{
	"bus": {
		"bus_id",
		[]string{models.StatusInactive, models.StatusUnderMaintenance},
		func(ctx context.Context, b *books, by db.Actor, status string) (*models.Affected, error) {
			row, err := b.Store.Catalogue.UpdateBus(ctx, by, b.Bus.ID, func(x *models.Bus) error { x.Status = status; return nil }, time.Now())

			return row.Affected, err
		},
	},
	"hotel": {
		"hotel_id",
		[]string{models.StatusInactive},
		func(ctx context.Context, b *books, by db.Actor, status string) (*models.Affected, error) {
			row, err := b.Store.Catalogue.UpdateHotel(ctx, by, b.Hotel.ID, func(x *models.Hotel) error { x.Status = status; return nil }, time.Now())

			return row.Affected, err
		},
	},
	"rest stop": {
		"rest_stop_ids",
		[]string{models.StatusInactive},
		func(ctx context.Context, b *books, by db.Actor, status string) (*models.Affected, error) {
			row, err := b.Store.Catalogue.UpdateRestStop(ctx, by, b.RestStop.ID, func(x *models.RestStop) error { x.Status = status; return nil }, time.Now())

			return row.Affected, err
		},
	},
}

// eachPart runs a test for each part of a trip and each status that takes it out of use.
func eachPart(t *testing.T, test func(t *testing.T, b *books, part tripPart, status string)) {
	t.Helper()

	for name, part := range tripParts {
		for _, status := range part.statuses {
			t.Run(name+" "+status, func(t *testing.T) {
				t.Parallel()
				test(t, setup(t), part, status)
			})
		}
	}
}

// draft is a further trip of the World, not published.
func (b *books) draft(t *testing.T) models.Trip {
	t.Helper()

	trip, err := b.Store.Catalogue.CreateTrip(t.Context(), bookstest.As(b.World, models.RoleProviderStaff), b.NewTrip("Draft", 10))
	require.NoError(t, err)

	return trip
}

// What is out of use may be on a draft, and on no published trip that is still to leave.
func TestTripsUseWhatIsInUse(t *testing.T) {
	t.Parallel()
	eachPart(t, func(t *testing.T, b *books, part tripPart, status string) {
		t.Helper()

		ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)
		touch := func(id uuid.UUID) error {
			_, err := b.Store.Bookings.UpdateTrip(ctx, staff, id, func(x *models.Trip) error { x.Title += "."; return nil }, time.Now())

			return err
		}
		publish := func(id uuid.UUID) error {
			_, err := b.Store.Catalogue.PublishTrip(ctx, staff, id, time.Now())

			return err
		}

		left := b.InsertTrip(t, 10, func(x *models.Trip) {
			x.DepartureAt, x.ReturnAt = time.Now().Add(-48*time.Hour), time.Now().Add(-time.Hour)
		})

		_, err := part.set(ctx, b, staff, status)
		require.NoError(t, err)

		draft := b.draft(t)
		require.NoError(t, touch(draft.ID), "a draft may wait for it")
		require.NoError(t, touch(left.ID), "it has carried it already")
		bookstest.RequireFields(t, models.CodeValidation, publish(draft.ID), part.field)
		bookstest.RequireFields(t, models.CodeValidation, touch(b.Trip.ID), part.field)
		require.NoError(t, publish(b.Trip.ID), "what is published stays so")

		_, err = part.set(ctx, b, staff, models.StatusActive)
		require.NoError(t, err)
		require.NoError(t, publish(draft.ID))
		require.NoError(t, touch(b.Trip.ID))
	})
}

// A published trip cannot be given what is out of use, either, and can be given what is in use in its place.
func TestPublishedTripChangesWhatItUses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)

	idle := bookstest.NewBus(uuid.Nil, "IDLE")
	idle.Status, idle.Capacity = models.StatusUnderMaintenance, 100
	idle, err := b.Store.Catalogue.CreateBus(ctx, staff, idle)
	require.NoError(t, err)

	give := func(bus uuid.UUID) error {
		_, err := b.Store.Bookings.UpdateTrip(ctx, staff, b.Trip.ID, func(x *models.Trip) error { x.BusID = bus; return nil }, time.Now())

		return err
	}

	bookstest.RequireFields(t, models.CodeValidation, give(idle.ID), "bus_id")

	_, err = b.Store.Catalogue.UpdateBus(ctx, staff, idle.ID, func(x *models.Bus) error { x.Status = models.StatusActive; return nil }, time.Now())
	require.NoError(t, err)

	_, err = tripParts["bus"].set(ctx, b, staff, models.StatusInactive)
	require.NoError(t, err)
	require.NoError(t, give(idle.ID), "the bus that is out of use is replaced")
}

// The answer to a change of status names the trips that have to be looked at: the published ones that are still to leave.
func TestOutOfUseNamesTrips(t *testing.T) {
	t.Parallel()
	eachPart(t, func(t *testing.T, b *books, part tripPart, status string) {
		t.Helper()

		ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)
		b.draft(t)
		b.InsertTrip(t, 10, func(x *models.Trip) {
			x.DepartureAt, x.ReturnAt = time.Now().Add(-48*time.Hour), time.Now().Add(-time.Hour)
		})

		sooner := b.InsertTrip(t, 10, func(x *models.Trip) {
			x.Title, x.DepartureAt, x.ReturnAt = "Sooner", time.Now().Add(time.Hour), time.Now().Add(48*time.Hour)
		})

		affected, err := part.set(ctx, b, staff, models.StatusActive)
		require.NoError(t, err)
		require.Nil(t, affected, "the status is not another one")

		affected, err = part.set(ctx, b, staff, status)
		require.NoError(t, err)
		require.EqualValues(t, 2, affected.Total)
		require.Len(t, affected.Trips, 2)
		require.Equal(t, []uuid.UUID{sooner.ID, b.Trip.ID}, []uuid.UUID{affected.Trips[0].ID, affected.Trips[1].ID})
		require.Equal(t, "Sooner", affected.Trips[0].Title)
		require.WithinDuration(t, sooner.DepartureAt, affected.Trips[0].DepartureAt, time.Second)

		affected, err = part.set(ctx, b, staff, status)
		require.NoError(t, err)
		require.Nil(t, affected, "it was said once")

		affected, err = part.set(ctx, b, staff, models.StatusActive)
		require.NoError(t, err)
		require.Nil(t, affected, "it is in use again")

		for i := range 60 {
			b.InsertTrip(t, 1, func(x *models.Trip) { x.Title = fmt.Sprint("Many ", i) })
		}

		affected, err = part.set(ctx, b, staff, status)
		require.NoError(t, err)
		require.EqualValues(t, 62, affected.Total)
		require.Len(t, affected.Trips, 50)
	})
}

// Whatever a change of status races with, the trip is refused or named.
func TestOutOfUseRacesPublication(t *testing.T) {
	t.Parallel()

	const rounds = 8

	b := setup(t)
	ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)
	b.Exec(t, "UPDATE trips SET status = 'DRAFT'")

	for name, part := range tripParts {
		for i := range rounds {
			trip := b.draft(t)

			var (
				publishErr, statusErr error
				affected              *models.Affected
			)

			bookstest.RaceAhead(time.Duration(i-rounds/2)*time.Millisecond,
				func() { _, publishErr = b.Store.Catalogue.PublishTrip(ctx, staff, trip.ID, time.Now()) },
				func() { affected, statusErr = part.set(ctx, b, staff, part.statuses[0]) })

			require.NoError(t, statusErr)

			if publishErr == nil {
				require.EqualValues(t, 1, affected.Total, name)
				require.Equal(t, trip.ID, affected.Trips[0].ID)
			} else {
				bookstest.RequireFields(t, models.CodeValidation, publishErr, part.field)
				require.Zero(t, affected.Total, name)
			}

			b.Exec(t, "UPDATE trips SET status = 'DRAFT'")

			_, err := part.set(ctx, b, staff, models.StatusActive)
			require.NoError(t, err)
		}
	}
}

// The same with locks instead of luck: a change of status waits for a publication that has not been committed, and names its trip.
func TestOutOfUseWaitsForPublication(t *testing.T) {
	t.Parallel()
	eachPart(t, func(t *testing.T, b *books, part tripPart, status string) {
		t.Helper()

		ctx, staff := t.Context(), bookstest.As(b.World, models.RoleProviderStaff)
		b.Exec(t, "UPDATE trips SET status = 'DRAFT'")

		tx, err := b.DB.BeginTx(ctx, nil)
		require.NoError(t, err)

		defer func() { _ = tx.Rollback() }()

		for _, lock := range []string{
			"SELECT FROM buses FOR SHARE", "SELECT FROM hotels FOR SHARE", "SELECT FROM rest_stops FOR SHARE",
			"UPDATE trips SET status = 'PUBLISHED'",
		} {
			_, err = tx.ExecContext(ctx, lock)
			require.NoError(t, err)
		}

		type answer struct {
			affected *models.Affected
			err      error
		}

		done := make(chan answer, 1)

		go func() {
			affected, err := part.set(ctx, b, staff, status)
			done <- answer{affected, err}
		}()

		require.Eventually(t, func() bool {
			return b.Count(t, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") == 1
		}, time.Minute, 10*time.Millisecond)
		require.NoError(t, tx.Commit())

		got := <-done
		require.NoError(t, got.err)
		require.EqualValues(t, 1, got.affected.Total)
	})
}
