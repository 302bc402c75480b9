package sandbox

import (
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/gateways/httpcall"
	"rihla/models"
)

// Answers are checked before they are believed: what does not say what the protocol promises is as good
// as no answer, and therefore KindUnknown.

// createdAnswer is the answer to POST /v1/checkouts.
type createdAnswer struct {
	ID          string                  `json:"id"`
	Status      gateways.CheckoutStatus `json:"status"`
	CheckoutURL string                  `json:"checkout_url"`
	ExpiresAt   time.Time               `json:"expires_at"`
}

func (a createdAnswer) checkout(r gateways.CheckoutRequest) (gateways.Checkout, error) {
	if a.ID == "" || !knownCheckoutStatus(a.Status) {
		return gateways.Checkout{}, httpcall.BadAnswer("the checkout has no id or an unknown status")
	}

	if u, err := url.Parse(a.CheckoutURL); err != nil || !u.IsAbs() || u.Host == "" {
		return gateways.Checkout{}, httpcall.BadAnswer("the checkout has no usable checkout_url")
	}

	if a.ExpiresAt.IsZero() {
		a.ExpiresAt = r.ExpiresAt
	}

	return gateways.Checkout{
		ID: a.ID, MerchantReference: r.MerchantReference, Status: a.Status, Amount: r.Amount, Currency: r.Currency,
		URL: a.CheckoutURL, ExpiresAt: a.ExpiresAt,
	}, nil
}

// checkoutAnswer is the answer to GET /v1/checkouts/{id} and to its cancel. The contract does not promise
// checkout_url and expires_at here; they are taken when they come.
type checkoutAnswer struct {
	ID                string                  `json:"id"`
	MerchantReference uuid.UUID               `json:"merchant_reference"`
	Status            gateways.CheckoutStatus `json:"status"`
	Amount            *models.Money           `json:"amount"`
	Currency          string                  `json:"currency"`
	RefundedAmount    models.Money            `json:"refunded_amount"`
	CheckoutURL       string                  `json:"checkout_url"`
	ExpiresAt         time.Time               `json:"expires_at"`
	PaidAt            *time.Time              `json:"paid_at"`
	ResultCode        *string                 `json:"result_code"`
	FailureReason     *string                 `json:"failure_reason"`
	PaymentMethod     models.PaymentMethod    `json:"payment_method"`
	Payments          []paymentAnswer         `json:"payments"` // all that took money, where there are several
}

type paymentAnswer struct {
	ID             string        `json:"id"`
	Amount         *models.Money `json:"amount"`
	RefundedAmount models.Money  `json:"refunded_amount"`
	PaidAt         *time.Time    `json:"paid_at"`
}

// about is the checkout by the payment with the id, or by its first one: the others are told beside it.
func (a checkoutAnswer) about(id string) (gateways.Checkout, error) {
	c, err := a.checkout()
	if err != nil || len(a.Payments) == 0 {
		return c, err
	}

	at := max(slices.IndexFunc(a.Payments, func(p paymentAnswer) bool { return p.ID == id }), 0)

	for i, p := range a.Payments {
		switch {
		case p.ID == "" || p.Amount == nil:
			return c, httpcall.BadAnswer("a payment is incomplete")
		case i == at:
			if c.PaymentID = p.ID; i > 0 { // else the checkout has its sums
				c.Amount, c.RefundedAmount, c.PaidAt = *p.Amount, p.RefundedAmount, p.PaidAt
			}
		default:
			c.Others = append(c.Others, gateways.Debit{PaymentID: p.ID, Amount: *p.Amount, Currency: c.Currency, PaidAt: p.PaidAt})
		}
	}

	return c, nil
}

func (a checkoutAnswer) checkout() (gateways.Checkout, error) {
	if a.ID == "" || a.MerchantReference == uuid.Nil || a.Amount == nil || a.Currency == "" || !knownCheckoutStatus(a.Status) {
		return gateways.Checkout{}, httpcall.BadAnswer("the checkout is incomplete or has an unknown status")
	}

	method := a.PaymentMethod
	if a.Status != gateways.CheckoutPaid {
		method = "" // it is what was asked for
	}

	return gateways.Checkout{
		Method: method,
		ID:     a.ID, MerchantReference: a.MerchantReference, Status: a.Status, Amount: *a.Amount, Currency: a.Currency,
		RefundedAmount: a.RefundedAmount, URL: a.CheckoutURL, ExpiresAt: a.ExpiresAt, PaidAt: a.PaidAt,
		ResultCode: orEmpty(a.ResultCode), FailureReason: orEmpty(a.FailureReason),
	}, nil
}

// refundAnswer is the answer to POST /v1/refunds and GET /v1/refunds/{id}.
type refundAnswer struct {
	ID                string                `json:"id"`
	CheckoutID        string                `json:"checkout_id"`
	MerchantReference uuid.UUID             `json:"merchant_reference"`
	Amount            *models.Money         `json:"amount"`
	Currency          string                `json:"currency"`
	Status            gateways.RefundStatus `json:"status"`
	FailureReason     *string               `json:"failure_reason"`
}

func (a refundAnswer) refund() (gateways.Refund, error) {
	if a.MerchantReference == uuid.Nil {
		return gateways.Refund{}, httpcall.BadAnswer("the refund has no reference")
	}

	return a.listed()
}

// listed is refund for one that may have been made in the dashboard, without a reference.
func (a refundAnswer) listed() (gateways.Refund, error) {
	if a.ID == "" || a.CheckoutID == "" || a.Amount == nil || a.Currency == "" {
		return gateways.Refund{}, httpcall.BadAnswer("the refund is incomplete")
	}

	switch a.Status {
	case gateways.RefundSucceeded, gateways.RefundPending, gateways.RefundFailed:
	default:
		return gateways.Refund{}, httpcall.BadAnswer("the refund has an unknown status")
	}

	return gateways.Refund{
		ID: a.ID, CheckoutID: a.CheckoutID, MerchantReference: a.MerchantReference, Amount: *a.Amount,
		Currency: a.Currency, Status: a.Status, FailureReason: orEmpty(a.FailureReason),
	}, nil
}

func knownCheckoutStatus(s gateways.CheckoutStatus) bool {
	switch s {
	case gateways.CheckoutOpen, gateways.CheckoutPaid, gateways.CheckoutFailed, gateways.CheckoutExpired, gateways.CheckoutCanceled:
		return true
	default:
		return false
	}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}

	return *s
}
