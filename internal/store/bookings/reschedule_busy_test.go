package bookings_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/uptrace/bun"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// beside calls its functions right before a store's transaction locks bookings, and before it locks a trip.
type beside struct{ bookings, trip func() }

func (h beside) BeforeQuery(ctx context.Context, e *bun.QueryEvent) context.Context {
	switch {
	case strings.HasSuffix(e.Query, "FOR NO KEY UPDATE OF bk"):
		h.bookings()
	case strings.HasSuffix(e.Query, "FOR NO KEY UPDATE") && strings.Contains(e.Query, `FROM "trips"`):
		h.trip()
	}

	return ctx
}

func (beside) AfterQuery(context.Context, *bun.QueryEvent) {}

// setupBusyTrip opens the database twice: what the hook does beside the second store goes through the first.
func setupBusyTrip(t *testing.T) (_ *books, mover *books) {
	t.Helper()

	url := storetest.Database(t)
	s, db := storetest.OpenAt(t, url, models.DefaultPolicies())
	b := bundle(t, s, db)

	other := *b
	other.Store, _ = storetest.OpenAt(t, url, models.DefaultPolicies())

	return b, &other
}

// A trip that is booked at every moment can be moved: a booking that appears before the trip is locked is locked then.
func TestATripThatSellsIsMoved(t *testing.T) {
	t.Parallel()
	b, mover := setupBusyTrip(t)

	var appeared []models.Booking

	storetest.Watch(mover.Store, beside{bookings: func() {}, trip: func() { appeared = append(appeared, b.Book(t, b.Trip, 1)) }})
	mover.move(t, 3*time.Hour)

	require.Len(t, appeared, 1)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM bookings WHERE id = $1 AND rescheduled_by IS NOT NULL", appeared[0].ID))
}

// A booking that appears and is locked by another transaction at once may be waiting for the trip: the move begins again, and ends with
// an error that asks for another try.
func TestAMoveThatAlwaysMeetsALockedBooking(t *testing.T) {
	t.Parallel()
	b, mover := setupBusyTrip(t)

	var holder *sql.Tx

	release := func() {
		if holder != nil {
			require.NoError(t, holder.Rollback())
			holder = nil
		}
	}
	defer release()

	storetest.Watch(mover.Store, beside{bookings: release, trip: func() {
		appeared := b.Book(t, b.Trip, 1)

		var err error
		holder, err = b.DB.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		_, err = holder.ExecContext(t.Context(), "SELECT FROM bookings WHERE id = $1 FOR UPDATE", appeared.ID)
		require.NoError(t, err)
	}})

	bookstest.RequireCode(t, models.CodeServiceUnavailable, mover.tryMove(t, b.Trip.DepartureAt.Add(3*time.Hour)))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM trip_moves"))
}
