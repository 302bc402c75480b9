package models

import "time"

// PolicyReason says which terms gave the percentage of a refund by the cancellation policy.
type PolicyReason string

// The terms of a refund by the policy.
const (
	PolicyNow         PolicyReason = "POLICY"            // the policy and the departure of now
	PolicyAtBooking   PolicyReason = "POLICY_AT_BOOKING" // the policy or the departure at which the booking was made
	PolicyRescheduled PolicyReason = "RESCHEDULED"       // the trip was moved: all of it, until it leaves
	// PolicyTripCancelled: the trip does not run, so all of it.
	PolicyTripCancelled PolicyReason = "TRIP_CANCELLED"
)

// BookingTerms are what a refund of a booking by the policy goes by: trip and policy as they are, and as they were when the
// booking was made.
type BookingTerms struct {
	Policy          CancellationPolicy
	Departure       time.Time
	BookedPolicy    CancellationPolicy // nil when the booking has kept none
	BookedDeparture time.Time
	Rescheduled     bool // the customer may have all of it back until the trip leaves
	TripCancelled   bool
}

// Of finds what goes back of the booking's payment t at now. Of the two policies and the two departures those count that are
// better for the customer; neither the company, by moving the trip, nor the platform, by another policy, takes away what was
// bought. Money that came too late goes back in full, as by CancellationPolicy.Terms.
func (b BookingTerms) Of(t *PaymentTransaction, now time.Time) PolicyTerms {
	terms := b.Policy.Terms(t, b.Departure, now)
	if t.Status != TransactionPaid {
		return terms
	}

	if b.TripCancelled {
		terms.Reason, terms.Percent = PolicyTripCancelled, WholePercent

		return terms.of(t)
	}

	if b.Rescheduled && now.Before(b.Departure) {
		terms.Reason, terms.Percent = PolicyRescheduled, WholePercent

		return terms.of(t)
	}

	for _, schedule := range []CancellationPolicy{b.Policy, b.BookedPolicy} {
		for _, departure := range []time.Time{b.Departure, b.BookedDeparture} {
			hours := HoursToDeparture(departure, now)
			if percent := schedule.Percent(hours); percent > terms.Percent {
				terms.Reason, terms.Schedule, terms.Hours, terms.Percent = PolicyAtBooking, schedule, hours, percent
			}
		}
	}

	return terms.of(t)
}

// GivesRefund reports whether a move of a trip from one departure to another gives a customer who booked for booked the right
// to all of the money: the move, or what all moves together come to, exceeds the tolerance.
func GivesRefund(from, to, booked time.Time, tolerance time.Duration) bool {
	return to.Sub(from).Abs() > tolerance || to.Sub(booked).Abs() > tolerance
}
