package models

import (
	"strings"
	"time"

	"github.com/google/uuid"
)

// The types below travel between the API, workflows and activities, and so into workflow histories, which are
// kept in plain text: they carry ids and amounts, never names, addresses or free text of a person.

// Attempt asks for one payment attempt on a booking or on a campaign; exactly one of the two ids is set.
type Attempt struct {
	BookingID  uuid.UUID     `json:"booking_id,omitzero"`
	CampaignID uuid.UUID     `json:"campaign_id,omitzero"`
	ProviderID uuid.UUID     `json:"provider_id"`
	Number     int           `json:"number"`
	UserID     uuid.UUID     `json:"user_id"` // who pays
	Method     PaymentMethod `json:"method"`
	// Opener names the request that asks for the attempt, the same one when it is repeated. Of several that ask at once the
	// row keeps that of the request which has opened it (PaymentTransaction.OpenedFor).
	Opener uuid.UUID `json:"opener,omitzero"`
	// Resumed is set where a run of the attempt's workflow goes on with what an earlier one has opened.
	Resumed *ResumedAttempt `json:"resumed,omitempty"`
}

// ResumedAttempt is what a run of a payment's workflow leaves to the next one.
type ResumedAttempt struct {
	ExpiresAt time.Time     `json:"expires_at"`
	AskFor    time.Duration `json:"ask_for,omitempty"`
	Outage    bool          `json:"outage,omitempty"` // an operator has been told that the gateway does not answer
	Asked     int           `json:"asked,omitempty"`  // how often it was asked in vain
}

// ID is the transaction that the attempt makes: the same attempt is the same transaction (rules: payments.identity).
func (a Attempt) ID() uuid.UUID {
	if a.BookingID != uuid.Nil {
		return BookingAttemptID(a.BookingID, a.Number)
	}

	return CampaignAttemptID(a.CampaignID, a.Number)
}

// Checkout is what a workflow needs to know of an attempt at the gateway. The address at which the customer
// pays stays in the database.
type Checkout struct {
	Status    TransactionStatus `json:"status"`
	Failure   FailureCode       `json:"failure,omitempty"`
	ExpiresAt time.Time         `json:"expires_at"`
	// Delayed: the gateway's circuit is open, and callers should not wait for it. Status is PENDING.
	Delayed bool `json:"delayed,omitempty"`
	// GatewayTook is the part of the opening that was spent at the gateway, waiting for a later try included.
	GatewayTook time.Duration `json:"gateway_took,omitempty"`
	// AskFor is how long the gateway is queried about the attempt once that has expired, before an incident is opened.
	AskFor time.Duration `json:"ask_for,omitempty"`
}

// Settled is the state of a payment attempt after the gateway's status has been applied.
type Settled struct {
	Status     TransactionStatus `json:"status"`
	Failure    FailureCode       `json:"failure,omitempty"`
	Campaign   uuid.UUID         `json:"campaign,omitzero"`     // set when the attempt has paid for a campaign
	RefundOwed bool              `json:"refund_owed,omitempty"` // money was taken that can only go back
	// Sibling is another attempt of the booking or campaign that is still open although that has just been paid.
	Sibling        uuid.UUID `json:"sibling,omitzero"`
	SiblingGateway Gateway   `json:"sibling_gateway,omitempty"`
	NeedsReview    bool      `json:"needs_review,omitempty"` // an incident was opened
	Mismatch       string    `json:"mismatch,omitempty"`     // of money in suspense: what was expected and what was taken
	Queued         int       `json:"queued,omitempty"`       // notifications put into the outbox

	// For metrics and for requests that wait: whether this call moved the attempt, at which gateway, and of which booking it is. They stay out
	// of histories. Heard is when the webhook came that made it PAID; zero: no webhook did.
	Heard   time.Time `json:"-"`
	Moved   bool      `json:"-"`
	Gateway Gateway   `json:"-"`
	Booking uuid.UUID `json:"-"` // zero for a campaign
}

// Final reports that the attempt has ended.
func (s Settled) Final() bool { return s.Status != TransactionPending && s.Status != "" }

// RefundOrder names a refund that has been ordered; all else about it is in the database. Older histories hold more, which
// is not read.
type RefundOrder struct {
	ID uuid.UUID `json:"id"`
}

