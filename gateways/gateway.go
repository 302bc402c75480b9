// Package gateways is the door to the payment companies: one interface, the errors its drivers
// return, and the webhooks the companies send, in the service's own terms. A driver has a folder of its own.
package gateways

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"rihla/models"
)

// Gateway is one payment company's API. Implementations are safe for concurrent use.
//
// Every error is an *Error, so that its Kind tells what may have happened at the gateway: after
// KindUnknown and KindInProgress the caller has to ask (FindCheckout, FindRefund) before it does anything again, and one
// KindNotFound decides nothing then: the effect may come later, and a search may lag behind what was made.
// Both creating calls are idempotent by their merchant reference: the same reference gives the same result.
type Gateway interface {
	// CreateCheckout opens a page on which the customer pays. The idempotency key is MerchantReference.
	CreateCheckout(ctx context.Context, r CheckoutRequest) (Checkout, error)
	// GetCheckout reads a checkout by the gateway's id; KindNotFound when there is none.
	GetCheckout(ctx context.Context, id string) (Checkout, error)
	// FindCheckout reads a checkout by our transaction id; KindNotFound when the gateway never saw it.
	FindCheckout(ctx context.Context, merchantReference uuid.UUID) (Checkout, error)
	// CancelCheckout closes an open checkout, so that it cannot be paid; of a canceled one it changes nothing.
	// A checkout that was paid, failed or expired is KindRejected.
	CancelCheckout(ctx context.Context, id string) (Checkout, error)
	// CreateRefund pays back part or all of a paid checkout. The idempotency key is MerchantReference.
	// Status RefundPending means that the gateway decides later, by webhook.
	CreateRefund(ctx context.Context, r RefundRequest) (Refund, error)
	// GetRefund reads a refund by the gateway's id; KindNotFound when there is none.
	GetRefund(ctx context.Context, id string) (Refund, error)
	// FindRefund reads a refund by our refund id; KindNotFound when the gateway never saw it.
	FindRefund(ctx context.Context, merchantReference uuid.UUID) (Refund, error)
}

// CheckoutRequest asks for a checkout.
type CheckoutRequest struct {
	MerchantReference uuid.UUID    // our transaction id; the idempotency key
	Amount            models.Money // VAT included
	Currency          string       // ISO 4217
	Method            models.PaymentMethod
	Description       string // shown to the customer
	ReturnURL         string // where the customer goes afterwards; may be empty
	ExpiresAt         time.Time
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
	ExpiresAt         time.Time
	PaidAt            *time.Time // when the money was taken, as the gateway says it; nil: it does not say, or there is none
	ResultCode        string     // the gateway's machine code, empty while open
	FailureReason     string     // the gateway's words, empty unless it failed
}

// RefundRequest asks for money to go back.
type RefundRequest struct {
	CheckoutID        string       // the paid checkout, in the gateway's terms
	MerchantReference uuid.UUID    // our refund id; the idempotency key
	Amount            models.Money // more than 0, at most what is left
	Currency          string       // that of the payment
	Reason            string
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
	MerchantReference uuid.UUID // our transaction id; of refund.* our refund id
	Amount            models.Money
	Currency          string
	Method            models.PaymentMethod
	ResultCode        string
	FailureReason     string
	RefundID          string // the gateway's, only of refund.*
	Body              string // as it was signed
	Signature         string // the headers that prove the body, a `name: value` line each
}

// WebhookVerifier turns a signed request into an Event. Its errors are *models.Error with the codes of
// a webhook: INVALID_SIGNATURE, MALFORMED_REQUEST or VALIDATION_ERROR, checked in this order.
type WebhookVerifier interface {
	Verify(h http.Header, body []byte, now time.Time) (Event, error)
}
