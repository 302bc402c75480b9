package bookings

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"rihla/internal/store/db"
	"rihla/models"
)

// Ticketed is a booking with its cancelled passengers, and what its ticket and mails about it show beside it.
type Ticketed struct {
	Booking      models.Booking
	Trip         models.Trip
	CompanyPhone string
	Policy       models.CancellationPolicy // by which it is cancelled
}

// Ticketed reads a booking for its ticket, in whatever state it is. Error: NOT_FOUND.
func (s *Store) Ticketed(ctx context.Context, id uuid.UUID) (Ticketed, error) {
	var t Ticketed

	b, err := s.BookingByID(ctx, id)
	if err != nil {
		return t, err
	}

	rows := []models.Booking{b}
	if err := WithCancelled(ctx, s.db, rows); err != nil {
		return t, err
	}

	t.Booking = rows[0]
	t.Policy = t.Booking.CancellationPolicy(s.policies.Cancellation)

	err = s.db.NewSelect().Model(&t.Trip).Where("t.id = ?", b.TripID).Scan(db.Prepared(ctx))
	if err != nil {
		return t, fmt.Errorf("read trip of ticket: %w", err)
	}

	err = s.db.NewSelect().Model((*models.Provider)(nil)).Column("name", "phone").Where("id = ?", b.ProviderID).
		Scan(db.Prepared(ctx), &t.Trip.ProviderName, &t.CompanyPhone)
	if err != nil {
		return t, fmt.Errorf("read company of ticket: %w", err)
	}

	return t, nil
}
