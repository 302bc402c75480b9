package bookings

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// mayMove says whether the departure of a published trip, whose row is locked, can be changed as it is meant to be. Errors:
// INVALID_STATE for a trip that has left with customers, VALIDATION_ERROR on departure_at.
func mayMove(was, is *models.Trip, now time.Time) error {
	// Customers who have travelled would get a right to all of their money back.
	if was.SeatsTaken > 0 && !was.DepartureAt.After(now) {
		return models.NewError(models.CodeInvalidState,
			"trip.left", "at", was.DepartureAt, "n", was.SeatsTaken)
	}

	// A departure in the past hides the trip: that is no way to end one that has been sold.
	if !is.DepartureAt.After(now) {
		return models.Invalid("departure_at", "trip.departure_past")
	}

	return nil
}

// holdsSeats reports whether seats of the trip are the booking's: it is paid, or may be paid at this moment.
func holdsSeats(b *models.Booking) bool {
	return b.Status == models.BookingConfirmed || b.Status == models.BookingPendingPayment
}

// leavesNotice says whether customers to whom a move gives a right to their money have the time to use it: that right ends
// when the trip leaves. Later than it was to leave it may leave at any time. Error: VALIDATION_ERROR on departure_at.
func leavesNotice(p models.Policies, was, is *models.Trip, bookings []models.Booking, now time.Time) error {
	if !is.DepartureAt.Before(was.DepartureAt) || !is.DepartureAt.Before(now.Add(p.RescheduleNotice)) {
		return nil
	}

	for i := range bookings {
		b := &bookings[i]
		if holdsSeats(b) && models.GivesRefund(was.DepartureAt, is.DepartureAt, b.BookedDepartureAt, p.RescheduleTolerance) {
			return models.Invalid("departure_at", "trip.notice", "notice", p.RescheduleNotice)
		}
	}

	return nil
}

// movesLeft says whether a trip, whose row is locked, can be moved once more today: every move is a message to all of its customers.
// Moves before the first of them count for none. Error: INVALID_STATE.
func movesLeft(ctx context.Context, p models.Policies, tx bun.Tx, trip uuid.UUID, bookings []models.Booking, now time.Time) error {
	var first time.Time

	for i := range bookings {
		if b := &bookings[i]; holdsSeats(b) && (first.IsZero() || b.CreatedAt.Before(first)) {
			first = b.CreatedAt
		}
	}

	if p.TripMovesPerDay == 0 || first.IsZero() {
		return nil
	}

	today := models.DateIn(now).Start()

	n, err := tx.NewSelect().TableExpr("trip_moves").Where("trip_id = ?", trip).
		Where("moved_at >= greatest(?::timestamptz, ?)", today, first).Count(ctx)
	if err != nil {
		return fmt.Errorf("count moves: %w", err)
	}

	if int(n) >= p.TripMovesPerDay {
		return models.NewError(models.CodeInvalidState, "trip.moved_too_often", "n", n)
	}

	return nil
}
