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

// LockBooking locks a booking and reads it with its cancelled passengers. Error: NOT_FOUND.
func LockBooking(ctx context.Context, tx bun.Tx, id uuid.UUID) (models.Booking, error) {
	var b models.Booking
	if err := tx.NewSelect().Model(&b).Where("bk.id = ?", id).For("NO KEY UPDATE").Scan(ctx); err != nil {
		return b, db.NotFound(err)
	}

	rows := []models.Booking{b}
	err := WithCancelled(ctx, tx, rows)

	return rows[0], err
}

// cancelledPositions are read with a booking that is read alone.
const cancelledPositions = "(SELECT array_agg(position::int ORDER BY position) FROM cancelled_passengers WHERE booking_id = bk.id) " +
	"AS cancelled_positions"

// WithCancelled reads which passengers of bookings were cancelled one by one: one query.
func WithCancelled(ctx context.Context, in bun.IDB, rows []models.Booking) error {
	if len(rows) == 0 {
		return nil
	}

	ids := make([]uuid.UUID, len(rows))
	at := make(map[uuid.UUID]int, len(rows))

	for i := range rows {
		ids[i], at[rows[i].ID] = rows[i].ID, i
		rows[i].CancelledPositions = nil
	}

	var cancelled []struct {
		BookingID uuid.UUID
		Position  int
	}

	err := in.NewSelect().TableExpr("cancelled_passengers").Column("booking_id", "position").
		Where("booking_id IN (?)", bun.List(ids)).Order("booking_id", "position").Scan(db.Prepared(ctx), &cancelled)
	if err != nil {
		return fmt.Errorf("read cancelled passengers: %w", err)
	}

	for _, c := range cancelled {
		b := &rows[at[c.BookingID]]
		b.CancelledPositions = append(b.CancelledPositions, c.Position)
	}

	return nil
}

// Cancellations are those of a booking that are DONE, first to last.
func Cancellations(ctx context.Context, in bun.IDB, booking uuid.UUID) ([]models.Cancellation, error) {
	var done []models.Cancellation

	err := in.NewSelect().Model(&done).Where("cn.booking_id = ?", booking).Where("cn.status = ?", models.CancellationDone).
		Order("cn.n").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read cancellations: %w", err)
	}

	return done, nil
}

// CancelPassengers carries out a cancellation that is DONE: its passengers are cancelled and their seats free; with the last of them the
// booking is CANCELLED. b is locked, as by LockBooking.
func CancelPassengers(ctx context.Context, tx bun.Tx, b *models.Booking, c *models.Cancellation, now time.Time) error {
	_, err := tx.NewRaw(`INSERT INTO cancelled_passengers (booking_id, position, cancellation_id)
		SELECT booking_id, unnest(positions), id FROM cancellations WHERE id = ?`, c.ID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("cancel passengers: %w", err)
	}

	b.CancelledPositions = append(b.CancelledPositions, c.Positions...)

	if len(b.LivePositions()) == 0 {
		if err := TransitionBooking(ctx, tx, b, models.BookingCancelled, now); err != nil {
			return err
		}

		return freeSeats(ctx, tx, b.TripID, b.Seats)
	}

	res, err := tx.NewUpdate().Model(b).Set("seats = seats - ?", c.Seats).Set("updated_at = ?", now).WherePK().
		Where(db.Still, bun.Ident("status"), models.BookingConfirmed).Where(db.Still, bun.Ident("seats"), b.Seats).Exec(ctx)
	if err != nil {
		return fmt.Errorf("take seats off booking: %w", err)
	}

	if err := db.AffectedOne(res, "booking"); err != nil {
		return err
	}

	b.Seats -= c.Seats

	return freeSeats(ctx, tx, b.TripID, c.Seats)
}

// CloseRequest ends the open cancellation request of a booking that is CANCELLED otherwise, in the service's own name: nothing is left to
// decide. but is the request that is being carried out; uuid.Nil: none. It returns the request that it has ended, whose workflow the caller
// has look at it once this is committed; uuid.Nil: none.
func CloseRequest(ctx context.Context, tx bun.Tx, b *models.Booking, but uuid.UUID, now time.Time) (uuid.UUID, error) {
	if b.Status != models.BookingCancelled {
		return uuid.Nil, nil
	}

	var ended []uuid.UUID

	_, err := tx.NewUpdate().Model((*models.CancellationRequest)(nil)).Set("status = ?", models.CancellationWithdrawn).
		Set("decided_at = ?", now.Truncate(time.Microsecond)).Where("booking_id = ?", b.ID).Where("id <> ?", but).
		Where(db.Still, bun.Ident("status"), models.CancellationRequested).Returning("id").Exec(ctx, &ended)

	switch {
	case err != nil:
		return uuid.Nil, fmt.Errorf("close cancellation request: %w", err)
	case len(ended) == 0:
		return uuid.Nil, nil
	default:
		return ended[0], nil // a booking has one open request
	}
}

// CalledOff is the SQL condition that a trip does not run: it is CANCELLED, or being cancelled without an approval that is missing.
func CalledOff(alias string) string {
	return "(" + alias + ".status = 'CANCELLED' OR " + alias + ".status = 'CANCELLING' AND EXISTS (SELECT FROM trip_cancellations AS off " +
		"WHERE off.trip_id = " + alias + ".id AND off.status = 'CANCELLING' AND NOT off.approval_pending))"
}
