package refunds

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/bookings"
	"rihla/internal/store/db"
	"rihla/models"
)

// QuoteCancellation says what cancelling passengers of a paid booking by the policy would come to at now; none are all that are left
// (rules: cancellations.quote). It also returns the positions of the passengers. Errors: NOT_FOUND; VALIDATION_ERROR on passenger_ids;
// INVALID_STATE when the booking is not CONFIRMED, a passenger is cancelled, or a cancellation waits for an approval.
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

	return s.QuoteIn(ctx, s.db, &rows[0], passengers, now)
}

// QuoteIn is QuoteCancellation of a booking that was read with its cancelled passengers.
func (s *Store) QuoteIn(
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

// LockPaidBooking locks a booking after the payment that has bought it, in the order in which cancellations and refunds do, and returns
// it with its cancelled passengers and the departure of now. Error: NOT_FOUND.
func LockPaidBooking(ctx context.Context, tx bun.Tx, id uuid.UUID) (b models.Booking, departure time.Time, err error) {
	_, err = tx.NewSelect().Model((*models.PaymentTransaction)(nil)).Column("id").Where("booking_id = ?", id).
		Where("kind = ?", models.KindPayment).Where("status = ?", models.TransactionPaid).For("NO KEY UPDATE").Exec(ctx)
	if err != nil {
		return b, departure, fmt.Errorf("lock payment: %w", err)
	}

	if b, err = bookings.LockBooking(ctx, tx, id); err != nil {
		return b, departure, err
	}

	err = tx.NewSelect().Model((*models.Trip)(nil)).Column("departure_at").Where("id = ?", b.TripID).Scan(ctx, &departure)

	return b, departure, err
}

// MessageSubject is what a message about a booking's cancellation is of: the booking, the payment that has bought it, and the trip.
func MessageSubject(ctx context.Context, tx bun.Tx, booking uuid.UUID) (b models.Booking, payment uuid.UUID, trip models.Trip, err error) {
	if err = tx.NewSelect().Model(&b).Where("bk.id = ?", booking).Scan(ctx); err != nil {
		return b, payment, trip, db.NotFound(err)
	}

	if err = tx.NewSelect().Model(&trip).Column("title", "departure_at").Where("id = ?", b.TripID).Scan(ctx); err != nil {
		return b, payment, trip, fmt.Errorf("read trip: %w", err)
	}

	err = tx.NewSelect().Model((*models.PaymentTransaction)(nil)).Column("id").Where("booking_id = ?", booking).
		Where("kind = ?", models.KindPayment).Where("status = ?", models.TransactionPaid).Scan(ctx, &payment)

	return b, payment, trip, db.NotFound(err)
}
