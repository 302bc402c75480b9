package bookings

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/db"
	"rihla/models"
)

// TransitionBooking is the guarded UPDATE of a booking's state. seats_held follows the state, which the database checks.
func TransitionBooking(ctx context.Context, tx bun.Tx, b *models.Booking, to models.BookingStatus, now time.Time) error {
	res, err := Transition(tx, b, to, now).Exec(ctx)
	if err != nil {
		return fmt.Errorf("move booking: %w", err)
	}

	return db.AffectedOne(res, "booking")
}

// Transition is the UPDATE of TransitionBooking, for one that is written with others.
func Transition(tx bun.IDB, b *models.Booking, to models.BookingStatus, now time.Time) *bun.UpdateQuery {
	from := b.Status
	b.Status = to
	b.SeatsHeld = to == models.BookingPendingPayment || to == models.BookingConfirmed

	return tx.NewUpdate().Model(b).Column("status", "seats_held").Set("updated_at = ?", now).
		WherePK().Where(db.Still, bun.Ident("status"), from)
}

// FreeSeats gives a booking's seats back to its trip; the caller has just moved the booking to a state without seats.
func FreeSeats(ctx context.Context, tx bun.Tx, b *models.Booking) error {
	return freeSeats(ctx, tx, b.TripID, b.Seats)
}

func freeSeats(ctx context.Context, tx bun.Tx, trip uuid.UUID, seats int) error {
	_, err := tx.NewUpdate().Model((*models.Trip)(nil)).
		Set("seats_taken = seats_taken - ?", seats).Where("id = ?", trip).Exec(ctx)
	if err != nil {
		return fmt.Errorf("free seats: %w", err)
	}

	return nil
}
