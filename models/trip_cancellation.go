package models

import (
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// TripCancellationStatus is the state of the cancellation of a trip.
type TripCancellationStatus string

// The states of the cancellation of a trip.
const (
	TripCancellationRunning  TripCancellationStatus = "CANCELLING" // or it waits for its approval
	TripCancellationDone     TripCancellationStatus = "CANCELLED"  // no booking of the trip is live any more
	TripCancellationRejected TripCancellationStatus = "REJECTED"   // by a second person, or withdrawn
	TripCancellationExpired  TripCancellationStatus = "EXPIRED"    // it was not approved in time
)

// TripCancellationSums are what the cancellation of a trip comes to. Amounts are in SAR.
type TripCancellationSums struct {
	Bookings      int   `bun:"bookings" json:"bookings,omitzero"` // paid
	Seats         int   `bun:"seats" json:"seats,omitzero"`       // of these, without the passengers that are cancelled already
	RefundTotal   Money `bun:"refund_total" json:"refund_total,omitzero"`
	ClawbackTotal Money `bun:"clawback_total" json:"clawback_total,omitzero"` // of it, what the company was paid out already and owes
	OpenCheckouts int   `bun:"open_checkouts" json:"open_checkouts,omitzero"` // bookings that wait for their payment
	Campaigns     int   `bun:"campaigns" json:"campaigns,omitzero"`           // that have not ended

	NeedsApproval       bool  `bun:"-" json:"-"` // of a preview
	CampaignRefundTotal Money `bun:"-" json:"-"` // the same: of the days that the campaigns have not run
}

// TripCancellation calls a trip off (rules: trips.cancel). The sums are those of the moment of asking.
type TripCancellation struct {
	bun.BaseModel `bun:"table:trip_cancellations,alias:tc"`

	ID     uuid.UUID              `bun:"id,pk"`
	TripID uuid.UUID              `bun:"trip_id"`
	Status TripCancellationStatus `bun:"status"`
	Reason string                 `bun:"reason"` // may name a person
	TripCancellationSums
	RequestedBy     uuid.UUID  `bun:"requested_by"`
	RequestedAt     time.Time  `bun:"requested_at"`
	ApprovalAbove   *Money     `bun:"approval_above"` // the limit of then; nil: none
	ApprovalUntil   *time.Time `bun:"approval_until"` // nil: it needs no approval
	ApprovalPending bool       `bun:"approval_pending"`
	DecidedBy       *uuid.UUID `bun:"decided_by"`
	DecidedAt       *time.Time `bun:"decided_at"`
	Note            string     `bun:"note"` // of who decided
	LookedAt        *time.Time `bun:"looked_at"`
	DoneAt          *time.Time `bun:"done_at"`

	ProviderID    uuid.UUID `bun:"provider_id,scanonly"` // of the trip, where it is read
	RequesterName string    `bun:"-"`                    // read for people only
	DeciderName   string    `bun:"-"`                    // the same

	TripCancellationTrip
}

// TripCancellationTrip is what people know the trip of a cancellation by; read for people only.
type TripCancellationTrip struct {
	Title        string    `bun:"trip_title,scanonly"`
	Origin       string    `bun:"trip_origin,scanonly"`
	Destination  string    `bun:"trip_destination,scanonly"`
	DepartureAt  time.Time `bun:"trip_departure_at,scanonly"`
	ProviderName string    `bun:"provider_name,scanonly"`
}

// Approve writes into a cancellation that is being ordered what it needs: when it and what the company has called off alone come to more
// than the limit it waits for a second person, until its time is over or the trip departs.
func (c *TripCancellation) Approve(above, alone Money, wait time.Duration, departure time.Time) {
	if !above.IsPositive() {
		return
	}

	c.ApprovalAbove = &above

	if !needsSecondPerson(above, alone, c.RefundTotal) {
		return
	}

	until := c.RequestedAt.Add(wait)
	if departure.Before(until) {
		until = departure
	}

	c.ApprovalUntil, c.ApprovalPending = &until, true
}

func needsSecondPerson(above, alone, total Money) bool {
	return above.IsPositive() && total.IsPositive() && alone.Add(total).Cmp(above) > 0
}

// IsUnderWay reports that bookings are being cancelled: no approval is missing.
func (c *TripCancellation) IsUnderWay() bool {
	return c.Status == TripCancellationRunning && !c.ApprovalPending
}

// ApprovalTimeIsOver reports that the cancellation has waited for an approval in vain.
func (c *TripCancellation) ApprovalTimeIsOver(now time.Time) bool {
	return c.ApprovalPending && !now.Before(*c.ApprovalUntil)
}

// MayDecide says whether a person may decide so at now; again is true for a decision that only repeats the one that is kept. Errors:
// FORBIDDEN for the approval by the requester; INVALID_STATE when it needs no approval, or was decided otherwise or by another person.
func (c *TripCancellation) MayDecide(approve bool, by uuid.UUID) (again bool, err error) {
	switch {
	case approve && c.RequestedBy == by:
		return false, NewError(CodeForbidden, "trip_cancellation.own")
	case c.ApprovalUntil == nil:
		return false, NewError(CodeInvalidState, "trip_cancellation.no_approval")
	case c.ApprovalPending:
		return false, nil
	case c.DecidedBy != nil && *c.DecidedBy == by && approve == (c.Status != TripCancellationRejected):
		return true, nil
	default:
		return false, NewError(CodeInvalidState, "trip_cancellation.decided", "status", c.Status)
	}
}

// TripCancellationCounts say how far the cancellation of a trip is, of the bookings that were paid when it was asked for or since. Of one
// that was rejected or expired they are those of its end.
type TripCancellationCounts struct {
	Bookings         int `json:"bookings,omitzero"`
	Cancelled        int `json:"cancelled,omitzero"`
	RefundsSucceeded int `json:"refunds_succeeded,omitzero"`
	RefundsPending   int `json:"refunds_pending,omitzero"`
	// RefundsFailed were not made by their gateway: each has an incident and waits for its manual payout, or was rejected.
	RefundsFailed int   `json:"refunds_failed,omitzero"`
	RefundsByHand int   `json:"refunds_by_hand,omitzero"` // pending or failed ones that wait for their manual payout
	RefundedTotal Money `json:"refunded_total,omitzero"`  // of those that have succeeded
	Undecided     int   `json:"undecided,omitzero"`       // pending ones that their gateway has to decide, or a second person
}

// TripCancellationOrder is what the workflow that calls a trip off is started with, and goes on with in a new run.
type TripCancellationOrder struct {
	ID         uuid.UUID `json:"id,omitzero"`
	TripID     uuid.UUID `json:"trip_id,omitzero"`
	ProviderID uuid.UUID `json:"provider_id,omitzero"`

	After   uuid.UUID `json:"after,omitzero"`   // the last booking that was dealt with; uuid.Nil: none
	Blocked int       `json:"blocked,omitzero"` // bookings that could not be cancelled in this pass
	Passes  int       `json:"passes,omitzero"`  // over all bookings, that are over
	Paused  bool      `json:"paused,omitzero"`  // by an operator
	Ended   bool      `json:"ended,omitzero"`   // no booking is live any more; refunds are under way
}

// OpenTripCancellation is how the cancellation of a trip stands, for its workflow.
type OpenTripCancellation struct {
	Status          TripCancellationStatus `json:"status,omitzero"`
	ApprovalPending bool                   `json:"approval_pending,omitzero"`
	Until           time.Time              `json:"until,omitzero"` // until when it may be approved; zero: it needs no approval
	Sums            TripCancellationSums   `json:"sums,omitzero"`
}

// CancelledForTrip is what became of one booking, or campaign, of a trip that is called off.
type CancelledForTrip struct {
	Refund  *RefundOrder `json:"refund,omitzero"`  // that is under way; nil: nothing goes back
	Gateway Gateway      `json:"gateway,omitzero"` // of the refund, or of the attempt
	Attempt uuid.UUID    `json:"attempt,omitzero"` // whose checkout is still open; uuid.Nil: none
	Booking uuid.UUID    `json:"booking,omitzero"` // uuid.Nil: of a campaign
	// Campaign is uuid.Nil of a booking.
	Campaign uuid.UUID `json:"campaign_id,omitzero"`
	Blocked  Code      `json:"blocked,omitzero"` // why it cannot be cancelled now; empty: it is

	Withdrawn uuid.UUID `json:"-"` // as in SettledRefund
}
