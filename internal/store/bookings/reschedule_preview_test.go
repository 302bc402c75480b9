package bookings_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookings"
	"rihla/internal/store/bookstest"
	"rihla/models"
)

func (b *books) previewMove(t *testing.T, by time.Duration) bookings.MoveEffect {
	t.Helper()

	now, err := b.Store.Catalogue.GetProviderTrip(t.Context(), bookstest.As(b.World, models.RoleProviderStaff), b.Trip.ID)
	require.NoError(t, err)

	e, err := b.Store.Bookings.PreviewMove(t.Context(), bookstest.As(b.World, models.RoleProviderStaff), b.Trip.ID, now.DepartureAt.Add(by))
	require.NoError(t, err)

	return e
}

// The preview of a move says whom the move then tells, and to whom it gives the right to a full refund.
func TestPreviewOfAMoveIsWhatTheMoveDoes(t *testing.T) {
	t.Parallel()
	b := setup(t)

	given := b.Paid(t, 1)
	b.Paid(t, 2)
	b.GiveBack(t, given, "15.00")
	b.Open(t, b.Book(t, b.Trip, 1), 1)
	b.Lapsed(t, b.Trip, 1)

	require.Zero(t, b.previewMove(t, 0), "nothing is moved")

	within := b.previewMove(t, 2*time.Hour)
	require.Equal(t, bookings.MoveEffect{Bookings: 2, Seats: 3, Unpaid: 1}, within)

	beyond := b.previewMove(t, 2*time.Hour+time.Second)
	require.Equal(t, "330.00", beyond.RefundableTotal.String(), "115.00 less 15.00, and 230.00")
	require.Equal(t, bookings.MoveEffect{Bookings: 2, Seats: 3, Unpaid: 1, Refundable: 2, RefundableTotal: beyond.RefundableTotal}, beyond)
	require.Zero(t, b.Count(t, "SELECT count(*) FROM trip_moves"), "nothing was done")

	b.move(t, 2*time.Hour+time.Second)
	require.Equal(t, beyond.Bookings, b.Count(t, "SELECT count(DISTINCT transaction_id) FROM notifications WHERE kind = 'TRIP_MOVED'"))
	require.Equal(t, beyond.Refundable, b.Count(t, `SELECT count(DISTINCT transaction_id) FROM notifications
		WHERE kind = 'TRIP_MOVED' AND data ->> 'refundable' = 'true'`))

	// The right stays, also by a move within the tolerance.
	require.Equal(t, 2, b.previewMove(t, -time.Hour).Refundable)

	_, err := b.Store.Bookings.PreviewMove(t.Context(), bookstest.As(b.World, models.RoleProviderStaff), models.NewID(), time.Now())
	bookstest.RequireCode(t, models.CodeNotFound, err)

	b.Exec(t, "UPDATE trips SET status = 'DRAFT' WHERE id = $1", b.Trip.ID)
	require.Zero(t, b.previewMove(t, time.Hour), "a draft is not sold")
}
