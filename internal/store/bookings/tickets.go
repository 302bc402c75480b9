package bookings

import (
	"context"

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

// Ticketed reads a booking for its ticket, in whatever state it is: in one statement, since every confirmation of a payment needs it.
// Error: NOT_FOUND.
func (s *Store) Ticketed(ctx context.Context, id uuid.UUID) (Ticketed, error) {
	var row struct {
		models.Booking `bun:",extend"`

		Trip         models.Trip `bun:"embed:of_"` // trip_ would make its id the column trip_id of the booking
		CompanyName  string      `bun:"company_name"`
		CompanyPhone string      `bun:"company_phone"`
	}

	err := s.db.NewSelect().Model(&row).ColumnExpr("?", db.Columns[models.Booking](s.db, "bk")).ColumnExpr(cancelledPositions).
		ColumnExpr("?", db.Embedded[models.Trip](s.db, "t", "of_")).
		ColumnExpr("p.name AS company_name, p.phone AS company_phone").
		Join("JOIN trips AS t ON t.id = bk.trip_id").Join("JOIN providers AS p ON p.id = bk.provider_id").
		Where("bk.id = ?", id).Scan(db.Prepared(ctx))
	if err != nil {
		return Ticketed{}, db.NotFound(err)
	}

	t := Ticketed{Booking: row.Booking, Trip: row.Trip, CompanyPhone: row.CompanyPhone}
	t.Trip.ProviderName = row.CompanyName
	t.Policy = t.Booking.CancellationPolicy(s.policies.Cancellation)

	return t, nil
}
