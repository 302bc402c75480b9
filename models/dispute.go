package models

import (
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// DisputeKind says what the customer's bank has done.
type DisputeKind string

// The kinds of disputes.
const (
	// DisputeInquiry: the bank asks, and has taken nothing. Giving the money back is a good answer to it.
	DisputeInquiry DisputeKind = "INQUIRY"
	// DisputeChargeback: the bank has taken the money back until the dispute is decided. A refund on top gives it back twice.
	DisputeChargeback DisputeKind = "CHARGEBACK"
)

// DisputeState is how a dispute stands.
type DisputeState string

// The states of disputes.
const (
	DisputeOpen   DisputeState = "OPEN"
	DisputeWon    DisputeState = "WON"    // the money is the platform's
	DisputeLost   DisputeState = "LOST"   // the customer keeps it
	DisputeClosed DisputeState = "CLOSED" // an inquiry that came to nothing
)

// Dispute is a dispute of a payment as far as the gateway has told of it (rules: webhooks.disputes).
type Dispute struct {
	bun.BaseModel `bun:"table:disputes,alias:dp"`

	ID                   uuid.UUID    `bun:"id,pk"`
	PaymentTransactionID uuid.UUID    `bun:"payment_transaction_id"`
	IncidentID           uuid.UUID    `bun:"incident_id"`
	GatewayDisputeID     string       `bun:"gateway_dispute_id"`
	Kind                 DisputeKind  `bun:"kind"`
	State                DisputeState `bun:"state"`
	Amount               *Money       `bun:"amount"`
	Currency             string       `bun:"currency"`
	Reason               string       `bun:"reason"`
	DueAt                *time.Time   `bun:"due_at"` // until when it has to be answered
	OpenedAt             time.Time    `bun:"opened_at"`
	ClosedAt             *time.Time   `bun:"closed_at"`
	UpdatedAt            time.Time    `bun:"updated_at,nullzero,default:now()"`
}

// DisputeNotice is what a gateway's message says of a dispute.
type DisputeNotice struct {
	ID    string // the gateway's, of the dispute; empty where it has none
	Kind  DisputeKind
	State DisputeState
	DueAt *time.Time
}

// PaymentDisputed refuses to give back or to pay out money of a disputed payment. incident is where people deal with the dispute.
func PaymentDisputed(incident uuid.UUID) *Error {
	err := NewError(CodePaymentDisputed, "payment.disputed", "incident", incident)
	err.Details = map[string][]Text{"incident_id": {Verbatim(incident.String())}}

	return err
}
