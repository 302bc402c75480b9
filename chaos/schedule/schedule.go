// Package schedule derives the events of one schedule of the chaos harness: the actors with their times and wishes, and the
// faults that hit them. It depends on a seed and a number and on nothing else, so that a schedule that found something can
// be run again on any machine.
package schedule

import (
	"math/rand/v2"
	"slices"
	"time"

	"rihla/models"
)

// Schedule is one round of customers, staff, forgers and failures. Times count from its beginning.
type Schedule struct {
	Seed   uint64
	Number int

	Trips     []Trip
	Customers []Customer
	Campaigns []Campaign
	Probes    []Probe
	CallOffs  []CallOff
	Boardings []Boarding
	Faults    []Fault
}

// Trip is on sale for one schedule only, so that its seats can be counted.
type Trip struct {
	Capacity int
	Price    models.Money // per seat
}

// The size of a schedule: enough for everything to meet everything, little enough to be over in seconds.
const (
	rush          = 3 * time.Second // within which all actors come and all faults begin
	minCustomers  = 6
	maxCustomers  = 11
	maxCampaigns  = 2
	maxProbes     = 5
	minFaults     = 2
	maxFaults     = 6
	smallestTrip  = 4
	largestTrip   = 24
	shortestPause = 50 * time.Millisecond
)

// LeavesIn is how long after it goes on sale a trip leaves.
const LeavesIn = 30 * 24 * time.Hour

// APIs is how many API processes there are.
const APIs = 2

// New is schedule number n of a seed.
func New(seed uint64, n int) Schedule {
	d := draw{rand.New(rand.NewPCG(seed, uint64(n)))} //nolint:gosec // repeatable is what it has to be
	s := Schedule{Seed: seed, Number: n}

	for range d.between(1, 2) {
		s.Trips = append(s.Trips, Trip{Capacity: d.between(smallestTrip, largestTrip), Price: d.price()})
	}

	for range d.between(minCustomers, maxCustomers) {
		s.Customers = append(s.Customers, d.customer(len(s.Trips)))
	}

	for range d.between(0, maxCampaigns) {
		s.Campaigns = append(s.Campaigns, d.campaign(len(s.Trips)))
	}

	for range d.between(1, maxProbes) {
		s.Probes = append(s.Probes, d.probe(len(s.Trips)))
	}

	for range d.between(minFaults, maxFaults) {
		s.Faults = append(s.Faults, d.fault())
	}

	s.drawDesk()

	slices.SortStableFunc(s.Customers, func(a, b Customer) int { return int(a.At - b.At) })
	slices.SortStableFunc(s.Campaigns, func(a, b Campaign) int { return int(a.At - b.At) })
	slices.SortStableFunc(s.Probes, func(a, b Probe) int { return int(a.At - b.At) })
	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return int(a.At - b.At) })

	return s
}

// With is the schedule with other payment methods: instead says what an amount is paid with by a customer who would like to use a method.
// Amounts are those of the prices, to which VAT comes with campaigns.
func (s Schedule) With(instead func(m models.PaymentMethod, amount models.Money) models.PaymentMethod) Schedule {
	s.Customers, s.Campaigns = slices.Clone(s.Customers), slices.Clone(s.Campaigns)

	for i := range s.Customers {
		c := &s.Customers[i]
		amount := s.Trips[c.Trip].Price.Times(c.Seats)
		c.Method, c.Other = instead(c.Method, amount), instead(c.Other, amount)
	}

	for i := range s.Campaigns {
		c := &s.Campaigns[i]
		c.Method = instead(c.Method, c.Price)
	}

	return s
}

// WithBackup is the schedule with one failure more, during which the first account can take nothing for certain.
func (s Schedule) WithBackup() Schedule {
	d := draw{rand.New(rand.NewPCG(s.Seed, ^uint64(s.Number)))} //nolint:gosec // repeatable is what it has to be

	s.Faults = append(slices.Clone(s.Faults), Fault{At: d.moment(), Kind: RefuseGateway, For: d.pause(shortestPause, longestOutage)})
	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return int(a.At - b.At) })

	return s
}

// The replacements of a schedule of an upgrade: enough for both releases to be at work most of the time, and for one to come back.
const (
	minReplacements = 4
	maxReplacements = 8
	hardPercent     = 40
)

// WithUpgrade is the schedule with processes replaced by the last release and by this version, in any order, forward and back.
func (s Schedule) WithUpgrade() Schedule {
	const upgrade = 1 << 40 // apart from the numbers of WithBackup

	d := draw{rand.New(rand.NewPCG(s.Seed, upgrade|uint64(s.Number)))} //nolint:gosec // repeatable is what it has to be
	s.Faults = slices.Clone(s.Faults)

	for range d.between(minReplacements, maxReplacements) {
		s.Faults = append(s.Faults, Fault{
			At: d.moment(), Kind: Replace, Parts: oneOf(d, processes), For: d.pause(shortestPause, longestOutage), Hard: d.chance(hardPercent),
			Release: oneOf(d, []weighted[Release]{{1, LastRelease}, {1, ThisRelease}}),
		})
	}

	slices.SortStableFunc(s.Faults, func(a, b Fault) int { return int(a.At - b.At) })

	return s
}

// WrongDay reports whether a worker's clock is on another day for a while.
func (s Schedule) WrongDay() bool {
	return slices.ContainsFunc(s.Faults, func(f Fault) bool { return f.Kind == ClockOverMidnight })
}

// WrongClock reports whether a process's clock is wrong for a while.
func (s Schedule) WrongClock() bool {
	return slices.ContainsFunc(s.Faults, func(f Fault) bool { return f.Kind == ClockWrong || f.Kind == ClockOverMidnight })
}

// LosesWebhooks reports whether webhooks of the gateway get lost for good in the schedule.
func (s Schedule) LosesWebhooks() bool {
	return slices.ContainsFunc(s.Faults, func(f Fault) bool {
		return f.Order != nil && f.Order.Operation == "webhook" && f.Order.Mode == "drop"
	})
}

// draw makes choices.
type draw struct{ *rand.Rand }

// between is a whole number from low to high, both included.
func (d draw) between(low, high int) int { return low + d.IntN(high-low+1) }

// chance is true in so many of a hundred cases.
func (d draw) chance(percent int) bool { return d.IntN(100) < percent }

// moment is a time within the rush.
func (d draw) moment() time.Duration { return d.pause(0, rush) }

// pause is a time from low to high, in whole milliseconds.
func (d draw) pause(low, high time.Duration) time.Duration {
	return low + time.Duration(d.Int64N(int64((high-low)/time.Millisecond)+1))*time.Millisecond
}

// price is an amount whose parts do not come out even.
func (d draw) price() models.Money { return models.Halalas(int64(d.between(1001, 99_999))) }

// oneOf chooses by weight.
func oneOf[T any](d draw, choices []weighted[T]) T {
	sum := 0
	for _, c := range choices {
		sum += c.weight
	}

	at := d.IntN(sum)
	for _, c := range choices {
		if at -= c.weight; at < 0 {
			return c.value
		}
	}

	panic("the weights add up")
}

type weighted[T any] struct {
	weight int
	value  T
}
