package operations

import (
	"context"
	"slices"

	"rihla/api/gen"
	"rihla/internal/store/bookings"
	"rihla/internal/store/catalogue"
	"rihla/models"
)

// ListProviderTrips lists the trips of the caller's company, or of all for admins, in every state (rules: scope.admins).
func (o *Operations) ListProviderTrips(
	ctx context.Context, r gen.ListProviderTripsRequestObject,
) (gen.ListProviderTripsResponseObject, error) {
	q := r.Params
	p := pageOf(q.Page, q.PerPage, q.Sort, q.Cursor)

	list, err := o.Store.Catalogue.ListProviderTrips(ctx, actor(ctx), catalogue.ProviderTripFilter{
		ProviderID: valueOf(q.ProviderID), Status: models.TripStatus(valueOf(q.Status)),
		TripFilter: catalogue.TripFilter{
			Type: models.TripType(valueOf(q.Type)), Origin: valueOf(q.Origin), Destination: valueOf(q.Destination),
			DateFrom: dateOf(q.DateFrom), DateTo: dateOf(q.DateTo), Search: valueOf(q.Search), Page: p,
		},
	})
	if err != nil {
		return nil, err
	}

	return gen.ListProviderTrips200JSONResponse{Data: mapEach(list.Items, tripOf), Meta: metaOf(p, list)}, nil
}

// CreateProviderTrip adds a DRAFT to the caller's company, or to the one that an admin names.
func (o *Operations) CreateProviderTrip(
	ctx context.Context, r gen.CreateProviderTripRequestObject,
) (gen.CreateProviderTripResponseObject, error) {
	t := models.Trip{ProviderID: valueOf(r.Params.ProviderID)}
	setTrip(&t, r.Body)

	t, err := o.Store.Catalogue.CreateTrip(ctx, actor(ctx), t)
	if err != nil {
		return nil, err
	}

	return gen.CreateProviderTrip201JSONResponse{
		Body:    gen.TripAnswer{Data: tripOf(&t)},
		Headers: gen.CreateProviderTrip201ResponseHeaders{Location: "/api/v1/provider/trips/" + t.ID.String()},
	}, nil
}

// GetProviderTrip is one trip that the caller sees, in whatever state.
func (o *Operations) GetProviderTrip(
	ctx context.Context, r gen.GetProviderTripRequestObject,
) (gen.GetProviderTripResponseObject, error) {
	t, err := o.Store.Catalogue.GetProviderTrip(ctx, actor(ctx), r.ID)
	if err != nil {
		return nil, err
	}

	return gen.GetProviderTrip200JSONResponse{Data: tripOf(&t)}, nil
}

// ReplaceProviderTrip is PUT. The state has actions of its own.
func (o *Operations) ReplaceProviderTrip(
	ctx context.Context, r gen.ReplaceProviderTripRequestObject,
) (gen.ReplaceProviderTripResponseObject, error) {
	t, err := o.Store.Bookings.UpdateTrip(ctx, actor(ctx), r.ID, replaced(r.Body, setTrip), o.Now())
	if err != nil {
		return nil, err
	}

	return gen.ReplaceProviderTrip200JSONResponse{Data: tripOf(&t)}, nil
}

// PatchProviderTrip is PATCH.
func (o *Operations) PatchProviderTrip(
	ctx context.Context, r gen.PatchProviderTripRequestObject,
) (gen.PatchProviderTripResponseObject, error) {
	t, err := o.Store.Bookings.UpdateTrip(ctx, actor(ctx), r.ID, merged(ctx, tripInput, setTrip), o.Now())
	if err != nil {
		return nil, err
	}

	return gen.PatchProviderTrip200JSONResponse{Data: tripOf(&t)}, nil
}

// DeleteProviderTrip deletes softly.
func (o *Operations) DeleteProviderTrip(
	ctx context.Context, r gen.DeleteProviderTripRequestObject,
) (gen.DeleteProviderTripResponseObject, error) {
	return gen.DeleteProviderTrip204Response{}, o.Store.Catalogue.DeleteTrip(ctx, actor(ctx), r.ID, o.Now())
}

// PublishTrip opens a DRAFT for booking (rules: companies.publish).
func (o *Operations) PublishTrip(ctx context.Context, r gen.PublishTripRequestObject) (gen.PublishTripResponseObject, error) {
	t, err := o.Store.Catalogue.PublishTrip(ctx, actor(ctx), r.ID, o.Now())
	if err != nil {
		return nil, err
	}

	return gen.PublishTrip200JSONResponse{Data: tripOf(&t)}, nil
}

// ListTripBookings lists who travels, for the company that runs the trip.
func (o *Operations) ListTripBookings(
	ctx context.Context, r gen.ListTripBookingsRequestObject,
) (gen.ListTripBookingsResponseObject, error) {
	p := pageOf(r.Params.Page, r.Params.PerPage, r.Params.Sort, r.Params.Cursor)

	list, err := o.Store.Bookings.TripBookings(ctx, actor(ctx), r.ID, bookings.TripBookingFilter{
		Status: valueOf(r.Params.Status), Page: p,
	}, o.Now())
	if err != nil {
		return nil, err
	}

	return gen.ListTripBookings200JSONResponse{Data: mapEach(list.Items, tripBookingOf), Meta: metaOf(p, list)}, nil
}

// livePassengersOf leaves those out that were cancelled one by one.
func livePassengersOf(b *models.Booking) []gen.Passenger {
	all := passengersOf(b)
	live := make([]gen.Passenger, 0, len(all))

	for i := range all {
		if !slices.Contains(b.CancelledPositions, i+1) {
			live = append(live, all[i])
		}
	}

	return live
}

func tripBookingOf(b *models.Booking) gen.TripBooking {
	label := b.Status.Label()
	out := gen.TripBooking{
		ID: b.ID, BookingNumber: b.Number, Status: b.Status, StatusLabelAr: label.AR, StatusLabelEn: label.EN, Seats: b.Seats,
		Passengers: livePassengersOf(b), ContactPhone: optional(b.ContactPhone),
		Amount: b.Amount, Currency: b.Currency, VatAmount: b.VATAmount, CreatedAt: utc(b.CreatedAt),
	}

	if b.Status == models.BookingPendingPayment {
		out.HoldUntil = utcOrNil(&b.HoldUntil)
	}

	return out
}

// PreviewReschedule says whom moving a trip would concern.
func (o *Operations) PreviewReschedule(
	ctx context.Context, r gen.PreviewRescheduleRequestObject,
) (gen.PreviewRescheduleResponseObject, error) {
	e, err := o.Store.Bookings.PreviewMove(ctx, actor(ctx), r.ID, r.Params.DepartureAt)
	if err != nil {
		return nil, err
	}

	return gen.PreviewReschedule200JSONResponse{Data: gen.ReschedulePreview{
		TripID: r.ID, DepartureAt: utc(r.Params.DepartureAt), Bookings: int64(e.Bookings), Seats: int64(e.Seats),
		UnpaidBookings: int64(e.Unpaid), RefundableBookings: int64(e.Refundable), RefundableTotal: e.RefundableTotal, Currency: models.Currency,
	}}, nil
}
