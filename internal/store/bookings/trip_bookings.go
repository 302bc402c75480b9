package bookings

import (
	"context"
	"time"

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

// TripBookings lists the bookings of a trip, oldest first, as the company that runs it sees them at now: document numbers are masked, and
// of the contact there is the phone alone, where the company may call it. trip is one that the actor sees
// (catalogue.Store.GetProviderTrip). Errors: VALIDATION_ERROR on sort and cursor.
func (s *Store) TripBookings(
	ctx context.Context, trip *models.Trip, f TripBookingFilter, now time.Time,
) (db.Listed[models.Booking], error) {
	q := db.WhereEqual(s.db.NewSelect().Where("bk.trip_id = ?", trip.ID), "bk.status", f.Status)

	list, err := db.List[models.Booking](ctx, q, f.Page, tripBookingOrder)

	for i := range list.Items {
		list.Items[i].ShowToCompany(trip, now)
	}

	return list, err
}
