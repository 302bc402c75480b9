package models

import (
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// CancelRefund says how the refund of a cancellation is found.
type CancelRefund string

// The refunds of cancellations.
const (
	CancelByPolicy CancelRefund = "POLICY"
	CancelInFull   CancelRefund = "FULL"   // all of the passengers' share
	CancelByAmount CancelRefund = "AMOUNT" // what a person has named
	CancelUnpaid   CancelRefund = "NONE"
)

// CancellationStatus is the state of a cancellation.
type CancellationStatus string

// The states of cancellations.
const (
	CancellationPending CancellationStatus = "PENDING" // its refund waits for an approval
	CancellationDone    CancellationStatus = "DONE"    // the passengers are cancelled and their seats free
	CancellationVoid    CancellationStatus = "VOID"    // its refund was not approved: nothing was cancelled
)

// Cancellation takes passengers out of a paid booking (rules: cancellations.effect). Its figures are kept, so that each can be recomputed
// from them and from the cancellations before.
type Cancellation struct {
	bun.BaseModel `bun:"table:cancellations,alias:cn"`

	ID                   uuid.UUID          `bun:"id,pk"`
	BookingID            uuid.UUID          `bun:"booking_id"`
	PaymentTransactionID uuid.UUID          `bun:"payment_transaction_id"`
	N                    int                `bun:"n"` // 1 for the booking's first
	Status               CancellationStatus `bun:"status"`
	Positions            []int              `bun:"positions,array"` // of the passengers, as they were booked; from 1
	RefundBy             CancelRefund       `bun:"refund_by"`
	Seats                int                `bun:"seats"`
	SeatsBefore          int                `bun:"seats_before"`
	Percent              *int               `bun:"percent"`
	PaidAmount           Money              `bun:"paid_amount"`
	DueAmount            Money              `bun:"due_amount"`
	GivenAmount          Money              `bun:"given_amount"`
	LeftAmount           Money              `bun:"left_amount"`
	RefundAmount         Money              `bun:"refund_amount"`
	RefundID             *uuid.UUID         `bun:"refund_id"`
	Cause                RefundCause        `bun:"cause"`
	Reason               string             `bun:"reason"` // may name a person
	CancelledBy          *uuid.UUID         `bun:"cancelled_by"`
	BodyHash             []byte             `bun:"body_hash"`
	CreatedAt            time.Time          `bun:"created_at,nullzero,default:now()"`
	DoneAt               *time.Time         `bun:"done_at"`

	KeptAmount Money     `bun:"-"` // as fees of the booking's earlier cancellations; where that is read
	Withdrawn  uuid.UUID `bun:"-"` // the request that ended with its booking, of the call that did it; uuid.Nil: none
}

// CancellationID is the id of the cancellation that one request for it makes.
func CancellationID(booking uuid.UUID, request string) uuid.UUID {
	return follow(booking, "cancellation:"+booking.String()+":"+request)
}

// Take writes the figures of a part into the cancellation.
func (c *Cancellation) Take(p CancelledPart) {
	c.Seats, c.SeatsBefore, c.Percent = p.Seats, p.Of, p.Percent
	c.PaidAmount, c.DueAmount, c.GivenAmount, c.LeftAmount, c.RefundAmount = p.Paid, p.Due, p.Given, p.Left, p.Refund
	c.KeptAmount = p.Kept
}

// Part is what the cancellation takes out of its booking.
func (c *Cancellation) Part() CancelledPart {
	return CancelledPart{
		Seats: c.Seats, Of: c.SeatsBefore, Percent: c.Percent, Paid: c.PaidAmount, Due: c.DueAmount, Given: c.GivenAmount,
		Left: c.LeftAmount, Kept: c.KeptAmount, Refund: c.RefundAmount,
	}
}

// CancelOrder asks for passengers of a paid booking to be cancelled, with a refund or without.
type CancelOrder struct {
	ID         uuid.UUID   // of the cancellation
	Passengers []uuid.UUID // none: all that are left
	RefundBy   CancelRefund
	Amount     *Money       // of CancelByAmount
	Quote      *CancelQuote // what the customer was quoted; nil: the terms of now
	Cause      RefundCause  // empty: the one that follows from the terms
	RequestID  uuid.UUID    // the customer's request that it carries out; uuid.Nil: none
}

// CancelQuote is what a cancellation by the policy comes to, and by which terms.
type CancelQuote struct {
	Terms PolicyTerms
	Part  CancelledPart
	Now   *CancelOutlook // nil: of a quote that was kept
}

// CancelOutlook is what else an order at the moment of a quote would be.
type CancelOutlook struct {
	Full          Money // what CancelInFull would give back for the same passengers
	UnpaidFee     Money // what CancelUnpaid would keep of what was paid for them; CancelByAmount keeps less by its amount
	NeedsApproval bool  // an order of the quote by its reader would wait for a second person
	ExpectedBy    *Date // of the refund of such an order (Refund.ExpectedBy)
}

// Better are the terms of a quote, or those of now where the trip was moved or cancelled since and they give more (rules:
// cancellations.quote).
func (q *CancelQuote) Better(now PolicyTerms) PolicyTerms {
	switch {
	case q == nil:
		return now
	case (now.Reason == PolicyRescheduled || now.Reason == PolicyTripCancelled) && now.Percent > q.Terms.Percent:
		return now
	default:
		terms := q.Terms
		terms.Given = now.Given

		return terms
	}
}

// PassengerStatus is the state of one passenger of a booking.
type PassengerStatus string

// The states of passengers.
const (
	PassengerConfirmed PassengerStatus = "CONFIRMED"
	PassengerCancelled PassengerStatus = "CANCELLED"
)

// PassengerID is the id of the passenger at a position of a booking, from 1.
func PassengerID(booking uuid.UUID, position int) uuid.UUID {
	return follow(booking, "passenger:"+booking.String()+":"+strconv.Itoa(position))
}

// PassengerAt is the state of the passenger at a position, from 1. Of a booking that is cancelled as a whole all are.
func (b *Booking) PassengerAt(position int) PassengerStatus {
	if b.Status == BookingCancelled || slices.Contains(b.CancelledPositions, position) {
		return PassengerCancelled
	}

	return PassengerConfirmed
}

// LivePositions are those of the passengers that are not cancelled, in their order.
func (b *Booking) LivePositions() []int {
	var live []int

	for i := range b.Passengers {
		if b.PassengerAt(i+1) == PassengerConfirmed {
			live = append(live, i+1)
		}
	}

	return live
}

// PositionsOf are the positions of passengers by their ids; none are all that are left. Errors: VALIDATION_ERROR on passenger_ids for one
// that is unknown or named twice, INVALID_STATE for one that is cancelled.
func (b *Booking) PositionsOf(ids []uuid.UUID) ([]int, error) {
	if len(ids) == 0 {
		return b.LivePositions(), nil
	}

	known := make(map[uuid.UUID]int, len(b.Passengers))
	for i := range b.Passengers {
		known[PassengerID(b.ID, i+1)] = i + 1
	}

	positions := make([]int, 0, len(ids))

	for _, id := range ids {
		position, ok := known[id]

		switch {
		case !ok, slices.Contains(positions, position):
			return nil, Invalid("passenger_ids", "cancellation.passenger_unknown")
		case b.PassengerAt(position) == PassengerCancelled:
			return nil, NewError(CodeInvalidState, "cancellation.passenger_cancelled")
		}

		positions = append(positions, position)
	}

	slices.Sort(positions)

	return positions, nil
}

// Cancellable says whether passengers of the booking can be cancelled with a refund or without. Error: INVALID_STATE.
func (b *Booking) Cancellable() error {
	if b.Status != BookingConfirmed {
		return NewError(CodeInvalidState, "cancellation.not_confirmed", "status", b.Status)
	}

	return nil
}
