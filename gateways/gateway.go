// Package gateways connects the service to payment companies: one interface, the errors its drivers
// return, and the webhooks the companies send, in the service's own terms. A driver has a folder of its own.
package gateways

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"rihla/models"
)

// Gateway is one account at a payment company. Implementations are safe for concurrent use.
//
// Every error is an *Error, so that its Kind tells what may have happened at the gateway: after
// KindUnknown and KindInProgress the caller has to ask (ReadCheckout, ReadRefund) before it does anything again, and one
// KindNotFound decides nothing then: the effect may come later, and a search may lag behind what was made.
// Whether a repeated creation makes another thing is the Settlement in Capabilities.
type Gateway interface {
	// Capabilities is what the company can do; it makes no request and never changes.
	Capabilities() Capabilities
	// CreateCheckout opens a page on which the customer pays. The idempotency key is MerchantReference.
	CreateCheckout(ctx context.Context, r CheckoutRequest) (Checkout, error)
	// ReadCheckout reads a checkout by the gateway's id, or by our transaction id where that is not known; KindNotFound when
	// the gateway has none. Of several checkouts of one reference the one that was paid counts, then one that can be paid.
	ReadCheckout(ctx context.Context, r CheckoutRef) (Checkout, error)
	// CancelCheckout closes an open checkout, so that it cannot be paid; of a canceled one it changes nothing.
	// A checkout that was paid, failed or expired is KindRejected, and so is every one where Capabilities has no Cancel.
	CancelCheckout(ctx context.Context, r CheckoutRef) (Checkout, error)
	// CreateRefund pays back part or all of a paid checkout. The idempotency key is MerchantReference.
	// Status RefundPending means that the gateway decides later.
	CreateRefund(ctx context.Context, r RefundRequest) (Refund, error)
	// ReadRefund reads a refund by the gateway's id, or by our refund id where that is not known; KindNotFound when the
	// gateway has none.
	ReadRefund(ctx context.Context, r RefundRef) (Refund, error)
}

// CheckoutRef names a checkout in the gateway's terms and in ours. Companies find theirs by different parts of it.
type CheckoutRef struct {
	ID                string    // the gateway's; empty while it is not known
	MerchantReference uuid.UUID // our transaction id
	Method            models.PaymentMethod
	Amount            models.Money // that was asked for
	Currency          string
	CreatedAt         time.Time // of our attempt: nothing of it is older at the gateway
	ExpiresAt         time.Time
	// PaymentID is the company's id of the payment that is meant, where it is known: a checkout may have been paid more than once.
	PaymentID string
	// OpenedAt is when the checkout was made at the gateway; zero where that is not known: up to half an hour after CreatedAt.
	OpenedAt time.Time
}

// CheckoutRequest asks for a checkout. The same attempt always asks for the same: companies refuse a key that comes with
// another request.
type CheckoutRequest struct {
	MerchantReference uuid.UUID    // our transaction id; the idempotency key
	Amount            models.Money // VAT included
	Currency          string       // ISO 4217
	Method            models.PaymentMethod
	Description       string    // what is bought, shown to the customer
	Details           []string  // facts about it, in the customer's language, where there is room for them
	Payer             Payer     // who pays, where Capabilities has Payer; else empty
	ReturnURL         string    // where the customer goes afterwards; may be empty
	CreatedAt         time.Time // of our attempt; it may be opened up to half an hour later
	ExpiresAt         time.Time // until when it can be paid; what a company cannot close by itself then is cancelled
}

// Payer is who pays, for companies that want to know before a bank asks: personal data, for the request alone.
type Payer struct{ Name, Email string }

// Ref names the checkout that was asked for, whose id is not known yet.
func (r CheckoutRequest) Ref() CheckoutRef {
	return CheckoutRef{
		MerchantReference: r.MerchantReference, Method: r.Method, Amount: r.Amount, Currency: r.Currency,
		CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt,
	}
}

// CheckoutStatus is where a checkout stands at the gateway.
type CheckoutStatus string

// The checkout states. Paid is final; of the others a gateway may still report money that
// came late (rules: late.accept).
const (
	CheckoutOpen     CheckoutStatus = "open"
	CheckoutPaid     CheckoutStatus = "paid"
	CheckoutFailed   CheckoutStatus = "failed"
	CheckoutExpired  CheckoutStatus = "expired"
	CheckoutCanceled CheckoutStatus = "canceled"
)

