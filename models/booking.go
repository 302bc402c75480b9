package models

import (
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// Passenger is one traveller of a booking. The document number is personal: it stays in the database.
type Passenger struct {
	Name           string `json:"name"`
	DocumentNumber string `json:"document_number,omitempty"`
}

// Booking is a number of seats on a trip. Amount includes VAT, in SAR.
type Booking struct {
	bun.BaseModel `bun:"table:bookings,alias:bk"`

	ID           uuid.UUID     `bun:"id,pk"`
	Number       string        `bun:"booking_number,nullzero,default:new_booking_number()"` // RB-7XK2M9Q, made by the database
	TripID       uuid.UUID     `bun:"trip_id"`
	ProviderID   uuid.UUID     `bun:"provider_id"`
	UserID       uuid.UUID     `bun:"user_id"`
	Status       BookingStatus `bun:"status"`
	Seats        int           `bun:"seats"`
	SeatsHeld    bool          `bun:"seats_held"`
	HoldUntil    time.Time     `bun:"hold_until"`
	Amount       Money         `bun:"amount"`
	Currency     string        `bun:"currency"`
	VATRate      Rate          `bun:"vat_rate"`
	VATAmount    Money         `bun:"vat_amount"`
	Passengers   []Passenger   `bun:"passengers,type:jsonb"` // as booked; of one the state is PassengerAt
	ContactName  string        `bun:"contact_name"`
	ContactEmail string        `bun:"contact_email"`
	ContactPhone string        `bun:"contact_phone"`
	ContactE164  *string       `bun:"contact_e164"` // the same number in one spelling; nil where none can be made of it
	Locale       Locale        `bun:"locale"`
	ReturnURL    string        `bun:"return_url"` // of the next payment attempt
	ReturnBase   string        `bun:"return_base"`

	// The terms of the purchase: the trip's departure and the cancellation policy of the moment at which the booking was made. The
	// schedule is nil for bookings of versions that did not keep it.
	BookedDepartureAt time.Time  `bun:"booked_departure_at,nullzero"`
	BookedSchedule    *string    `bun:"booked_schedule"`
	RescheduledBy     *uuid.UUID `bun:"rescheduled_by"` // the move of the trip that gave the right to a full refund

	HoldMethod *PaymentMethod `bun:"hold_method"` // of the newest attempt, while the seats wait for it

	// CancelledPositions are those of the passengers, from 1, that were cancelled one by one; where they are read.
	CancelledPositions []int `bun:"cancelled_positions,array,scanonly"`

	CreatedAt time.Time `bun:"created_at,nullzero,default:now()"`
	UpdatedAt time.Time `bun:"updated_at,nullzero,default:now()"`
}

// HoldFor is until when the seats are held for an attempt that is opened at now, whose method has so long. A hold is counted from
// the booking, so that a customer who tries again and again does not hold seats for ever. A method with a longer one extends it, a
// bill above all; a method with a shorter one that follows has its own from now, and no more than was left.
// Nothing is held beyond the departure.
func (b *Booking) HoldFor(hold time.Duration, departure, now time.Time) time.Time {
	until := b.HoldUntil
	if own := b.CreatedAt.Add(hold); own.After(until) {
		until = own
	}

	for _, limit := range []time.Time{now.Add(hold), departure} {
		if limit.Before(until) {
			until = limit
		}
	}

	return until
}

// Unattempted is the payment status of a booking that has no attempt: it is under way while the booking
// waits for it, and has failed when that is over, because the gateway could not be asked in time or the booking was
// cancelled. Who polls must not be left waiting for an attempt that can no longer come (rules: payments.status).
func (b BookingStatus) Unattempted() (TransactionStatus, *FailureCode) {
	var why FailureCode

	switch b {
	case BookingPaymentFailed:
		why = FailureExpired
	case BookingCancelled:
		why = FailureCancelled
	default:
		return TransactionPending, nil
	}

	return TransactionFailed, &why
}

// BookingNote is what a member of staff has noted about a booking. It is personal data, and never changed.
type BookingNote struct {
	bun.BaseModel `bun:"table:booking_notes,alias:bno"`

	ID         uuid.UUID `bun:"id,pk"`
	BookingID  uuid.UUID `bun:"booking_id"`
	AuthorID   uuid.UUID `bun:"author_id"`
	AuthorName string    `bun:"author_name,scanonly"`
	Note       string    `bun:"note"`
	CreatedAt  time.Time `bun:"created_at,nullzero,default:now()"`
}

// AdCampaign is advertising that a provider buys for one of its trips. Price is without VAT.
type AdCampaign struct {
	bun.BaseModel `bun:"table:ad_campaigns,alias:ac"`

	ID          uuid.UUID      `bun:"id,pk"`
	ProviderID  uuid.UUID      `bun:"provider_id"`
	TripID      uuid.UUID      `bun:"trip_id"`
	CreatedBy   uuid.UUID      `bun:"created_by"`
	Title       string         `bun:"title"`
	Description string         `bun:"description"`
	StartsOn    Date           `bun:"starts_on"`
	EndsOn      Date           `bun:"ends_on"`
	Price       Money          `bun:"price"`
	ReturnURL   string         `bun:"return_url"` // of the next payment attempt
	ReturnBase  string         `bun:"return_base"`
	Status      CampaignStatus `bun:"status"`
	CreatedAt   time.Time      `bun:"created_at,nullzero,default:now()"`
	UpdatedAt   time.Time      `bun:"updated_at,nullzero,default:now()"`
	DeletedAt   *time.Time     `bun:"deleted_at"`

	// Payment is the attempt that has paid the campaign, else the one that is open; nil: neither, or not read.
	Payment *PaymentTransaction `bun:"-"`
}

// HasDocuments reports whether the document number of any passenger is known.
func (b *Booking) HasDocuments() bool {
	return slices.ContainsFunc(b.Passengers, func(p Passenger) bool { return p.DocumentNumber != "" })
}

// MaskDocuments leaves the last 4 characters of each document number, and of one that has fewer than 8 none: enough to tell
// two apart, too little to use one. The passengers are copied, those of the caller's other copies stay as they are.
func (b *Booking) MaskDocuments() {
	const shown = 4

	b.Passengers = slices.Clone(b.Passengers)

	for i := range b.Passengers {
		p := &b.Passengers[i]

		switch number := []rune(p.DocumentNumber); {
		case len(number) == 0:
		case len(number) < 2*shown:
			p.DocumentNumber = "****"
		default:
			p.DocumentNumber = "****" + string(number[len(number)-shown:])
		}
	}
}

// contactFor is how long after the end of a trip its company may call who has booked it: for what was left on the bus.
const contactFor = 48 * time.Hour

// ShowToCompany leaves of the booking what the company that runs the trip sees at now: masked document numbers, and of the contact the
// phone of a CONFIRMED booking until contactFor after the trip's end.
func (b *Booking) ShowToCompany(t *Trip, now time.Time) {
	b.MaskDocuments()
	b.ContactName, b.ContactEmail = "", ""

	if b.Status != BookingConfirmed || !now.Before(t.ReturnAt.Add(contactFor)) {
		b.ContactPhone, b.ContactE164 = "", nil
	}
}

// Payable says whether the booking, a seat on the trip, can be paid at now. Error: BOOKING_NOT_PAYABLE.
func (b *Booking) Payable(t *Trip, now time.Time) error {
	switch {
	case b.Status != BookingPendingPayment:
		return NewError(CodeBookingNotPayable, "booking.not_payable", "status", b.Status)
	case !b.HoldUntil.After(now):
		return NewError(CodeBookingNotPayable, "booking.hold_over")
	case !t.Runs(now):
		return NewError(CodeBookingNotPayable, "booking.trip_gone")
	default:
		return nil
	}
}
