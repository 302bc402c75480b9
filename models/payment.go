package models

import (
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
)

// PaymentTransaction is one payment attempt through a gateway, the transaction that a refund adds, or a second payment (rules:
// payments.states, late.second-debit). ParentID is the payment of the last two.
// Amounts are in SAR; Amount includes VAT. The rates are those of its creation and never change.
type PaymentTransaction struct {
	bun.BaseModel `bun:"table:payment_transactions,alias:pt"`

	ID                   uuid.UUID         `bun:"id,pk"`
	Kind                 TransactionKind   `bun:"kind"`
	ParentID             *uuid.UUID        `bun:"parent_id"`
	Attempt              int               `bun:"attempt"`
	Reference            *string           `bun:"reference"`
	UserID               uuid.UUID         `bun:"user_id"`
	ProviderID           uuid.UUID         `bun:"provider_id"`
	BookingID            *uuid.UUID        `bun:"booking_id"`
	AdCampaignID         *uuid.UUID        `bun:"ad_campaign_id"`
	Amount               Money             `bun:"amount"`
	Currency             string            `bun:"currency"`
	VATRate              Rate              `bun:"vat_rate"`
	VATAmount            Money             `bun:"vat_amount"`
	CommissionRate       Rate              `bun:"commission_rate"` // the platform's share; 1 of advertising
	PaymentMethod        PaymentMethod     `bun:"payment_method"`  // that the customer had chosen
	PaidBy               *PaymentMethod    `bun:"paid_by"`         // that the money came by; nil: the same, or not known
	Gateway              Gateway           `bun:"gateway"`
	Channel              Channel           `bun:"channel"` // where the gateway reports it; tells the account
	Status               TransactionStatus `bun:"status"`
	FailureCode          *FailureCode      `bun:"failure_code"`
	FailureReason        string            `bun:"failure_reason"`
	CheckoutURL          *string           `bun:"checkout_url"`
	PageData             map[string]string `bun:"page_data,type:jsonb,nullzero"` // of a page of ours; see gateways.Checkout
	OpenedAt             *time.Time        `bun:"opened_at"`                     // when its checkout was made; nil: not known
	ReturnURL            string            `bun:"return_url"`
	ReturnBase           string            `bun:"return_base"` // PUBLIC_URL of the API that was asked
	ReturnID             *uuid.UUID        `bun:"return_id"`   // random; opens the redirect to ReturnURL
	OpenedFor            *uuid.UUID        `bun:"opened_for"`  // Attempt.Opener of the request that has opened it; nil: not known
	SentAnswer           *SentAnswer       `bun:"sent_answer"` // how openings were answered without success; nil: none that counts
	ExpiresAt            time.Time         `bun:"expires_at"`
	CapturedAt           *time.Time        `bun:"captured_at"`       // when the gateway took the money (WebhookEvent.TakenAt)
	CapturedAmount       *Money            `bun:"captured_amount"`   // with the next two: only of money in suspense
	CapturedCurrency     *string           `bun:"captured_currency"` // ISO 4217, in capitals
	SuspenseAt           *time.Time        `bun:"suspense_at"`       // when the gateway took it
	RefundedAmount       Money             `bun:"refunded_amount"`   // in the currency that was taken
	RefundReservedAmount Money             `bun:"refund_reserved_amount"`
	// OutsideRefundedAmount is what the gateway has given back without an order of ours, as far as it fits beside the two: see Outside.
	OutsideRefundedAmount Money      `bun:"outside_refunded_amount"`
	RecheckAt             *time.Time `bun:"recheck_at"`  // when the gateway is to be asked what it took and gave back; nil: not
	ComparedAt            *time.Time `bun:"compared_at"` // when it last answered that
	CreatedAt             time.Time  `bun:"created_at,nullzero,default:now()"`
	UpdatedAt             time.Time  `bun:"updated_at,nullzero,default:now()"`

	GatewayPaymentID *string `bun:"gateway_payment_id"` // the gateway's id of the payment, where that is not the checkout's
	BookingNumber    string  `bun:"-"`                  // read for people only
	CheckoutText     string  `bun:"-"`                  // what is paid for, on the gateway's page; read when the attempt is opened
}

