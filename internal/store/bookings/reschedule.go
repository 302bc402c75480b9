package bookings

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/internal/store/catalogue"
	"rihla/internal/store/db"
	"rihla/models"
)

// errBookingAppeared rolls back a move of a trip: a booking was made beside it, and another transaction has locked that.
var errBookingAppeared = models.NewError(models.CodeServiceUnavailable, "trip.being_booked")

// UpdateTrip changes a trip under its row lock; apply gets it as it is, RestStopIDs included, may run more than once,
// and its error is returned. The status and the seats taken stay as they are. When the departure of a PUBLISHED trip changes,
// every customer who has paid is notified, and beyond RescheduleTolerance every booking keeps the right to a full refund. Errors:
// NOT_FOUND and those of CreateTrip, of a PUBLISHED trip that is still to leave those of PublishTrip; VALIDATION_ERROR on departure_at
// when a PUBLISHED trip is moved into the past, or so near that its customers have less than RescheduleNotice for the refund that the
// move gives them;
// INVALID_STATE when one is moved that has left with seats taken, or has been moved TripMovesPerDay times today;
// SERVICE_UNAVAILABLE when a booking that was just made is locked by another transaction at each of a few tries.
func (s *Store) UpdateTrip(
	ctx context.Context, by db.Actor, id uuid.UUID, apply func(*models.Trip) error, now time.Time,
) (t models.Trip, err error) {
	// Bookings are locked before their trip, as everywhere. Only once the trip is locked no further booking can be made. One that
	// was made in between is locked then, if that needs no waiting: who has it may be waiting for the trip.
	for range db.MaxTxTries {
		m := &tripMove{store: s, by: by, apply: apply, now: now}

		t, err = s.catalogue.ChangeTrip(ctx, by, id, m.lockBookings, m.update)
		if !errors.Is(err, errBookingAppeared) {
			break
		}
	}

	return t, err
}

// tripMove carries one try of UpdateTrip through its steps.
type tripMove struct {
	store  *Store
	by     db.Actor
	apply  func(*models.Trip) error
	now    time.Time
	locked map[uuid.UUID]bool // bookings of the trip
}

// seatHoldingBookings are the bookings of a trip that hold seats, or may hold them again when their payment comes late.
func seatHoldingBookings(tx bun.Tx, trip uuid.UUID) *bun.SelectQuery {
	return tx.NewSelect().Model((*models.Booking)(nil)).Column("bk.id").
		Where("bk.trip_id = ?", trip).Where("bk.status <> ?", models.BookingCancelled)
}

// lockBookings locks the trip's bookings when the change moves it: a payment that is being settled is either seen by the move, or
// sees it.
func (m *tripMove) lockBookings(ctx context.Context, tx bun.Tx, seen *models.Trip) error {
	m.locked = map[uuid.UUID]bool{}

	// A wrong change is reported under the lock.
	to := *seen
	if wrong := m.apply(&to); wrong != nil || seen.Status != models.TripPublished || to.DepartureAt.Equal(seen.DepartureAt) {
		return nil //nolint:nilerr // see above
	}

	var ids []uuid.UUID
	if err := seatHoldingBookings(tx, seen.ID).Order("bk.id").For("NO KEY UPDATE OF bk").Scan(ctx, &ids); err != nil {
		return fmt.Errorf("lock bookings: %w", err)
	}

	for _, id := range ids {
		m.locked[id] = true
	}

	return nil
}

func (m *tripMove) update(ctx context.Context, tx bun.Tx, t *models.Trip) error {
	was := *t

	if t.Status.IsCalledOff() {
		return models.NewError(models.CodeInvalidState, "trip_cancellation.fixed", "status", t.Status)
	}

	return catalogue.SaveTrip(ctx, tx, m.by, t, func(t *models.Trip) error {
		err := m.apply(t)
		t.Status, t.SeatsTaken = was.Status, was.SeatsTaken

		if err == nil && departureMoved(&was, t) {
			err = mayMove(&was, t, m.now)
		}

		return err
	}, func(ctx context.Context, tx bun.Tx, t *models.Trip) error {
		if !departureMoved(&was, t) {
			return nil
		}

		return m.record(ctx, tx, &was, t)
	}, m.now)
}

