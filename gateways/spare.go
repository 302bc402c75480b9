package gateways

import "math"

// Spare says how many things that can wait, of up to some calls each, may be done now side by side, so that the calls of customers find
// room at once: half of the burst and a quarter of the slots are left to them. Zero or less: none.
func (g *Guard) Spare(callsEach int) int {
	const leftOfBurst, leftOfSlots = 2, 4

	spare := math.MaxInt

	if g.limiter != nil {
		spare = (int(g.limiter.Tokens()) - g.limiter.Burst()/leftOfBurst) / callsEach
		if g.limiter.Burst() < callsEach*leftOfBurst { // they would never fit
			spare = int(g.limiter.Tokens())
		}
	}

	if g.slots != nil {
		spare = min(spare, cap(g.slots)-len(g.slots)-cap(g.slots)/leftOfSlots)
	}

	return spare
}