// Taken is what the gateway has taken for the attempt, in the currency that it has taken: of money in suspense another amount or
// currency than was asked for. Nothing, in SAR, when it has taken none.
func (t *PaymentTransaction) Taken() (amount Money, currency string) {
	switch {
	case t.SuspenseAt != nil:
		return *t.CapturedAmount, *t.CapturedCurrency
	case t.CapturedAt != nil:
		return t.Amount, t.Currency
	default:
		return Money{}, Currency
	}
}

// TakenCurrency is the currency of what the gateway has taken.
func (t *PaymentTransaction) TakenCurrency() string {
	_, currency := t.Taken()

	return currency
}

// TakenAt is when the gateway took it; nil when it has taken nothing.
func (t *PaymentTransaction) TakenAt() *time.Time {
	if t.SuspenseAt != nil {
		return t.SuspenseAt
	}

	return t.CapturedAt
}

// Remaining is what can still be refunded: taken, not given back by us or by the gateway on its own, and not reserved for a running
// refund.
func (t *PaymentTransaction) Remaining() Money {
	taken, _ := t.Taken()

	return taken.Sub(t.GivenBack()).Sub(t.RefundReservedAmount)
}

// GivenBack is what the customer has had back: by refunds of ours, and by the gateway without an order of ours.
func (t *PaymentTransaction) GivenBack() Money { return t.RefundedAmount.Add(t.OutsideRefundedAmount) }

// ComparedLately is for how long a gateway's answer about what it has given back will do, unless something is heard.
const ComparedLately = 30 * time.Second

// NeedsComparison reports a payment of which the gateway is to be asked what it has given back, before any more goes back.
func (t *PaymentTransaction) NeedsComparison(now time.Time) bool {
	lately := t.ComparedAt != nil && t.ComparedAt.After(now.Add(-ComparedLately))

	return t.TakenAt() != nil && t.Reference != nil && (!lately || t.RecheckAt != nil)
}

// WentBack reports that all that was taken has been given back.
func (t *PaymentTransaction) WentBack() bool {
	taken, _ := t.Taken()

	return t.GivenBack().Cmp(taken) >= 0
}

// InSuspense reports an attempt whose gateway took another amount or currency than was asked for, as long as not all of it has
// gone back.
func (t *PaymentTransaction) InSuspense() bool {
	return t.SuspenseAt != nil && !t.WentBack()
}

// Method is what the money came by, as far as that is known, else what the customer has chosen: a company's own page offers all that it has
// (rules: payments.paid-by). Whatever is decided about money that was taken goes by it.
func (t *PaymentTransaction) Method() PaymentMethod {
	if t.PaidBy != nil {
		return *t.PaidBy
	}

	return t.PaymentMethod
}

// NotePaidBy notes what the gateway says the money came by, unless it does not say it, or it is what was chosen.
func (t *PaymentTransaction) NotePaidBy(m PaymentMethod) {
	if m != t.PaymentMethod && slices.Contains(PaymentMethods(), m) {
		t.PaidBy = &m
	}
}

// RefundChannel is how money of the attempt goes back: as its method does, but by a manual payout in another currency than SAR,
// which no gateway is asked for.
func (t *PaymentTransaction) RefundChannel() RefundChannel {
	if t.TakenCurrency() != Currency {
		return RefundByHand
	}

	return t.Method().RefundChannel()
}

// CameTooLate reports an attempt whose money was taken after it had ended, or could buy nothing any more, and a second payment: it is owed
// to the customer, and was never a sale.
func (t *PaymentTransaction) CameTooLate() bool {
	return t.Kind != KindRefund && t.Status == TransactionFailed && t.CapturedAt != nil
}

// Paying are the kinds of transaction by which a gateway has taken money.
func Paying() []TransactionKind { return []TransactionKind{KindPayment, KindSecondDebit} }

