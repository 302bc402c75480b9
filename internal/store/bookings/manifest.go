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

// Travelling is a passenger of a trip: of a CONFIRMED booking, and not cancelled.
type Travelling struct {
	models.Passenger

	ID            uuid.UUID
	Position      int
	BookingID     uuid.UUID
	BookingNumber string
	ContactPhone  string
	CheckedInAt   *time.Time
}

// Manifest is the passengers of a trip that the actor sees, with whole document numbers; that they were read is in the audit log. Errors:
// NOT_FOUND, FORBIDDEN, INVALID_STATE while the list is closed (models.Trip.ManifestOpen).
func (s *Store) Manifest(ctx context.Context, by db.Actor, trip uuid.UUID, now time.Time) (models.Trip, []Travelling, error) {
	t, err := s.catalogue.GetProviderTrip(ctx, by, trip)
	if err != nil {
		return t, nil, err
	}

	if err := t.ManifestOpen(now); err != nil {
		return t, nil, err
	}

	var all []Travelling

	err = s.db.InTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if all, err = travelling(ctx, tx, t.ID); err != nil {
			return err
		}

		return db.Audit(ctx, tx, by, models.AuditTripManifestRead, models.EntityTrip, &t.ID, map[string]any{"passengers": len(all)})
	})

	return t, all, err
}

// CheckIns are the passengers of a trip that the actor sees, and when each of them was checked in. Errors: NOT_FOUND, FORBIDDEN.
func (s *Store) CheckIns(ctx context.Context, by db.Actor, trip uuid.UUID) ([]Travelling, error) {
	t, err := s.catalogue.GetProviderTrip(ctx, by, trip)
	if err != nil {
		return nil, err
	}

	return travelling(ctx, s.db, t.ID)
}

// travelling reads the passengers of a trip, by booking number and position.
func travelling(ctx context.Context, in bun.IDB, trip uuid.UUID) ([]Travelling, error) {
	var rows []models.Booking

	err := in.NewSelect().Model(&rows).Where("bk.trip_id = ?", trip).Where("bk.status = ?", models.BookingConfirmed).
		Order("bk.booking_number").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read bookings of trip: %w", err)
	}

	if err := WithCancelled(ctx, in, rows); err != nil {
		return nil, err
	}

	checked, err := checkInsOf(ctx, in, trip)
	if err != nil {
		return nil, err
	}

	var all []Travelling

	for i := range rows {
		b := &rows[i]

		for _, position := range b.LivePositions() {
			one := Travelling{
				Passenger: b.Passengers[position-1], ID: models.PassengerID(b.ID, position), Position: position, BookingID: b.ID,
				BookingNumber: b.Number, ContactPhone: b.ContactPhone,
			}

			if c, ok := checked[one.ID]; ok {
				one.CheckedInAt = &c.CheckedInAt
			}

			all = append(all, one)
		}
	}

	return all, nil
}

// checkInsOf are the check-ins of a trip, by passenger.
func checkInsOf(ctx context.Context, in bun.IDB, trip uuid.UUID) (map[uuid.UUID]models.CheckIn, error) {
	var rows []models.CheckIn

	if err := in.NewSelect().Model(&rows).Where("ci.trip_id = ?", trip).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read check-ins: %w", err)
	}

	checked := make(map[uuid.UUID]models.CheckIn, len(rows))
	for _, c := range rows {
		checked[models.PassengerID(c.BookingID, c.Position)] = c
	}

	return checked, nil
}
