package tripcancel_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/tripcancel"
	"rihla/models"
)

// books is bookstest.Books with the steps of this package's tests.
type books struct{ *bookstest.Books }

func setup(t *testing.T, own ...models.Policies) *books {
	t.Helper()

	return &books{bookstest.NewBooks(t, own...)}
}

func (b *books) preview(t *testing.T) models.TripCancellationSums {
	t.Helper()

	sums, err := b.Store.TripCancellations.Preview(t.Context(), bookstest.As(b.World, models.RoleProviderStaff), b.Trip.ID, time.Now())
	require.NoError(t, err)

	return sums
}

// order has the company call its trip off, as it was previewed.
func (b *books) order(t *testing.T) tripcancel.Ordered {
	t.Helper()

	out, err := b.tryOrder(t, b.preview(t).RefundTotal, time.Now())
	require.NoError(t, err)

	return out
}

func (b *books) tryOrder(t *testing.T, total models.Money, now time.Time) (tripcancel.Ordered, error) {
	t.Helper()

	return b.Store.TripCancellations.Order(t.Context(), bookstest.As(b.World, models.RoleProviderAdmin), tripcancel.Order{
		TripID: b.Trip.ID, Reason: "The bus broke down", Expected: total,
	}, now)
}

// cancelAll does what the workflow does with the bookings of the trip, once over, and has the gateway make the refunds.
func (b *books) cancelAll(t *testing.T, id uuid.UUID) (blocked int) {
	t.Helper()

	var after uuid.UUID

	for {
		ids, err := b.Store.TripCancellations.Next(t.Context(), b.Trip.ID, after, 3)
		require.NoError(t, err)

		if len(ids) == 0 {
			return blocked
		}

		for _, booking := range ids {
			after = booking
			out, err := b.Store.TripCancellations.CancelBooking(t.Context(), id, booking, time.Now())
			require.NoError(t, err)

			if out.Blocked != "" {
				blocked++
			}
		}
	}
}

// grantAll has the gateway make all refunds that are under way.
func (b *books) grantAll(t *testing.T) {
	t.Helper()

	for _, id := range b.ids(t, "SELECT id FROM refunds WHERE status = 'PENDING' AND NOT approval_pending") {
		_, err := b.Store.Refunds.SettleRefund(t.Context(), id, bookstest.Granted(models.RefundRequest{ID: id}), time.Now())
		require.NoError(t, err)
	}
}

func (b *books) finish(t *testing.T, id uuid.UUID) bool {
	t.Helper()

	done, err := b.Store.TripCancellations.Finish(t.Context(), id, time.Now())
	require.NoError(t, err)

	return done
}

// ids are what a query finds.
func (b *books) ids(t *testing.T, query string, args ...any) (ids []uuid.UUID) {
	t.Helper()

	rows, err := b.DB.QueryContext(t.Context(), query, args...)
	require.NoError(t, err)

	defer rows.Close()

	for rows.Next() {
		var id uuid.UUID

		require.NoError(t, rows.Scan(&id))

		ids = append(ids, id)
	}

	require.NoError(t, rows.Err())

	return ids
}
