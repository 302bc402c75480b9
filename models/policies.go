package models

import "time"

// LoginRules bound how often the password of one account may be guessed, over all networks together.
type LoginRules struct {
	PauseMax  time.Duration // the longest pause between two tries; 0: no pauses
	LockAfter int           // failures within 24 hours that lock the account; 0: never
}

// StrangerRules bound what callers without an account cause within an hour; 0: no bound.
type StrangerRules struct {
	Mails         int // of all of them together
	Registrations int // of one network
}

// Policies are the money and time rules of configuration; their values are copied into rows when
// these are created, so that a change applies to new ones only.
type Policies struct {
	VATBooking  Rate
	VATAd       Rate
	Commission  Rate          // of a new provider
	BookingHold time.Duration // how long seats wait for a payment
	BillHold    time.Duration // the same for bill_payment
	FailAtOnce  bool          // the first failed attempt is final for its booking
	Login       LoginRules
	Strangers   StrangerRules
	// Cancellation is what a refund by the policy pays back.
	Cancellation CancellationPolicy
	// CancelAlone approves cancellation requests in the service's name, up to what one person may order back.
	CancelAlone bool
	// CancelReminder is how long a cancellation request waits before finance staff are reminded of it.
	CancelReminder time.Duration
	// Approval says which refunds need the word of a second person.
	Approval ApprovalRules
	// TripCancellationAbove is up to what refund_total one person calls a trip off; 0.00: no limit.
	TripCancellationAbove Money
	// PayoutAbove is what one person marks as transferred, and what they confirm as manual payouts, within 24 hours; 0.00: no limit.
	PayoutAbove Money
	// RescheduleTolerance is how far a trip may be moved before every customer of it may have a full refund.
	RescheduleTolerance time.Duration
	// RescheduleNotice is how long before it leaves a trip is brought forward at the latest when that gives its customers a right
	// to a full refund; 0: at any time.
	RescheduleNotice time.Duration
	// TripMovesPerDay is how often a trip of which seats are taken is moved at most on a day in Riyadh; 0: no limit.
	TripMovesPerDay int
	// The most that may be unpaid, per account and per phone, and which share of a trip's seats unpaid bills hold; 0: no limit.
	UnpaidBookings int
	UnpaidSeats    int
	BillShare      Rate
	// UnverifiedShare is which share of a trip's seats accounts without a verified address hold unpaid, all together, and UnpaidPerNetwork
	// how many seats those of one network; 0: no limit.
	UnverifiedShare  Rate
	UnpaidPerNetwork int
	// UnpaidAttempts is how many payments an account may begin within an hour without paying; 0: no limit.
	UnpaidAttempts int
	// PassengerNameChanges is how often staff change the name of one passenger; 0: never.
	PassengerNameChanges int
	// AdPerDay is what a campaign costs at least for each of its days, without VAT; 0.00: anything.
	AdPerDay Money
	// MediaQuota is how many bytes the photos of a company take up at most; 0: no limit.
	MediaQuota int64
	// MessagesPerRecipient is how many emails, and how many SMS, an address gets within 24 hours; 0: no limit.
	MessagesPerRecipient int
	// SMSCountries are the country codes to which SMS are sent; none: all.
	SMSCountries []string
	// LateChecks are how long after the end of an attempt without money the gateway is queried again whether it took some,
	// shortest first; none, or 0: never.
	LateChecks []time.Duration
	// Routes say on which channel each payment is reported.
	Routes Routes
	// Methods can be paid with; nil: all.
	Methods Methods
}

// DefaultPolicies are the defaults of configuration, without limits on what is unpaid, on moves, on messages and on what one
// person does within a day.
func DefaultPolicies() Policies {
	return Policies{
		VATBooking:   MustRate("0.15"),
		VATAd:        MustRate("0.20"),
		Commission:   MustRate("0.10"),
		BookingHold:  30 * time.Minute,
		BillHold:     72 * time.Hour,
		Login:        LoginRules{PauseMax: 15 * time.Minute, LockAfter: 100},
		Cancellation: DefaultCancellationPolicy(),
		Approval:     ApprovalRules{Above: MustMoney("5000.00"), Wait: MaxApprovalWait},

		TripCancellationAbove: MustMoney("20000.00"),

		LateChecks: []time.Duration{10 * time.Minute, 2 * time.Hour, 24 * time.Hour},

		RescheduleTolerance: 2 * time.Hour,
		RescheduleNotice:    24 * time.Hour,

		PassengerNameChanges: 2,
	}
}

// Hold is how long an attempt by the method may stay unpaid: as long as we allow it and the company keeps it open.
func (p Policies) Hold(m PaymentMethod) time.Duration {
	hold := p.BookingHold
	if m == MethodBillPayment {
		hold = p.BillHold
	}

	if bound := p.Methods[m].MaxTimeToPay; bound > 0 {
		return min(hold, bound)
	}

	return hold
}

// TripNeedsApproval reports whether calling a trip off waits for a second person: total is what its refunds come to, alone what the company
// has called off without an approval within 24 hours.
func (p Policies) TripNeedsApproval(alone, total Money) bool {
	return needsSecondPerson(p.TripCancellationAbove, alone, total)
}
