package models

import "github.com/google/uuid"

// RefundRequest asks for a refund to be ordered. BookingID alone leaves it to the database which of the booking's payments
// that is; TransactionID names one, which may be a campaign's. It stays out of workflows.
type RefundRequest struct {
	ID            uuid.UUID
	BookingID     uuid.UUID
	TransactionID uuid.UUID
	Type          RefundType
	Amount        *Money
	Expected      *Money     // what it has to come to, or it is not ordered; nil: whatever it comes to
	RequestedBy   *uuid.UUID // nil: the service itself
	Role          Role
	RequestID     string
	Address       string // where the request came from, and by what; for the audit log
	UserAgent     string
	Reason        string // may name a person
	// AtMost bounds what a requester without a code of late has ordered back of the payment with this order; nil: there is no bound.
	AtMost   *Money
	Claim    uuid.UUID // of the Idempotency-Key; uuid.Nil without one
	BodyHash []byte    // SHA-256 of the request's body; nil without an Idempotency-Key

	Bearer RefundBearer // empty: PROPORTIONAL
	Cause  RefundCause  // empty: the one that follows from the terms (CauseOf)
	// CancelBooking says whether the order cancels the passengers that are left; nil: a refund by the policy does.
	CancelBooking *bool
}

// Cancels reports whether the order cancels what is left of its booking. A FULL refund does so when the money has gone back, and so needs
// no cancellation of its own.
func (r *RefundRequest) Cancels() bool {
	if r.CancelBooking != nil {
		return *r.CancelBooking && r.Type != RefundFull
	}

	return r.Type == RefundPolicy
}