// StateChange is one step in the life of a transaction, written by the database itself.
type StateChange struct {
	bun.BaseModel `bun:"table:transaction_state_changes,alias:sc"`

	ID            int64              `bun:"id,pk,autoincrement"`
	TransactionID uuid.UUID          `bun:"transaction_id"`
	FromStatus    *TransactionStatus `bun:"from_status"`
	ToStatus      TransactionStatus  `bun:"to_status"`
	FailureCode   *FailureCode       `bun:"failure_code"`
	ChangedAt     time.Time          `bun:"changed_at"`
}

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

// Refund is money on its way back to the customer.
type Refund struct {
	bun.BaseModel `bun:"table:refunds,alias:rf"`

	ID                   uuid.UUID     `bun:"id,pk"`
	PaymentTransactionID uuid.UUID     `bun:"payment_transaction_id"`
	RefundTransactionID  *uuid.UUID    `bun:"refund_transaction_id"`
	BookingID            *uuid.UUID    `bun:"booking_id"`
	AdCampaignID         *uuid.UUID    `bun:"ad_campaign_id"`
	RefundType           RefundType    `bun:"refund_type"`
	Channel              RefundChannel `bun:"channel"`
	Amount               Money         `bun:"amount"`
	PolicyPercent        *int          `bun:"policy_percent"`  // of POLICY: see PolicyTerms; nil for the others
	PolicyHours          *int          `bun:"policy_hours"`    // to departure
	PolicySchedule       *string       `bun:"policy_schedule"` // the policy of that moment
	PolicyGiven          *Money        `bun:"policy_given"`
	PolicyReason         *PolicyReason `bun:"policy_reason"` // of POLICY; nil is PolicyNow, by versions that knew no others
	Currency             string        `bun:"currency"`
	Status               RefundStatus  `bun:"status"`
	FailureCode          *string       `bun:"failure_code"`
	FailureReason        string        `bun:"failure_reason"`
	GatewayRefundID      *string       `bun:"gateway_refund_id"`
	Reason               string        `bun:"reason"`
	RequestedBy          *uuid.UUID    `bun:"requested_by"`
	RequestID            string        `bun:"request_id"`
	CreatedAt            time.Time     `bun:"created_at,nullzero,default:now()"`
	UpdatedAt            time.Time     `bun:"updated_at,nullzero,default:now()"`
	CompletedAt          *time.Time    `bun:"completed_at"`
	BodyHash             []byte        `bun:"body_hash"`              // SHA-256 of the request's body; nil without an Idempotency-Key
	Sends                int           `bun:"sends"`                  // how often it was sent to the gateway
	SentAt               *time.Time    `bun:"sent_at"`                // the last time, by the database's clock
	SentAnswer           *SentAnswer   `bun:"sent_answer"`            // to the last one
	Conflicts            int           `bun:"conflicts"`              // sendings that were answered SentConflict
	RefusedAt            *time.Time    `bun:"refused_at"`             // when it counted as not made
	RefundedBefore       *Money        `bun:"refunded_before"`        // of the payment, when it was first sent; nil where refunds have ids
	ProofDue             bool          `bun:"proof_due,default:true"` // false for refunds older than that rule
	InsteadOf            *uuid.UUID    `bun:"instead_of"`             // the refund through the gateway that FAILED and that this pays out
	AccountGoneAt        *time.Time    `bun:"account_gone_at"`        // since when no driver is configured for the payment's account
	VATOfAmount          bool          `bun:"vat_of_amount"`          // its transaction's VAT is RefundVAT; false: its entry's, as before
	ReturnedAt           *time.Time    `bun:"returned_at"`            // when the gateway had the money again after it SUCCEEDED
	ApprovalAbove        *Money        `bun:"approval_above"`         // the limit of ApprovalRules when it was ordered; nil: none
	AloneAbove           *Money        `bun:"alone_above"`            // the limit of its requester's day then; nil: none, or it is not counted
	ApprovalUntil        *time.Time    `bun:"approval_until"`         // until when it may be approved; nil: it needs no approval
	ApprovalPending      bool          `bun:"approval_pending"`       // until its workflow has taken up what was decided

	// Payout is nil until it is decided, for refunds through a gateway, and where it is not read.
	Payout *RefundPayout `bun:"-"`
	// Approval is nil until it is decided, for refunds that need none, and where it is not read.
	Approval *RefundApproval `bun:"-"`

	// Owed: its gateway did not make it, an incident says so, and its money is still there; where that is read.
	Owed bool `bun:"-"`

	JustOrdered   bool   `bun:"-"` // by this call of OrderRefund: not by an earlier one with the same id
	BookingNumber string `bun:"-"` // read for people only
	RequesterName string `bun:"-"` // the same; empty when the service refunded by itself

	// Whose booking or campaign it is, and of a booking the contact's name and the trip; for people, too.
	ProviderID                            *uuid.UUID `bun:"-"`
	ProviderName, CustomerName, TripTitle string     `bun:"-"`
}

