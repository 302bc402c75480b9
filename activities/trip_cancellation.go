package activities

import (
	"context"
	"time"

	"github.com/google/uuid"

	"rihla/models"
)

// LookAtTripCancellation reads how the cancellation of a trip stands, and ends one whose approval has not come. at is the time of its
// workflow, which is Temporal's: when its timer has fired the time is over, also where this process' clock is behind.
func (p *Payments) LookAtTripCancellation(ctx context.Context, id uuid.UUID, at time.Time) (models.OpenTripCancellation, error) {
	now := p.Now()
	if at.After(now) {
		now = at
	}

	state, err := p.Store.TripCancellations.Look(ctx, id, now)

	return state, asActivityError(err)
}

// NextTripBookings are bookings of the trip that are still to be cancelled, after the last one that was dealt with.
func (p *Payments) NextTripBookings(ctx context.Context, trip, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	ids, err := p.Store.TripCancellations.Next(ctx, trip, after, limit)

	return ids, asActivityError(err)
}

// CancelTripBookings is CancelTripBooking for several, one after the other. It reports on as many of the first as it came to, at least
// one, or an error: what was cancelled before an error has its refunds started, and the rest is asked for again.
func (p *Payments) CancelTripBookings(ctx context.Context, id uuid.UUID, bookings []uuid.UUID) ([]models.CancelledForTrip, error) {
	var (
		done = make([]models.CancelledForTrip, 0, len(bookings))
		err  error
	)

	for _, booking := range bookings {
		var one models.CancelledForTrip
		if one, err = p.CancelTripBooking(ctx, id, booking); err != nil {
			break
		}

		done = append(done, one)
	}

	if len(done) > 0 {
		err = nil
	}

	return done, err
}

// CancelTripBooking cancels one booking of the trip and orders what goes back for it, once.
func (p *Payments) CancelTripBooking(ctx context.Context, id, booking uuid.UUID) (models.CancelledForTrip, error) {
	out, err := p.Store.TripCancellations.CancelBooking(ctx, id, booking, p.Now())
	if err == nil && out.Blocked == "" {
		p.Queued()

		p.ended(out.Withdrawn)

		if p.Decided != nil {
			p.Decided(booking)
		}
	}

	return out, asActivityError(err)
}

// ReportTripBlocked opens the incident about a booking, or a campaign, of a cancelled trip that cannot be cancelled; once.
func (p *Payments) ReportTripBlocked(ctx context.Context, id uuid.UUID, what models.CancelledForTrip) error {
	return asActivityError(p.Store.TripCancellations.ReportBlocked(ctx, id, what))
}

// TripCampaigns are the campaigns of the trip that have not ended.
func (p *Payments) TripCampaigns(ctx context.Context, trip uuid.UUID) ([]uuid.UUID, error) {
	ids, err := p.Store.TripCancellations.Campaigns(ctx, trip)

	return ids, asActivityError(err)
}

// EndTripCampaign ends a campaign of the trip and orders the refund of the days that it has not run, once.
func (p *Payments) EndTripCampaign(ctx context.Context, id, campaign uuid.UUID) (models.CancelledForTrip, error) {
	out, err := p.Store.TripCancellations.EndCampaign(ctx, id, campaign, p.Now())

	return out, asActivityError(err)
}

// FinishTripCancellation makes the trip CANCELLED once no booking of it is live, and reports whether it is.
func (p *Payments) FinishTripCancellation(ctx context.Context, id uuid.UUID) (bool, error) {
	done, err := p.Store.TripCancellations.Finish(ctx, id, p.Now())

	return done, asActivityError(err)
}

// CountTripCancellation says how far the cancellation of a trip is.
func (p *Payments) CountTripCancellation(ctx context.Context, id uuid.UUID) (models.TripCancellationCounts, error) {
	counts, err := p.Store.TripCancellations.Progress(ctx, id, p.Now())

	return counts, asActivityError(err)
}
