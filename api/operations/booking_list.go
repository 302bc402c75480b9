package operations

import (
	"context"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/api/middleware"
	"rihla/internal/store/bookings"
	"rihla/models"
)

// ListBookings lists the bookings of all customers.
func (o *Operations) ListBookings(ctx context.Context, r gen.ListBookingsRequestObject) (gen.ListBookingsResponseObject, error) {
	q := r.Params

	span, err := daysOf(nil, q.DateFrom, q.DateTo, o.Now())
	if err != nil {
		return nil, err
	}

	p := pageOf(q.Page, q.PerPage, q.Sort, q.Cursor)

	list, err := o.Store.Bookings.ListBookings(ctx, bookings.BookingFilter{
		Status: valueOf(q.Status), TripID: valueOf(q.TripID), ProviderID: valueOf(q.ProviderID), UserID: valueOf(q.UserID),
		Days: span, Search: valueOf(q.Search), Page: p,
	})
	if err != nil {
		return nil, err
	}

	all := mapEach(list.Items, func(b *bookings.ListedBooking) models.Booking { return b.Booking })
	if err := bookings.WithCancelled(ctx, o.Store.DB, all); err != nil {
		return nil, err
	}

	out, err := o.bookingsOf(ctx, all)

	return gen.ListBookings200JSONResponse{Data: out, Meta: metaOf(p, list)}, err
}

// bookingsOf are bookings with their payment attempts that count, and with the document numbers that the caller may read.
func (o *Operations) bookingsOf(ctx context.Context, bookings []models.Booking) ([]gen.Booking, error) {
	attempts, err := o.Store.Bookings.LatestAttempts(ctx, mapEach(bookings, func(b *models.Booking) uuid.UUID { return b.ID })...)
	if err != nil {
		return nil, err
	}

	if err := o.guardDocuments(ctx, bookings); err != nil {
		return nil, err
	}

	departures, err := o.Store.Catalogue.Departures(ctx, mapEach(bookings, func(b *models.Booking) uuid.UUID { return b.TripID })...)
	if err != nil {
		return nil, err
	}

	return mapEach(bookings, func(b *models.Booking) gen.Booking { return bookingWith(b, attempts[b.ID], departures[b.TripID]) }), nil
}

// guardDocuments masks the document numbers of other people's bookings, unless the caller is an admin, whose reading of them
// is noted before they are answered.
func (o *Operations) guardDocuments(ctx context.Context, bookings []models.Booking) error {
	caller := middleware.Principal(ctx)

	var read []models.Booking

	for i := range bookings {
		b := &bookings[i]

		switch {
		case b.UserID == caller.UserID || !b.HasDocuments():
		case caller.Role.IsAdmin():
			read = append(read, *b)
		default:
			b.MaskDocuments()
		}
	}

	return o.Store.Bookings.NoteDocumentsRead(ctx, actor(ctx), read)
}