func departureMoved(was, is *models.Trip) bool {
	return was.Status == models.TripPublished && !was.DepartureAt.Equal(is.DepartureAt)
}

// record writes the move down, gives the right to a refund to those whom it gives it, and tells those who have paid.
func (m *tripMove) record(ctx context.Context, tx bun.Tx, was, is *models.Trip) error {
	ids, err := m.lockAppeared(ctx, tx, is.ID)
	if err != nil {
		return err
	}

	var bookings []models.Booking
	if err := tx.NewSelect().Model(&bookings).Where("bk.id IN (?)", bun.List(ids)).Order("bk.id").Scan(ctx); err != nil {
		return fmt.Errorf("read bookings: %w", err)
	}

	if err := leavesNotice(m.store.policies, was, is, bookings, m.now); err != nil {
		return err
	}

	if err := movesLeft(ctx, m.store.policies, tx, is.ID, bookings, m.now); err != nil {
		return err
	}

	move, tolerance := models.NewID(), m.store.policies.RescheduleTolerance

	_, err = tx.NewRaw(`INSERT INTO trip_moves (id, trip_id, departure_from, departure_to, tolerance, moved_by)
		VALUES (?, ?, ?, ?, ? * interval '1 microsecond', ?)`,
		move, is.ID, was.DepartureAt, is.DepartureAt, tolerance.Microseconds(), db.NullableID(m.by.UserID)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("insert move: %w", err)
	}

	if err := grantRefunds(ctx, tx, move, was, is, bookings, tolerance); err != nil {
		return err
	}

	return queueMoveMessages(ctx, tx, move, was, is, bookings)
}

// lockAppeared returns the trip's bookings, all of them locked: the trip is, so there will be no others. Error: errBookingAppeared.
func (m *tripMove) lockAppeared(ctx context.Context, tx bun.Tx, trip uuid.UUID) ([]uuid.UUID, error) {
	var ids, appeared, free []uuid.UUID
	if err := seatHoldingBookings(tx, trip).Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("read bookings: %w", err)
	}

	for _, id := range ids {
		if !m.locked[id] {
			appeared = append(appeared, id)
		}
	}

	if len(appeared) == 0 {
		return ids, nil
	}

	err := seatHoldingBookings(tx, trip).Where("bk.id IN (?)", bun.List(appeared)).For("NO KEY UPDATE OF bk SKIP LOCKED").Scan(ctx, &free)
	if err != nil {
		return nil, fmt.Errorf("lock bookings: %w", err)
	}

	if len(free) < len(appeared) {
		return nil, errBookingAppeared
	}

	return ids, nil
}

// getsRefund reports whether the customer of a booking may have a full refund once the trip is moved: by this move, or by an earlier one.
func getsRefund(b *models.Booking, was, is *models.Trip, tolerance time.Duration) bool {
	return b.RescheduledBy != nil || models.GivesRefund(was.DepartureAt, is.DepartureAt, b.BookedDepartureAt, tolerance)
}

// grantRefunds keeps with each booking the first move that gave its customer the right to a full refund.
func grantRefunds(
	ctx context.Context, tx bun.Tx, move uuid.UUID, was, is *models.Trip, bookings []models.Booking, tolerance time.Duration,
) error {
	var due []uuid.UUID

	for i := range bookings {
		b := &bookings[i]
		if b.RescheduledBy == nil && getsRefund(b, was, is, tolerance) {
			b.RescheduledBy = &move
			due = append(due, b.ID)
		}
	}

	if len(due) == 0 {
		return nil
	}

	_, err := tx.NewUpdate().Model((*models.Booking)(nil)).Set("rescheduled_by = ?", move).Set("updated_at = now()").
		Where("id IN (?)", bun.List(due)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("grant refunds: %w", err)
	}

	return nil
}
