package models

import (
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// CancellationRequestStatus is the state of a request to cancel passengers.
type CancellationRequestStatus string

// The states of cancellation requests.
const (
	CancellationRequested CancellationRequestStatus = "REQUESTED"
	CancellationApproved  CancellationRequestStatus = "APPROVED"
	CancellationRejected  CancellationRequestStatus = "REJECTED"
	CancellationWithdrawn CancellationRequestStatus = "WITHDRAWN" // by the customer
	CancellationExpired   CancellationRequestStatus = "EXPIRED"   // the trip departed before it was decided
)

// CancellationRequest is a customer's request to cancel passengers of a paid booking, with the quote of the moment of asking (rules:
// cancellations.quote). Amounts are in SAR.
type CancellationRequest struct {
	bun.BaseModel `bun:"table:cancellation_requests,alias:cr"`

	ID             uuid.UUID                 `bun:"id,pk"`
	BookingID      uuid.UUID                 `bun:"booking_id"`
	Status         CancellationRequestStatus `bun:"status"`
	Positions      []int                     `bun:"positions,array"`
	SeatsBefore    int                       `bun:"seats_before"`
	Percent        int                       `bun:"percent"`
	ReasonCode     PolicyReason              `bun:"reason_code"`
	Schedule       string                    `bun:"schedule"`
	Hours          int                       `bun:"hours"`
	PaidAmount     Money                     `bun:"paid_amount"`
	DueAmount      Money                     `bun:"due_amount"`
	GivenAmount    Money                     `bun:"given_amount"`
	LeftAmount     Money                     `bun:"left_amount"`
	RefundAmount   Money                     `bun:"refund_amount"`
	Reason         string                    `bun:"reason"` // of the customer; may name a person
	Note           string                    `bun:"note"`   // of who decided
	RequestedBy    uuid.UUID                 `bun:"requested_by"`
	RequestedAt    time.Time                 `bun:"requested_at"`
	DecidedBy      *uuid.UUID                `bun:"decided_by"` // nil: not yet, or by the service
	DecidedAt      *time.Time                `bun:"decided_at"`
	CancellationID *uuid.UUID                `bun:"cancellation_id"` // of APPROVED
	BodyHash       []byte                    `bun:"body_hash"`
	LookedAt       *time.Time                `bun:"looked_at"` // when its workflow first did
	ClosedAt       *time.Time                `bun:"closed_at"` // when its workflow saw that it is decided

	// For people: of the booking, and the refund that was ordered with the approval.
	BookingNumber string     `bun:"booking_number,scanonly"`
	CustomerName  string     `bun:"contact_name,scanonly"`
	ProviderName  string     `bun:"provider_name,scanonly"`
	TripTitle     string     `bun:"trip_title,scanonly"`
	DepartureAt   time.Time  `bun:"departure_at,scanonly"`
	RefundID      *uuid.UUID `bun:"refund_id,scanonly"`
	DeciderName   string     `bun:"decider_name,scanonly"` // of the member of staff who decided
}

// Keep writes a quote into the request.
func (r *CancellationRequest) Keep(q CancelQuote, positions []int) {
	r.Positions, r.SeatsBefore, r.Percent = positions, q.Part.Of, q.Terms.Percent
	r.ReasonCode, r.Schedule, r.Hours = q.Terms.Reason, q.Terms.Schedule.String(), q.Terms.Hours
	r.PaidAmount, r.DueAmount, r.GivenAmount = q.Part.Paid, q.Part.Due, q.Part.Given
	r.LeftAmount, r.RefundAmount = q.Part.Left, q.Part.Refund
}

// Quote is what was kept. Error: a schedule that cannot be read.
func (r *CancellationRequest) Quote() (CancelQuote, error) {
	q := CancelQuote{
		Terms: PolicyTerms{Reason: r.ReasonCode, Hours: r.Hours, Percent: r.Percent},
		Part: CancelledPart{
			Seats: len(r.Positions), Of: r.SeatsBefore, Percent: &r.Percent, Paid: r.PaidAmount, Due: r.DueAmount, Given: r.GivenAmount,
			Left: r.LeftAmount, Refund: r.RefundAmount,
		},
	}

	return q, q.Terms.Schedule.UnmarshalText([]byte(r.Schedule))
}

// Order is the cancellation that an approval of the request carries out; quote is that of the request.
func (r *CancellationRequest) Order(quote *CancelQuote) CancelOrder {
	return CancelOrder{
		ID: CancellationID(r.BookingID, r.identity()), Passengers: r.PassengerIDs(), RefundBy: CancelByPolicy, Quote: quote, RequestID: r.ID,
	}
}

// OrderID is the id of the refund that an approval of the request orders.
func (r *CancellationRequest) OrderID() uuid.UUID { return RefundID(r.BookingID, r.identity()) }

func (r *CancellationRequest) identity() string { return "cancellation-request:" + r.ID.String() }

// PassengerIDs are those of the passengers that the request names.
func (r *CancellationRequest) PassengerIDs() []uuid.UUID {
	return PassengerIDs(r.BookingID, r.Positions)
}

// PassengerIDs are the ids of passengers of a booking by their positions.
func PassengerIDs(booking uuid.UUID, positions []int) []uuid.UUID {
	ids := make([]uuid.UUID, len(positions))
	for i, position := range positions {
		ids[i] = PassengerID(booking, position)
	}

	return ids
}

// MayDecide says whether the request can become to; again is true when it is that already, by the same person. Error: INVALID_STATE.
func (r *CancellationRequest) MayDecide(to CancellationRequestStatus, by *uuid.UUID) (again bool, err error) {
	switch {
	case r.Status == CancellationRequested:
		return false, nil
	case r.Status == to && (by == nil || r.DecidedBy != nil && *r.DecidedBy == *by):
		return true, nil
	default:
		return false, NewError(CodeInvalidState, "cancellation.decided", "status", r.Status)
	}
}
