package models

import (
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"
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
	Bearer               RefundBearer  `bun:"bearer"`
	Cause                RefundCause   `bun:"cause"`
	TurnedManualAt       *time.Time    `bun:"turned_manual_at"` // since when it is a manual payout because its gateway did not make it

	// Payout is nil until it is decided, for refunds through a gateway, and where it is not read.
	Payout *RefundPayout `bun:"-"`
	// Approval is nil until it is decided, for refunds that need none, and where it is not read.
	Approval *RefundApproval `bun:"-"`

	// Owed: its gateway did not make it, an incident says so, and its money is still there; where that is read.
	Owed bool `bun:"-"`
	// Cancels: its order cancels passengers of the booking; where that is read.
	Cancels bool `bun:"-"`

	JustOrdered   bool      `bun:"-"` // by this call of OrderRefund: not by an earlier one with the same id
	Withdrawn     uuid.UUID `bun:"-"` // the cancellation request that ended with its order, of such a call; uuid.Nil: none
	BookingNumber string    `bun:"-"` // read for people only
	RequesterName string    `bun:"-"` // the same; empty when the service refunded by itself

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
	return !r.Cancels && r.RefundType == RefundPolicy && r.Status != RefundFailed && r.PolicyPercent != nil && *r.PolicyPercent < WholePercent
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

// RefundableAmount is what a request for a refund comes to: all that is left for FULL, the asked amount for PARTIAL
// and for POLICY, whose amount the cancellation policy has found (CancellationPolicy.Terms).
// Errors: VALIDATION_ERROR on amount, REFUND_EXCEEDS_REMAINING, BOOKING_NOT_REFUNDABLE (rules: refunds.types).
func RefundableAmount(t *PaymentTransaction, kind RefundType, asked *Money) (Money, error) {
	if t.WentBack() {
		return Money{}, NewError(CodeBookingNotRefundable, "refund.nothing_paid")
	}

	left := t.Remaining()

	amount := left
	if kind != RefundFull {
		if asked == nil || !asked.IsPositive() {
			return Money{}, Invalid("amount", "refund.amount_positive")
		}

		amount = *asked
	}

	if amount.Cmp(left) > 0 || !amount.IsPositive() {
		return Money{}, NewError(CodeRefundExceedsRemaining,
			"refund.exceeds_left", "left", left, "currency", InCurrency(t.TakenCurrency()))
	}

	return amount, nil
}

// FailedAtGateway reports a refund that its gateway did not make: what is owed of it is paid out of the platform's bank.
func (r *Refund) FailedAtGateway() bool {
	return r.Channel == RefundByGateway && r.Status == RefundFailed && r.IsApproved()
}

// RefundAmountChanged says that a refund would come to another amount than the one that was expected.
func RefundAmountChanged(now Money) *Error {
	err := NewError(CodeRefundAmountChanged, "refund.amount_changed")
	err.Details = map[string][]Text{"expected_amount": {TextOf("refund.amount_now", "amount", now)}}

	return err
}

// TripRefundsChanged says that calling a trip off would come to another sum of refunds than the one that was expected.
func TripRefundsChanged(now Money) *Error {
	err := NewError(CodeRefundAmountChanged, "trip_cancellation.total_changed")
	err.Details = map[string][]Text{"expected_refund_total": {TextOf("refund.amount_now", "amount", now)}}

	return err
}

// RefundTransactionStatus is the status of the transaction that a refund adds (rules: refunds.transaction): PARTIAL_REFUND for
// refund_type PARTIAL, REFUNDED for FULL; a refund by POLICY is what it comes to. last says that nothing of the payment
// is left after it.
func RefundTransactionStatus(kind RefundType, last bool) TransactionStatus {
	if kind == RefundFull || kind == RefundPolicy && last {
		return TransactionRefunded
	}

	return TransactionPartialRefund
}

// refundTakes is how long a customer's bank may take to show a refund that its gateway has made.
const refundTakes = 14 * 24 * time.Hour

// ExpectedBy is the day in Riyadh by which the customer's bank shows the refund; nil while that is not known, and of one that failed.
func (r *Refund) ExpectedBy() *Date {
	if r.Status == RefundFailed || r.NeedsApproval() {
		return nil
	}

	from := r.CreatedAt
	if r.CompletedAt != nil {
		from = *r.CompletedAt
	}

	day := RefundExpectedBy(from)

	return &day
}

// RefundExpectedBy is the day in Riyadh by which the customer's bank shows a refund that was ordered, or made, at a moment.
func RefundExpectedBy(from time.Time) Date { return DateIn(from.Add(refundTakes)) }
