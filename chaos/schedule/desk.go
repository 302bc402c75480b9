package schedule

import (
	"math/rand/v2"
	"time"
)

// CallOff is a trip that does not run: its company or an admin calls it off while people book, pay and are refunded.
type CallOff struct {
	At   time.Duration
	API  int
	Trip int
	By   CallOffBy
	// Pause is how long an operator has the workflow pause once it runs; 0: not at all.
	Pause time.Duration
}

// CallOffBy says who calls a trip off.
type CallOffBy string

// Who calls a trip off.
const (
	CompanyCallsOff CallOffBy = "its company"
	AdminCallsOff   CallOffBy = "an admin"
	BothCallOff     CallOffBy = "its company and an admin at once"
)

// Boarding is a device that reports the passengers of a trip, by their tickets.
type Boarding struct {
	At    time.Duration
	API   int
	Trip  int
	Again bool // a second device reports the same people through the other API in the same moment
}

// deskStream sets the draws of the desk apart from the others: what a seed meant before there were any stays as it was.
const deskStream = 0xde5c

// latest is when the last trip is called off: some bookings are paid and refunded by then, and others are not.
const latest = 4 * rush

// drawDesk adds the trips that are called off and the devices that check passengers in.
func (s *Schedule) drawDesk() {
	d := draw{rand.New(rand.NewPCG(s.Seed^deskStream, uint64(s.Number)))} //nolint:gosec // repeatable is what it has to be

	for trip := range s.Trips {
		if d.chance(60) {
			s.Boardings = append(s.Boardings, Boarding{At: d.pause(rush/2, latest), API: d.IntN(APIs), Trip: trip, Again: d.chance(50)})
		}

		if !d.chance(30) {
			continue
		}

		c := CallOff{At: d.pause(rush/3, latest), API: d.IntN(APIs), Trip: trip, By: oneOf(d, []weighted[CallOffBy]{
			{5, CompanyCallsOff}, {3, AdminCallsOff}, {2, BothCallOff},
		})}
		if d.chance(30) {
			c.Pause = d.pause(shortestPause, rush)
		}

		s.CallOffs = append(s.CallOffs, c)
	}
}