// Checkout is one payment at the gateway. Amount is what was charged, RefundedAmount the sum of its
// succeeded and pending refunds.
type Checkout struct {
	ID                string
	MerchantReference uuid.UUID
	Status            CheckoutStatus
	Amount            models.Money
	Currency          string
	RefundedAmount    models.Money
	URL               string // the page the customer pays on
	// PageData is what the page at URL needs where that page is our own and the company gives only parts of it. Only the answer
	// of a creation has it, so it is to be stored with the checkout; it is for the page alone: not for URLs, logs or clients.
	PageData map[string]string
	// RefundsUnread: the answer has the payment, and not what was given back of it: RefundedAmount is not to be believed.
	RefundsUnread bool
	ExpiresAt     time.Time
	PaymentID     string // the company's id of the payment, where messages name it without the checkout; empty elsewhere
	// Others are further payments that took money for the same checkout, where the company can tell: Amount, RefundedAmount and PaidAt
	// are those of PaymentID alone.
	Others []Debit
	// OthersUnread: the company did not say whether there are Others.
	OthersUnread bool
	Method       models.PaymentMethod // that it was paid by; empty: not paid, or the company does not say it in terms of the service
	PaidAt       *time.Time           // when the money was taken, as the gateway says it; nil: it does not say, or there is none
	// ResultCode is the gateway's machine code. While the checkout is open, it and the next are those of the last try that was declined,
	// and PaymentID is its id.
	ResultCode    string
	FailureReason string // the gateway's words, empty unless it failed
}

// Debit is a payment that took money for a checkout beside the one that the answer is about.
type Debit struct {
	PaymentID string // the company's; never empty
	Amount    models.Money
	Currency  string
	Method    models.PaymentMethod // as of Checkout
	PaidAt    *time.Time           // as of Checkout
}

// RefundRequest asks for money to go back.
type RefundRequest struct {
	Checkout          CheckoutRef  // the paid checkout, with its ID
	MerchantReference uuid.UUID    // our refund id; the idempotency key
	Amount            models.Money // more than 0, at most what is left
	Currency          string       // that of the payment
	Reason            string
	RefundedBefore    models.Money // see RefundRef
}

// Ref names the refund that was asked for, whose id is not known yet.
func (r RefundRequest) Ref() RefundRef {
	return RefundRef{
		MerchantReference: r.MerchantReference, Checkout: r.Checkout, Amount: r.Amount, Currency: r.Currency,
		RefundedBefore: r.RefundedBefore,
	}
}

// RefundRef names a refund in the gateway's terms and in ours.
type RefundRef struct {
	ID                string    // the gateway's; empty while it is not known, and always where refunds have none
	MerchantReference uuid.UUID // our refund id
	Checkout          CheckoutRef
	Amount            models.Money
	Currency          string
	// RefundedBefore is Checkout.RefundedAmount as it was before this refund was first sent. Only with SettledBySum: what
	// the gateway has given back beyond it is this refund.
	RefundedBefore models.Money
}

// RefundStatus is where a refund stands at the gateway.
type RefundStatus string

// The refund states. Pending becomes one of the others.
const (
	RefundSucceeded RefundStatus = "succeeded"
	RefundPending   RefundStatus = "pending"
	RefundFailed    RefundStatus = "failed"
)

// Refund is one refund at the gateway.
type Refund struct {
	ID                string
	CheckoutID        string
	MerchantReference uuid.UUID
	Amount            models.Money
	Currency          string
	Status            RefundStatus
	FailureReason     string // the gateway's words, empty unless it failed
}

// Event is a verified webhook in the service's own terms.
type Event struct {
	ID                string // webhook-id: the same on every redelivery
	Type              models.EventType
	Timestamp         time.Time // when it happened at the gateway, from the body
	CheckoutID        string
	MerchantReference uuid.UUID // our transaction id; of refund.* our refund id; Nil where the company does not say it
	Amount            models.Money
	Currency          string
	Method            models.PaymentMethod
	ResultCode        string
	FailureReason     string
	RefundID          string // the gateway's, only of refund.*
	PaymentID         string // as of Checkout
	// Revises: of refund.failed, that the refund may have counted as made for a while. The money is in the account again.
	Revises bool
	// Unreadable: of EventUnreadable, what the driver cannot read, for an operator: the same words for the same cause.
	Unreadable string
	// Dispute: of payment.disputed and payment.dispute_closed only.
	Dispute *models.DisputeNotice
	// Hint: what proves the message does not prove its content, or this is not all of it. Nothing but CheckoutID or
	// MerchantReference is to be believed, and that only as a reason to ask the gateway.
	Hint bool
	Body string // as it was received, but for a secret that came in it
	// Sealed: Body is encrypted, for each delivery anew, so that its fields say whether it is the same message.
	Sealed    bool
	Signature string // what proves the body: headers, a `name: value` line each, or what was compared
}

// WebhookVerifier turns a signed request into an Event. Its errors are *models.Error with the codes of
// a webhook: INVALID_SIGNATURE, MALFORMED_REQUEST or VALIDATION_ERROR, checked in this order.
type WebhookVerifier interface {
	// Headers are those that prove a message, in their canonical form; a request that has one of them not exactly once is
	// refused before it is verified.
	Headers() []string
	Verify(h http.Header, body []byte, now time.Time) (Event, error)
}
