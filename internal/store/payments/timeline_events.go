package payments

import (
	"time"

	"github.com/google/uuid"

	"rihla/models"
)

// TimelineEvent says what an entry of a timeline is about, for programs. New events may be added.
type TimelineEvent string

// The events of timelines.
const (
	EventTransactionOpened TimelineEvent = "TRANSACTION_OPENED"
	EventStatusChanged     TimelineEvent = "STATUS_CHANGED"
	EventWebhookReceived   TimelineEvent = "WEBHOOK_RECEIVED"
	EventGatewayAnswered   TimelineEvent = "GATEWAY_ANSWERED" // to a question of ours
	EventRecordWritten     TimelineEvent = "RECORD_WRITTEN"
	EventRecordSplit       TimelineEvent = "RECORD_SPLIT" // what a refund has left of a record goes on in another one
	EventRecordPaidOut     TimelineEvent = "RECORD_PAID_OUT"
	EventPayoutReverted    TimelineEvent = "RECORD_PAYOUT_REVERTED"
	EventSuspenseBooked    TimelineEvent = "SUSPENSE_BOOKED"
	EventRefundRequested   TimelineEvent = "REFUND_REQUESTED"
	EventRefundApproval    TimelineEvent = "REFUND_APPROVAL_DECIDED"
	EventRefundPayout      TimelineEvent = "REFUND_PAYOUT_DECIDED"
	EventRefundSucceeded   TimelineEvent = "REFUND_SUCCEEDED"
	EventRefundFailed      TimelineEvent = "REFUND_FAILED"
	EventRefundReturned    TimelineEvent = "REFUND_RETURNED"
	EventMessageQueued     TimelineEvent = "MESSAGE_QUEUED"
	EventMessageWaiting    TimelineEvent = "MESSAGE_WAITING" // for a reason, and until a time
	EventMessageGivenUp    TimelineEvent = "MESSAGE_GIVEN_UP"
	EventMessageSent       TimelineEvent = "MESSAGE_SENT"
	EventDisputeOpened     TimelineEvent = "DISPUTE_OPENED"
	EventDisputeClosed     TimelineEvent = "DISPUTE_CLOSED" // won, lost, or an inquiry that came to nothing
	EventIncidentOpened    TimelineEvent = "INCIDENT_OPENED"
	EventIncidentResolved  TimelineEvent = "INCIDENT_RESOLVED"
)

// timelineKinds are the kinds of the events, which clients knew before there were events.
var timelineKinds = map[TimelineEvent]string{
	EventTransactionOpened: TimelineState, EventStatusChanged: TimelineState,
	EventWebhookReceived: TimelineWebhook, EventGatewayAnswered: TimelineWebhook,
	EventRecordWritten: TimelineLedger, EventRecordSplit: TimelineLedger, EventRecordPaidOut: TimelineLedger,
	EventPayoutReverted: TimelineLedger, EventSuspenseBooked: TimelineLedger,
	EventRefundRequested: TimelineRefund, EventRefundApproval: TimelineRefund, EventRefundPayout: TimelineRefund,
	EventRefundSucceeded: TimelineRefund, EventRefundFailed: TimelineRefund, EventRefundReturned: TimelineRefund,
	EventMessageQueued: TimelineNotification, EventMessageWaiting: TimelineNotification,
	EventMessageGivenUp: TimelineNotification, EventMessageSent: TimelineNotification,
	EventDisputeOpened: TimelineIncident, EventDisputeClosed: TimelineIncident,
	EventIncidentOpened: TimelineIncident, EventIncidentResolved: TimelineIncident,
}

// TimelineEvents are all events, with the kind of each.
func TimelineEvents() map[TimelineEvent]string { return timelineKinds }

// TimelineFacts are what an entry is about. A fact that an event does not have is left out.
type TimelineFacts struct {
	TransactionID     *uuid.UUID
	Amount            *models.Money
	Currency          string
	FromStatus        string
	ToStatus          string // of the transaction, or the refund's
	FailureCode       string
	PaidBy            string // of money that came by another method than was chosen
	EventType         string // of the gateway's message
	Outcome           string // what became of the message
	Deliveries        int    // how often the gateway has said the same
	RecordID          *uuid.UUID
	TransactionNumber string
	RecordKind        string
	SplitFrom         *uuid.UUID
	DebitAccount      string
	CreditAccount     string
	RefundID          *uuid.UUID
	GatewayRefundID   string
	RefundType        string
	Decision          string
	DecidedBy         *uuid.UUID
	NotificationID    *uuid.UUID
	NotificationKind  string
	Channel           string // of the gateway's message, of a refund, or of a message to the customer
	Attempts          *int
	Reason            string // why a message waits or was given up; of a dispute the bank's
	DisputeKind       string
	Until             *time.Time
	IncidentID        *uuid.UUID
	IncidentKind      string
}