// SentAnswer is how a gateway answered the last sending of a refund that is not decided, or of an attempt that is not opened.
type SentAnswer string

// The answers.
const (
	SentSending  SentAnswer = "SENDING"  // its worker has not said yet, or was killed
	SentUnknown  SentAnswer = "UNKNOWN"  // none: perhaps done, perhaps not
	SentConflict SentAnswer = "CONFLICT" // something about the refund is under way there
	SentRefused  SentAnswer = "REFUSED"
)

// Order is what the refund's workflow is started with.
func (r *Refund) Order() RefundOrder { return RefundOrder{ID: r.ID} }

// ReasonCode says which terms gave the percentage of a refund by POLICY; nil for the others.
func (r *Refund) ReasonCode() *PolicyReason {
	if r.RefundType != RefundPolicy || r.PolicyReason != nil {
		return r.PolicyReason
	}

	now := PolicyNow

	return &now
}

// LeavesFee reports a refund by POLICY that keeps a part of what was paid, unless it fails: it gives money back and cancels nothing, so
// that the booking stays CONFIRMED (rules: refunds.policy-fee).
func (r *Refund) LeavesFee() bool {
	return r.RefundType == RefundPolicy && r.Status != RefundFailed && r.PolicyPercent != nil && *r.PolicyPercent < wholePercent
}

// NeedsPayout reports that finance staff have to pay the refund out, or reject it. One that needs an approval is not paid out before.
func (r *Refund) NeedsPayout() bool {
	return r.Payout == nil && r.IsApproved() && (r.Channel == RefundByHand && r.Status == RefundPending || r.ReturnedAt != nil)
}

// GoesByHand reports that its money is paid out by finance staff: from the beginning, or since it came back.
func (r *Refund) GoesByHand() bool { return r.Channel == RefundByHand || r.ReturnedAt != nil }

// ReasonOutsideRefund are the words about a refund that was not sent, because the gateway had given back too much without an order.
const ReasonOutsideRefund = "the gateway has given back so much of the payment without an order that the refund does not fit"

// RefundPayout is what finance staff decided about a manual payout; it is written once.
type RefundPayout struct {
	bun.BaseModel `bun:"table:refund_payouts,alias:rp"`

	RefundID  uuid.UUID      `bun:"refund_id,pk"`
	Decision  PayoutDecision `bun:"decision"`
	Reference *string        `bun:"payout_reference"` // with PaidOutOn: of PAID_OUT
	PaidOutOn *Date          `bun:"paid_out_on"`
	Note      string         `bun:"note"`                          // of a rejection its reason
	NoteText  Text           `bun:"note_text,type:jsonb,nullzero"` // of a note of the service
	DecidedBy uuid.UUID      `bun:"decided_by"`
	DecidedAt time.Time      `bun:"decided_at"`

	AtMost       *Money `bun:"-"` // what its person may confirm within an hour without a code of late; nil: there is no bound
	DeciderName  string `bun:"-"` // read for people only
	NewReference bool   `bun:"-"` // of the request: a reference that another payout has is refused
}
