package actors

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"rihla/api/gen"
	"rihla/chaos/env"
	"rihla/chaos/schedule"
	"rihla/e2e/rig"
	"rihla/models"
)

// Run is one schedule on its way through an environment.
type Run struct {
	Journal   *Journal
	Bookings  []*Booking  // by customer; nil until it is answered
	Campaigns []uuid.UUID // that were created and answered
	Trips     []uuid.UUID
	SoldOut   []int     // the customers who were told that there are no seats
	CheckIns  []CheckIn // that devices were answered
	Unknown   []string  // the ids of webhooks about unknown payments that were answered with 404
	Healed    time.Time // when everything was up again
	healed    chan struct{}

	schedule schedule.Schedule
	env      *env.Environment
	customer caller
	finance  caller
	company  caller
	admin    caller
	bus      uuid.UUID   // of the company
	leaves   []time.Time // the trips, when they went on sale
	clerks   payoutClerks

	mu sync.Mutex
}

// Booking is what the API has answered to a customer.
type Booking struct {
	gen.Booking

	Email string `json:"-"` // of the customer, by whom the booking is found
}

// TripsWithRoom are the trips that have seats for all who have asked for some, as the schedule says, and run.
func (p *Run) TripsWithRoom() map[uuid.UUID]bool {
	asked := make([]int, len(p.Trips))
	for _, c := range p.schedule.Customers {
		asked[c.Trip] += c.Seats
	}

	withRoom := map[uuid.UUID]bool{}

	for i, id := range p.Trips {
		if asked[i] <= p.schedule.Trips[i].Capacity && !p.isCalledOff(i) {
			withRoom[id] = true
		}
	}

	return withRoom
}

// TripOf is the trip that a customer wants to book.
func (p *Run) TripOf(customer int) uuid.UUID { return p.Trips[p.schedule.Customers[customer].Trip] }

// patience is how long an actor tries after the beginning: much longer than all outages of a schedule together.
const patience = 75 * time.Second

// Execute runs the schedule in an environment that is well, heals it, and returns when every actor has come to its end.
func Execute(ctx context.Context, h *env.Environment, s schedule.Schedule) (*Run, error) {
	p := &Run{
		Journal: NewJournal(), Bookings: make([]*Booking, len(s.Customers)), schedule: s, env: h,
		healed: make(chan struct{}),
	}

	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	if err := p.prepare(ctx); err != nil {
		return p, err
	}

	p.Journal.Stepf("harness", "the schedule begins")
	p.startPayoutClerks(ctx)

	began := time.Now()

	var people, faults sync.WaitGroup

	at := func(all *sync.WaitGroup, when time.Duration, do func()) {
		all.Go(func() {
			if pause(ctx, time.Until(began.Add(when))) {
				do()
			}
		})
	}

	for i, c := range s.Customers {
		at(&people, c.At, func() { p.serveCustomer(ctx, i, c) })
	}

	for i, c := range s.Campaigns {
		at(&people, c.At, func() { p.advertise(ctx, i, c) })
	}

	for i, e := range s.Probes {
		at(&people, e.At, func() { p.probe(ctx, i, e) })
	}

	for _, c := range s.CallOffs {
		at(&people, c.At, func() { p.callOff(ctx, c) })
	}

	for _, b := range s.Boardings {
		at(&people, b.At, func() { p.board(ctx, b) })
	}

	for _, f := range s.Faults {
		at(&faults, f.At, func() { p.bring(ctx, f) })
	}

	faults.Wait()

	err := p.heal(ctx)

	people.Wait()
	p.behave()
	p.Journal.Stepf("harness", "everybody has come to their end")

	return p, err
}

// prepare signs every actor in and puts the schedule's trips on sale.
func (p *Run) prepare(ctx context.Context) (err error) {
	nobody := caller{who: "harness", env: p.env, journal: p.Journal}

	for role, to := range map[models.Role]*caller{
		models.RoleEndUser: &p.customer, models.RoleFinanceAdmin: &p.finance, models.RoleProviderAdmin: &p.company,
		models.RoleAdmin: &p.admin,
	} {
		if *to, err = nobody.signIn(ctx, role); err != nil {
			return err
		}
	}

	var buses []gen.Bus

	a, ok := p.company.retryUntilDecided(ctx, request{method: http.MethodGet, path: "/api/v1/provider/buses"})
	if !ok || a.Data(&buses) != nil || len(buses) == 0 {
		return fmt.Errorf("the company has no bus: %s", a.Body)
	}

	p.bus = buses[0].ID

	for i, t := range p.schedule.Trips {
		trip, err := p.putOnSale(ctx, fmt.Sprintf("trip %d", i+1), t)
		if err != nil {
			return err
		}

		p.Trips = append(p.Trips, trip)
	}

	return nil
}

func (p *Run) putOnSale(ctx context.Context, name string, t schedule.Trip) (uuid.UUID, error) {
	leaves := time.Now().UTC().Truncate(time.Second).Add(schedule.LeavesIn)
	p.leaves = append(p.leaves, leaves)

	var trip gen.Trip

	title := fmt.Sprintf("Schedule %d, %s", p.schedule.Number, name)

	a, ok := p.company.retryUntilDecided(ctx, request{
		method: http.MethodPost, path: "/api/v1/provider/trips", body: rig.TripRequest(title, p.bus, leaves, t.Price, t.Capacity),
	})
	if !ok {
		return trip.ID, fmt.Errorf("trip: %d %s", a.Status, a.Body)
	}

	if err := a.Data(&trip); err != nil {
		return trip.ID, err
	}

	a, ok = p.company.retryUntilDecided(ctx, request{method: http.MethodPost, path: "/api/v1/trips/" + trip.ID.String() + "/publish"})
	if !ok {
		return trip.ID, fmt.Errorf("publish: %d %s", a.Status, a.Body)
	}

	return trip.ID, nil
}