// ReservedRefund is a refund whose amount has been reserved of its payment.
type ReservedRefund struct {
	Status  RefundStatus  `json:"status"`
	Amount  Money         `json:"amount"`
	Gateway Gateway       `json:"gateway"`
	Channel RefundChannel `json:"channel,omitempty"` // older histories have none: GATEWAY
	// Currency is ISO 4217; older histories have none: SAR.
	Currency string `json:"currency,omitempty"`
	// ApprovalUntil is until when a second person may approve the refund; nil: it need not be, or was and is known to be.
	ApprovalUntil *time.Time `json:"approval_until,omitempty"`
	// ApprovalDecided says that the decision about that is there.
	ApprovalDecided bool `json:"approval_decided,omitempty"`
}

// ByHand reports that finance staff have to pay the refund out.
func (r ReservedRefund) ByHand() bool { return r.Channel == RefundByHand }

// RefundResult is how a gateway decided, or that it has not yet.
type RefundResult struct {
	Status          RefundStatus `json:"status"`
	GatewayRefundID string       `json:"gateway_refund_id,omitempty"`
	FailureReason   string       `json:"failure_reason,omitempty"`
	// Delayed: the gateway's circuit is open, and callers should not wait for it. Status is PENDING.
	Delayed bool `json:"delayed,omitempty"`
	// Mismatch: the gateway has made another refund than was ordered, and there is an incident. Status is PENDING.
	Mismatch bool `json:"mismatch,omitempty"`
}

// SettledRefund is a refund after a decision about it has been applied.
type SettledRefund struct {
	Status      RefundStatus `json:"status"`
	Queued      int          `json:"queued,omitempty"`       // notifications put into the outbox
	NeedsReview bool         `json:"needs_review,omitempty"` // an incident was opened
	// Approval is what was decided about a refund that needs an approval; empty: nothing yet.
	Approval ApprovalDecision `json:"approval,omitempty"`
	// TurnedManual: its gateway did not make it, it is owed, and finance staff have to pay it out. Status is PENDING.
	TurnedManual bool `json:"turned_manual,omitempty"`
	// Withdrawn is the cancellation request that ended with its booking; uuid.Nil: none. No part of a history.
	Withdrawn uuid.UUID `json:"-"`
}

// OpenCancellation is how a customer's request to cancel stands.
type OpenCancellation struct {
	Status    CancellationRequestStatus `json:"status"`
	BookingID uuid.UUID                 `json:"booking_id"`
	Until     time.Time                 `json:"until"` // the departure of now, at which it expires
	RemindAt  time.Time                 `json:"remind_at"`
	Seats     int                       `json:"seats"`
	Amount    Money                     `json:"amount"` // what goes back if it is approved
}

// Delivery is a stored webhook event on its way to a workflow.
type Delivery struct {
	EventID       uuid.UUID `json:"event_id"`
	TransactionID uuid.UUID `json:"transaction_id"` // the payment attempt; for refund events the paid one
	RefundID      uuid.UUID `json:"refund_id,omitzero"`
	BookingID     uuid.UUID `json:"booking_id,omitzero"` // for operators who search; zero for a campaign
	Channel       Channel   `json:"channel"`
	// Ended says that the attempt had ended when the event came, so that no payment workflow waits for it.
	Ended bool `json:"ended,omitempty"`
}

// ShownIncident is an incident as a workflow shows it to operators: no words about people.
type ShownIncident struct {
	ID            uuid.UUID    `json:"id" bun:"id"`
	Kind          IncidentKind `json:"kind" bun:"kind"`
	Status        string       `json:"status" bun:"status"` // IncidentOpen or IncidentResolved
	BookingID     uuid.UUID    `json:"booking_id,omitzero" bun:"booking_id"`
	CampaignID    uuid.UUID    `json:"campaign_id,omitzero" bun:"ad_campaign_id"`
	TransactionID uuid.UUID    `json:"transaction_id,omitzero" bun:"payment_transaction_id"`
	RefundID      uuid.UUID    `json:"refund_id,omitzero" bun:"refund_id"`
	Gateway       Gateway      `json:"gateway,omitempty" bun:"gateway"`
}

// About names what the incident is about, a line for each.
func (i ShownIncident) About() string {
	about := []string{"incident " + i.ID.String()}

	for _, part := range []struct {
		what string
		id   uuid.UUID
	}{{"payment", i.TransactionID}, {"refund", i.RefundID}, {"booking", i.BookingID}, {"campaign", i.CampaignID}} {
		if part.id != uuid.Nil {
			about = append(about, part.what+" "+part.id.String())
		}
	}

	return strings.Join(about, "\n")
}

// The states of an outbox row.
const (
	NotificationPending = "PENDING"
	NotificationSent    = "SENT"
	NotificationFailed  = "FAILED"
)
