package activities

import (
	"context"

	"github.com/google/uuid"

	"rihla/internal/notify"
	"rihla/models"
)

// aboutTrips are the messages that show the company and the trip of their booking.
func aboutTrips(kind models.NotificationKind) bool {
	switch kind {
	case models.NotifyPaymentSucceeded, models.NotifyPaymentFailed, models.NotifyCheckoutLink, models.NotifyTripMoved,
		models.NotifyRefundSucceeded, models.NotifyBookingCancelled, models.NotifyCancellationRejected:
		return true
	default:
		return false
	}
}

// details are read for a mail about a booking when it is handed over. They are nil for other messages, and for a booking that is gone.
func (o *Outbox) details(ctx context.Context, n *models.Notification) (*notify.Details, error) {
	id, err := uuid.Parse(n.Data[notify.DataBookingID])
	if err != nil || n.Channel != models.NotifyEmail || !aboutTrips(n.Kind) {
		return nil, nil //nolint:nilnil,nilerr // a message without details is no error
	}

	read, err := o.Store.Bookings.Ticketed(ctx, id)

	switch {
	case models.CodeOf(err) == models.CodeNotFound:
		return nil, nil //nolint:nilnil // the same
	case err != nil:
		return nil, err
	}

	b, trip := &read.Booking, &read.Trip
	out := &notify.Details{
		Company: trip.ProviderName, CompanyPhone: read.CompanyPhone, Origin: trip.Origin, Destination: trip.Destination,
		ReturnAt: trip.ReturnAt, TripID: trip.ID, Bookable: trip.Runs(o.Now()) && trip.SeatsLeft() > 0,
		Policy: read.Policy,
	}

	for _, position := range b.LivePositions() {
		out.Passengers = append(out.Passengers, b.Passengers[position-1].Name)
	}

	return out, nil
}
