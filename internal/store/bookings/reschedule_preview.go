package bookings

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"rihla/internal/store/db"
	"rihla/models"
)

// MoveEffect is whom moving a trip concerns.
type MoveEffect struct {
	Bookings        int // paid ones, whose customers get messages
	Seats           int // of these
	Unpaid          int // bookings that wait for their payment
	Refundable      int // paid ones that may have a full refund after it
	RefundableTotal models.Money
}

// PreviewMove says whom changing the departure of a trip that the actor sees would concern now, by the rules of UpdateTrip; of one that is
// not PUBLISHED, or not moved by it, no one. Whether it may be moved so, UpdateTrip says. Errors: NOT_FOUND, FORBIDDEN.
func (s *Store) PreviewMove(ctx context.Context, by db.Actor, trip uuid.UUID, to time.Time) (MoveEffect, error) {
	var out MoveEffect

	was, err := s.catalogue.GetProviderTrip(ctx, by, trip)
	if err != nil {
		return out, err
	}

	is := was
	is.DepartureAt = to

	if !departureMoved(&was, &is) {
		return out, nil
	}

	var bookings []models.Booking

	err = s.db.NewSelect().Model(&bookings).Where("bk.trip_id = ?", trip).Where("bk.status <> ?", models.BookingCancelled).Scan(ctx)
	if err != nil {
		return out, fmt.Errorf("read bookings: %w", err)
	}

	_, paid, err := paidOf(ctx, s.db, trip)
	if err != nil {
		return out, err
	}

	for i := range bookings {
		b := &bookings[i]

		payment, told := paid[b.ID]
		if !told {
			if b.Status == models.BookingPendingPayment {
				out.Unpaid++
			}

			continue
		}

		out.Bookings++
		out.Seats += b.Seats

		if getsRefund(b, &was, &is, s.policies.RescheduleTolerance) {
			out.Refundable++
			out.RefundableTotal = out.RefundableTotal.Add(payment.Remaining())
		}
	}

	return out, nil
}
