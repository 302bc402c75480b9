package bookings

import (
	"context"
	"time"

	"github.com/google/uuid"

	"rihla/internal/store/db"
	"rihla/models"
)

// TripBookingFilter narrows the list of a trip's bookings; zero fields do not.
type TripBookingFilter struct {
	Status models.BookingStatus
	Page   db.Page
}

var tripBookingOrder = db.Order{
	Columns:  map[string]string{"created_at": "bk.created_at", "booking_number": "bk.booking_number"},
	ID:       "bk.id",
	Fallback: db.Sort{Field: "created_at"},
}

// TripBookings lists the bookings of a trip that the actor sees, oldest first, as the company that runs it sees them at now: document
// numbers are masked, and of the contact there is the phone alone, where the company may call it. Errors: VALIDATION_ERROR on sort and
// cursor, NOT_FOUND, also for a trip of another company, FORBIDDEN.
func (s *Store) TripBookings(
	ctx context.Context, by db.Actor, trip uuid.UUID, f TripBookingFilter, now time.Time,
) (db.Listed[models.Booking], error) {
	// Faults of the request are reported before what does not exist (rules: scope.hidden).
	if _, err := db.NewKeyset[models.Booking](s.db.DB, tripBookingOrder, f.Page); err != nil {
		return db.Listed[models.Booking]{}, err
	}

	t, err := s.catalogue.GetProviderTrip(ctx, by, trip)
	if err != nil {
		return db.Listed[models.Booking]{}, err
	}

	q := db.WhereEqual(s.db.NewSelect().Where("bk.trip_id = ?", t.ID), "bk.status", f.Status)

	list, err := db.List[models.Booking](ctx, q, f.Page, tripBookingOrder)
	if err != nil {
		return list, err
	}

	for i := range list.Items {
		list.Items[i].ShowToCompany(&t, now)
	}

	return list, WithCancelled(ctx, s.db, list.Items)
}
