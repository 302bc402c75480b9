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
// (rules: cancellations.quote). It also returns the positions of the passengers, and what else the order of by would be. Errors: NOT_FOUND;
// VALIDATION_ERROR on passenger_ids; INVALID_STATE when the booking is not CONFIRMED, a passenger is cancelled, or a cancellation waits for
// an approval.
func (s *Store) QuoteCancellation(
	ctx context.Context, by, booking uuid.UUID, passengers []uuid.UUID, now time.Time,
) (models.CancelQuote, []int, error) {
	return s.QuoteOrder(ctx, by, booking, models.CancelOrder{Passengers: passengers}, now)
}

// QuoteOrder is QuoteCancellation of an order, which may carry out what was quoted before.
func (s *Store) QuoteOrder(
	ctx context.Context, by, booking uuid.UUID, o models.CancelOrder, now time.Time,
) (q models.CancelQuote, positions []int, err error) {
	b, err := s.bookings.BookingByID(ctx, booking)
	if err != nil {
		return q, nil, err
	}

	rows := []models.Booking{b}
	if err = bookings.WithCancelled(ctx, s.db, rows); err != nil {
		return q, nil, err
	}

	order, err := s.quote(ctx, s.db, &rows[0], o, now)
	if err != nil {
		return q, nil, err
	}

	order.quote.Now, err = s.cancelOutlook(ctx, by, &order, now)

	return order.quote, order.positions, err
}

// cancelOutlook is what else an order of by at now would be, for the passengers of a quote.
func (s *Store) cancelOutlook(ctx context.Context, by uuid.UUID, of *quotedOrder, now time.Time) (*models.CancelOutlook, error) {
	whole, _, err := s.priceOf(ctx, s.db, of.payment, of.out, models.CancelOrder{RefundBy: models.CancelInFull}, now)
	if err != nil {
		return nil, err
	}

	unpaid, _, err := s.priceOf(ctx, s.db, of.payment, of.out, models.CancelOrder{RefundBy: models.CancelUnpaid}, now)
	if err != nil {
		return nil, err
	}

	waits, day, err := s.outlook(ctx, s.db, of.payment, by, of.quote.Part.Refund, now)

	return &models.CancelOutlook{Full: whole.Refund, UnpaidFee: unpaid.Fee(), NeedsApproval: waits, ExpectedBy: day}, err
}

// QuoteIn is QuoteCancellation of a booking that was read with its cancelled passengers, without what else its order would be.
func (s *Store) QuoteIn(
	ctx context.Context, in bun.IDB, b *models.Booking, passengers []uuid.UUID, now time.Time,
) (models.CancelQuote, []int, error) {
	order, err := s.quote(ctx, in, b, models.CancelOrder{Passengers: passengers}, now)

	return order.quote, order.positions, err
}

// quotedOrder is a quote with what it was worked out of.
type quotedOrder struct {
	quote     models.CancelQuote
	positions []int
	payment   *models.PaymentTransaction
	out       takenOut
}

// quote prices the cancellation of o by the policy as CancelIn does, without a lock.
func (s *Store) quote(
	ctx context.Context, in bun.IDB, b *models.Booking, o models.CancelOrder, now time.Time,
) (out quotedOrder, err error) {
	if err = b.Cancellable(); err != nil {
		return out, err
	}

	if out.positions, err = b.PositionsOf(o.Passengers); err != nil {
		return out, err
	}

	if out.payment, err = boughtBy(ctx, in.NewSelect(), b); err != nil {
		return out, err
	}

	all, err := cancellationsOf(ctx, in, b.ID)
	if err != nil {
		return out, err
	}

	earlier, err := earlierParts(all)
	if err != nil {
		return out, err
	}

	o.RefundBy, out.out = models.CancelByPolicy, takenOutOf(b, earlier, out.positions)

	part, terms, err := s.priceOf(ctx, in, out.payment, out.out, o, now)
	if err != nil {
		return out, err
	}

	out.quote = models.CancelQuote{Terms: *terms, Part: part}

	return out, nil
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
func MessageSubject(
	ctx context.Context, tx bun.Tx, booking uuid.UUID,
) (b models.Booking, payment models.PaymentTransaction, trip models.Trip, err error) {
	if err = tx.NewSelect().Model(&b).Where("bk.id = ?", booking).Scan(ctx); err != nil {
		return b, payment, trip, db.NotFound(err)
	}

	if err = tx.NewSelect().Model(&trip).Column("title", "departure_at").Where("id = ?", b.TripID).Scan(ctx); err != nil {
		return b, payment, trip, fmt.Errorf("read trip: %w", err)
	}

	err = tx.NewSelect().Model(&payment).Where("booking_id = ?", booking).
		Where("kind = ?", models.KindPayment).Where("status = ?", models.TransactionPaid).Scan(ctx)

	return b, payment, trip, db.NotFound(err)
}
