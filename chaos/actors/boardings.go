package actors

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/chaos/schedule"
	"rihla/models"
)

// CheckIn is what a device was answered of a passenger who is checked in.
type CheckIn struct {
	Booking   uuid.UUID `json:"booking"`
	Passenger uuid.UUID `json:"-"`
	Position  int       `json:"position"`
	At        time.Time `json:"at"`
}

// scanned is a ticket that a device reads.
type scanned struct {
	CheckIn

	token string // "": it is none of ours
	trip  uuid.UUID
}

// board has devices report everybody who has a ticket of the trip, somebody with a ticket of another one, and a text that is no ticket.
func (p *Run) board(ctx context.Context, b schedule.Boarding) {
	seen := p.tickets(ctx, b.Trip, b.API)
	if len(seen) == 0 {
		return
	}

	p.Journal.Count("boardings", 1)

	var devices sync.WaitGroup
	defer devices.Wait()

	if b.Again {
		devices.Go(func() { p.report(ctx, "tablet 2", p.Trips[b.Trip], seen, b.API+1) })
	}

	p.report(ctx, "tablet 1", p.Trips[b.Trip], seen, b.API)
}

// tickets are those that customers can show now: all of the trip, and at most one of another.
func (p *Run) tickets(ctx context.Context, trip, api int) (seen []scanned) {
	p.mu.Lock()
	bookings := slices.Clone(p.Bookings)
	p.mu.Unlock()

	for i, b := range bookings {
		if b == nil {
			continue
		}

		var t gen.Ticket

		a, ok := p.customer.named("passenger").retryUntilDecided(ctx, request{
			method: http.MethodGet, path: "/api/v1/bookings/" + b.ID.String() + "/ticket", api: api,
		}, models.CodeInvalidState)
		if !ok || a.Code() != "" {
			continue
		}

		p.note(a.Data(&t))

		for _, person := range t.Passengers {
			at := 1 + slices.IndexFunc(b.Passengers, func(q gen.Passenger) bool { return q.ID != nil && *q.ID == person.PassengerID })
			seen = append(seen, scanned{CheckIn{Booking: b.ID, Passenger: person.PassengerID, Position: at}, person.Token, p.TripOf(i)})

			if p.TripOf(i) != p.Trips[trip] {
				break
			}
		}
	}

	if len(seen) > 0 {
		seen = append(seen, scanned{})
	}

	return seen
}

// ahead is what a device's clock is fast: the moment of boarding counts as that of the service then.
const ahead = 10 * time.Second

// report sends what a device has seen, and notes what it was answered.
func (p *Run) report(ctx context.Context, device string, trip uuid.UUID, seen []scanned, api int) {
	var results []gen.CheckInResult

	reports := make([]map[string]any, len(seen))

	for i, one := range seen {
		reports[i] = map[string]any{
			"ticket": cmp.Or(one.token, "https://example.com/menu"), "at": time.Now().Add(ahead).UTC(), "device_id": device,
		}
	}

	a, ok := p.company.named(device).retryUntilDecided(ctx, request{
		method: http.MethodPost, path: tripPath(trip) + "/check-ins", api: api, body: reports,
	})
	if !ok {
		return
	}

	if p.note(a.Data(&results)); len(results) != len(seen) {
		p.Journal.Problemf(device, "%d reports have %d answers", len(seen), len(results))

		return
	}

	for i, r := range results {
		p.boarded(device, trip, seen[i], r)
	}
}

func (p *Run) boarded(device string, trip uuid.UUID, seen scanned, r gen.CheckInResult) {
	p.Journal.Count("check-ins: "+string(r.Status), 1)

	if !p.mayBe(seen, trip, r.Status) {
		p.Journal.Problemf(device, "passenger %s of trip %s is %s at trip %s", seen.Passenger, seen.trip, r.Status, trip)
	}

	if r.Status == models.CheckInDone || r.Status == models.CheckInAlready {
		seen.At = *r.CheckedInAt

		p.mu.Lock()
		defer p.mu.Unlock()

		p.CheckIns = append(p.CheckIns, seen.CheckIn)
	}
}

// mayBe reports whether a device may be answered so at the trip.
func (p *Run) mayBe(seen scanned, trip uuid.UUID, status models.CheckInStatus) bool {
	switch status {
	case models.CheckInInvalid: // with a wrong clock, to the service it may be before the booking was made
		return seen.token == "" || seen.trip == trip && p.schedule.WrongClock()
	case models.CheckInOtherTrip:
		return seen.token != "" && seen.trip != trip
	default:
		return seen.token != "" && seen.trip == trip
	}
}
