package refunds

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/bookings"
	"rihla/models"
)

// QuoteCancellation says what cancelling passengers of a paid booking by the policy would come to at now; none are all that are left (rules:
// cancellations.quote). It also returns the positions of the passengers. Errors: NOT_FOUND; VALIDATION_ERROR on passenger_ids; INVALID_STATE
// when the booking is not CONFIRMED, a passenger is cancelled, or a cancellation waits for an approval.
func (s *Store) QuoteCancellation(
	ctx context.Context, booking uuid.UUID, passengers []uuid.UUID, now time.Time,
) (models.CancelQuote, []int, error) {
	b, err := s.bookings.BookingByID(ctx, booking)
	if err != nil {
		return models.CancelQuote{}, nil, err
	}

	rows := []models.Booking{b}
	if err := bookings.WithCancelled(ctx, s.db, rows); err != nil {
		return models.CancelQuote{}, nil, err
	}

	return s.quote(ctx, s.db, &rows[0], passengers, now)
}

// quote is QuoteCancellation of a booking that was read with its cancelled passengers.
func (s *Store) quote(
	ctx context.Context, in bun.IDB, b *models.Booking, passengers []uuid.UUID, now time.Time,
) (q models.CancelQuote, positions []int, err error) {
	if err := b.Cancellable(); err != nil {
		return q, nil, err
	}

	if positions, err = b.PositionsOf(passengers); err != nil {
		return q, nil, err
	}

	t, err := refundable(ctx, in.NewSelect(), b.ID)
	if err != nil {
		return q, nil, err
	}

	if q.Terms, err = s.terms(ctx, in, t, now); err != nil {
		return q, nil, err
	}

	all, err := cancellationsOf(ctx, in, b.ID)
	if err != nil {
		return q, nil, err
	}

	earlier, err := earlierParts(all)
	if err != nil {
		return q, nil, err
	}

	q.Part = t.CancelPart(earlier, len(b.Passengers), len(positions), q.Terms.Percent)

	return q, positions, nil
}
