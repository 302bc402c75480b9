package models

import (
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// WebhookEvent is a gateway's signed message as it was received (rules: webhooks.kept).
type WebhookEvent struct {
	bun.BaseModel `bun:"table:webhook_events,alias:we"`

	ID                uuid.UUID     `bun:"id,pk"`
	Channel           Channel       `bun:"channel"`
	WebhookID         string        `bun:"webhook_id"`
	Type              EventType     `bun:"type"`
	TransactionID     *uuid.UUID    `bun:"transaction_id"`
	RefundID          *uuid.UUID    `bun:"refund_id"`
	CheckoutID        string        `bun:"checkout_id"`
	MerchantReference string        `bun:"merchant_reference"`
	Amount            *Money        `bun:"amount"`
	Currency          string        `bun:"currency"`
	PaymentMethod     PaymentMethod `bun:"payment_method"`
	ResultCode        string        `bun:"result_code"`
	FailureReason     string        `bun:"failure_reason"`
	GatewayRefundID   string        `bun:"gateway_refund_id"`
	OccurredAt        time.Time     `bun:"occurred_at"`
	ReceivedAt        time.Time     `bun:"received_at,nullzero,default:now()"`
	Body              *string       `bun:"body"`      // as it was signed; nil: an answer to a question of ours
	Signature         *string       `bun:"signature"` // the headers that prove the body, a line each
	ProcessedAt       *time.Time    `bun:"processed_at"`
	Outcome           EventOutcome  `bun:"outcome"`

	// Revises: it may take back what the gateway said before; see gateways.Event.
	Revises bool `bun:"revises"`
	// GatewayPaymentID is kept with the attempt.
	GatewayPaymentID string `bun:"-"`
	// Unreadable is why an EventUnreadable is one.
	Unreadable string `bun:"-"`
	// Dispute is what a message about a dispute says of it; nil of any other.
	Dispute *DisputeNotice `bun:"-"`
	// Hint: what proves the message does not prove its content. It is kept as a notice, and the gateway is asked.
	Hint bool `bun:"-"`
	// Sealed: the body is encrypted, for each delivery anew, so that its fields say whether it is the same message.
	Sealed bool `bun:"-"`
}

// EventOutcome says what became of a webhook event.
type EventOutcome string

// The outcomes of a webhook event.
const (
	OutcomeApplied   EventOutcome = "APPLIED"   // it moved the state
	OutcomeDuplicate EventOutcome = "DUPLICATE" // the state already said so
	OutcomeIgnored   EventOutcome = "IGNORED"   // it says nothing that can change the state any more
	OutcomeIncident  EventOutcome = "INCIDENT"  // a person has to look at it
)

// PolledPrefix begins the webhook id of an event that was made from the gateway's answer to a status poll. The index
// webhook_events_heard knows it too.
const PolledPrefix = "status-query:"

// PolledEventID is the webhook id of what the gateway answered about an attempt: the same answer twice is the same event.
func PolledEventID(t *PaymentTransaction, status string) string {
	return PolledPrefix + t.ID.String() + ":" + status
}

// PolledRefundEventID is the webhook id of what the gateway answered about a refund.
func PolledRefundEventID(refund uuid.UUID, status string) string {
	return PolledPrefix + "refund:" + refund.String() + ":" + status
}

// IsPolled reports that the event is what a gateway answered when it was asked, and no webhook.
func (e *WebhookEvent) IsPolled() bool { return strings.HasPrefix(e.WebhookID, PolledPrefix) }

// IsAboutRefund reports the types that say what became of a refund.
func (t EventType) IsAboutRefund() bool { return t == EventRefundSucceeded || t == EventRefundFailed }

// IsAboutPayment reports the types that say what became of a payment attempt.
func (t EventType) IsAboutPayment() bool {
	return t == EventPaymentSucceeded || t == EventPaymentFailed || t == EventPaymentExpired
}

// IsAboutDispute reports the types that say what became of a dispute.
func (t EventType) IsAboutDispute() bool { return t == EventPaymentDisputed || t == EventDisputeClosed }

// RefundStatus is the state of a refund that an event of a type IsAboutRefund reports.
func (t EventType) RefundStatus() RefundStatus {
	if t == EventRefundSucceeded {
		return RefundSucceeded
	}

	return RefundFailed
}

// ReportedBy is the type of the events that report a state of a refund: EventType.RefundStatus the other way round.
func (s RefundStatus) ReportedBy() EventType {
	if s == RefundSucceeded {
		return EventRefundSucceeded
	}

	return EventRefundFailed
}

// IsNamedBy reports that an event names the attempt by the gateway's id of its payment, where other events have the checkout.
func (t *PaymentTransaction) IsNamedBy(e *WebhookEvent) bool {
	return t.GatewayPaymentID != nil && *t.GatewayPaymentID == e.CheckoutID
}

// Facts are what an incident keeps of an event.
func (e *WebhookEvent) Facts() map[string]any {
	d := map[string]any{
		"webhook_id": e.WebhookID, "type": e.Type, "checkout_id": e.CheckoutID, "merchant_reference": e.MerchantReference,
		"currency": e.Currency, "result_code": e.ResultCode, "received_at": e.ReceivedAt,
	}
	if e.Amount != nil {
		d["amount"] = e.Amount
	}

	return d
}
