package schedule

import (
	"time"

	"rihla/models"
)

// Ending is how a customer's story goes once there is something to pay.
type Ending string

// The endings.
const (
	Pays             Ending = "pays"
	DeclinedThenPays Ending = "is declined, then pays"
	Declined         Ending = "is declined"
	LeavesThePage    Ending = "cancels at the gateway"
	WalksAway        Ending = "walks away"
	PaysTooLate      Ending = "pays when the time is over"
	Cancels          Ending = "cancels the booking"
	CancelsAndPays   Ending = "cancels and pays at once"
	Replaces         Ending = "replaces the attempt, then pays"
	PaysBoth         Ending = "replaces the attempt and pays both"
	PaysTwice        Ending = "pays, and is debited once more when it is settled"
	RefundedOutside  Ending = "pays, and a quarter goes back in the company's dashboard"
)

var endings = []weighted[Ending]{
	{30, Pays},
	{5, PaysTwice},
	{5, RefundedOutside},
	{8, DeclinedThenPays},
	{4, Declined},
	{4, LeavesThePage},
	{6, WalksAway},
	{8, PaysTooLate},
	{7, Cancels},
	{8, CancelsAndPays},
	{8, Replaces},
	{7, PaysBoth},
}

// Customer books once, and pays or does not.
type Customer struct {
	At     time.Duration
	API    int // the process that is asked first; the other one, when it does not answer
	Trip   int
	Seats  int
	Method models.PaymentMethod
	Other  models.PaymentMethod // of a second attempt
	Ending Ending
	Think  time.Duration // before paying
	Twice  bool          // sends each request twice at the same time under one key
	Payout bool          // finance staff pay the entry out before any refund
	// Refunds are asked for once the booking is paid: one after the other, or all at once.
	Refunds  []Refund
	Parallel bool
}

// Refund is what finance staff give back.
type Refund struct {
	Percent int  // of the price; 0: whatever is left
	Policy  bool // as much as the cancellation policy says, instead
	Asks    int  // for which passenger the customer asks, from 1, instead; 0: finance staff act by themselves
	API     int
}

var methods = []weighted[models.PaymentMethod]{
	{4, models.MethodCreditCard},
	{2, models.MethodDebitNetwork},
	{2, models.MethodWalletA},
	{4, models.MethodWalletB},
	{1, models.MethodBillPayment},
}

const (
	maxSeats   = 4
	maxRefunds = 4
)

func (d draw) customer(trips int) Customer {
	c := Customer{
		At: d.moment(), API: d.IntN(APIs), Trip: d.IntN(trips), Seats: d.between(1, maxSeats), Method: oneOf(d, methods),
		Other: oneOf(d, methods), Ending: oneOf(d, endings), Think: d.pause(0, time.Second), Twice: d.chance(25),
		Payout: d.chance(30), Parallel: d.chance(50),
	}

	if d.chance(55) {
		for range d.between(1, maxRefunds) {
			c.Refunds = append(c.Refunds, d.refund())
		}
	}

	return c
}

func (d draw) refund() Refund {
	r := Refund{API: d.IntN(APIs)}

	switch {
	case d.chance(30):
		r.Asks = d.between(1, maxSeats)
	case d.chance(40):
		r.Policy = true
	case d.chance(60):
		r.Percent = d.between(5, 90)
	}

	return r
}

// Campaign is a paid advertisement.
type Campaign struct {
	At     time.Duration
	API    int
	Trip   int
	Price  models.Money // without VAT
	Method models.PaymentMethod
	// StartsIn is in days from today: 0 becomes ACTIVE, more becomes SCHEDULED.
	StartsIn int
	Ending   Ending // Pays, DeclinedThenPays or WalksAway
}

func (d draw) campaign(trips int) Campaign {
	return Campaign{
		At: d.moment(), API: d.IntN(APIs), Trip: d.IntN(trips), Price: d.price(), Method: oneOf(d, methods), StartsIn: d.between(0, 2),
		Ending: oneOf(d, []weighted[Ending]{{6, Pays}, {3, DeclinedThenPays}, {1, WalksAway}}),
	}
}

// ProbeKind is an action of an outsider, not a customer.
type ProbeKind string

// The probes. A forged webhook must change nothing; a replayed one has its effect already.
const (
	ForgedSignature ProbeKind = "a webhook with a made-up signature"
	StaleSignature  ProbeKind = "a webhook signed ten minutes ago"
	OtherChannel    ProbeKind = "a webhook signed with another channel's secret"
	Unsigned        ProbeKind = "a webhook without a signature"
	UnknownPayment  ProbeKind = "a signed webhook about nobody's payment"
	Replayed        ProbeKind = "a webhook that came already"
	ReadsSummary    ProbeKind = "reads the summary"
	ReadsRecords    ProbeKind = "walks through the ledger entries"
	Exports         ProbeKind = "exports the ledger entries"
	MovesTrip       ProbeKind = "moves a trip that is on sale"
)

// Probe is one of them.
type Probe struct {
	At   time.Duration
	API  int
	Kind ProbeKind
	Trip int           // of MovesTrip
	By   time.Duration // of MovesTrip: from the departure with which it went on sale; 0: back to it
}

// moves are small and large ones; the largest leave so little time that the policy of then gives half of it back.
var moves = []weighted[time.Duration]{
	{2, 0}, {2, time.Hour}, {2, -90 * time.Minute}, {3, 3 * time.Hour}, {3, 48 * time.Hour}, {12, 36*time.Hour - LeavesIn},
}

func (d draw) probe(trips int) Probe {
	e := Probe{At: d.moment(), API: d.IntN(APIs), Kind: oneOf(d, []weighted[ProbeKind]{
		{2, ForgedSignature},
		{1, StaleSignature},
		{1, OtherChannel},
		{1, Unsigned},
		{2, UnknownPayment},
		{3, Replayed},
		{2, ReadsSummary},
		{2, ReadsRecords},
		{2, Exports},
		{8, MovesTrip},
	})}

	if e.Kind == MovesTrip {
		e.Trip, e.By = d.IntN(trips), oneOf(d, moves)
	}

	return e
}
