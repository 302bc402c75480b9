// Package sandbox is the driver for gateways that speak the protocol of package server: the sandbox
// server of this module, and any payment company that chooses to.
package sandbox

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/gateways/httpcall"
	"rihla/models"
)

const (

	// The longest free texts, in characters, that gateways of this protocol have to take.
	maxDescription = 500
	maxReason      = 1000
)

// Config says where the gateway is and who we are to it.
type Config struct {
	BaseURL   string            // absolute http or https URL; a path is kept as prefix
	APIKey    string            // sent as Bearer token
	Timeout   time.Duration     // of one request, answer included; 0 means 4 s
	Transport http.RoundTripper // nil means a pool of the driver's own
}

// Driver is the HTTP client of that protocol. It is safe for concurrent use and never logs.
type Driver struct {
	base    string
	key     string
	timeout time.Duration
	client  *http.Client
}

var _ gateways.Gateway = (*Driver)(nil)

// New checks the configuration; it makes no request.
func New(cfg Config) (*Driver, error) {
	u, err := url.Parse(cfg.BaseURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, errors.New("sandbox gateway: the URL must be an absolute http or https URL")
	}

	if cfg.APIKey == "" {
		return nil, errors.New("sandbox gateway: the API key is missing")
	}

	if cfg.Timeout < 0 {
		return nil, errors.New("sandbox gateway: the timeout must not be negative")
	}

	if cfg.Timeout == 0 {
		cfg.Timeout = httpcall.DefaultTimeout
	}

	return &Driver{
		base:    strings.TrimRight(cfg.BaseURL, "/"),
		key:     cfg.APIKey,
		timeout: cfg.Timeout,
		client:  httpcall.NewClient(cfg.Transport, cfg.Timeout),
	}, nil
}

type checkoutBody struct {
	MerchantReference uuid.UUID            `json:"merchant_reference"`
	Amount            models.Money         `json:"amount"`
	Currency          string               `json:"currency"`
	PaymentMethod     models.PaymentMethod `json:"payment_method"`
	Description       string               `json:"description"`
	ReturnURL         string               `json:"return_url"`
	ExpiresAt         time.Time            `json:"expires_at"`
}

type refundBody struct {
	CheckoutID        string       `json:"checkout_id"`
	MerchantReference uuid.UUID    `json:"merchant_reference"`
	Amount            models.Money `json:"amount"`
	Currency          string       `json:"currency"`
	Reason            string       `json:"reason"`
	PaymentID         string       `json:"payment_id,omitempty"`
}

// CreateCheckout implements gateways.Gateway.
func (d *Driver) CreateCheckout(ctx context.Context, r gateways.CheckoutRequest) (gateways.Checkout, error) {
	var answer createdAnswer

	err := d.call(ctx, request{
		method: http.MethodPost, path: "/v1/checkouts", key: r.MerchantReference.String(),
		body: checkoutBody{
			MerchantReference: r.MerchantReference, Amount: r.Amount, Currency: r.Currency, PaymentMethod: r.Method,
			Description: httpcall.Plain(r.Summary(maxDescription), maxDescription), ReturnURL: r.ReturnURL, ExpiresAt: r.ExpiresAt.UTC(),
		},
	}, &answer)
	if err != nil {
		return gateways.Checkout{}, err
	}

	return answer.checkout(r)
}

// Capabilities implements gateways.Gateway: the protocol has every method.
func (d *Driver) Capabilities() gateways.Capabilities { return gateways.Unbounded() }

// ReadCheckout implements gateways.Gateway.
func (d *Driver) ReadCheckout(ctx context.Context, r gateways.CheckoutRef) (gateways.Checkout, error) {
	if r.ID == "" {
		return d.findCheckout(ctx, r.MerchantReference)
	}

	var answer checkoutAnswer

	err := d.call(ctx, request{
		method: http.MethodGet, path: "/v1/checkouts/" + url.PathEscape(r.ID), missing: gateways.KindNotFound,
	}, &answer)
	if err != nil {
		return gateways.Checkout{}, err
	}

	return answer.about(r.PaymentID)
}

// CancelCheckout implements gateways.Gateway.
func (d *Driver) CancelCheckout(ctx context.Context, r gateways.CheckoutRef) (gateways.Checkout, error) {
	return d.checkout(ctx, request{
		method: http.MethodPost, path: "/v1/checkouts/" + url.PathEscape(r.ID) + "/cancel",
		key: "cancel-" + r.ID, missing: gateways.KindNotFound,
	})
}

func (d *Driver) checkout(ctx context.Context, r request) (gateways.Checkout, error) {
	var answer checkoutAnswer
	if err := d.call(ctx, r, &answer); err != nil {
		return gateways.Checkout{}, err
	}

	return answer.checkout()
}

// findCheckout reads a checkout by our reference. Should the gateway know several checkouts of it, the
// one that was paid counts, then one that can still be paid.
func (d *Driver) findCheckout(ctx context.Context, reference uuid.UUID) (gateways.Checkout, error) {
	var answer struct {
		Data *[]checkoutAnswer `json:"data"`
	}

	err := d.call(ctx, request{method: http.MethodGet, path: "/v1/checkouts", query: reference}, &answer)
	if err != nil {
		return gateways.Checkout{}, err
	}

	if answer.Data == nil {
		return gateways.Checkout{}, httpcall.BadAnswer("the list has no data")
	}

	found := make([]gateways.Checkout, 0, 1)

	for _, item := range *answer.Data {
		c, err := item.about("")
		if err != nil {
			return gateways.Checkout{}, err
		}

		if c.MerchantReference == reference {
			found = append(found, c)
		}
	}

	return furthest(found, reference, func(c gateways.Checkout) int {
		switch c.Status {
		case gateways.CheckoutPaid:
			return 0
		case gateways.CheckoutOpen:
			return 1
		default:
			return 2
		}
	})
}

// CreateRefund implements gateways.Gateway.
func (d *Driver) CreateRefund(ctx context.Context, r gateways.RefundRequest) (gateways.Refund, error) {
	payment := r.Checkout.PaymentID
	if payment == r.Checkout.ID {
		payment = "" // the first one, of which the checkout has the sums
	}

	return d.refund(ctx, request{
		method: http.MethodPost, path: "/v1/refunds", key: r.MerchantReference.String(),
		body: refundBody{
			CheckoutID: r.Checkout.ID, MerchantReference: r.MerchantReference, Amount: r.Amount,
			Currency: r.Currency, Reason: httpcall.Plain(r.Reason, maxReason), PaymentID: payment,
		},
	})
}

// ReadRefund implements gateways.Gateway.
func (d *Driver) ReadRefund(ctx context.Context, r gateways.RefundRef) (gateways.Refund, error) {
	if r.ID == "" {
		return d.findRefund(ctx, r.MerchantReference)
	}

	return d.refund(ctx, request{method: http.MethodGet, path: "/v1/refunds/" + url.PathEscape(r.ID), missing: gateways.KindNotFound})
}

func (d *Driver) refund(ctx context.Context, r request) (gateways.Refund, error) {
	var answer refundAnswer
	if err := d.call(ctx, r, &answer); err != nil {
		return gateways.Refund{}, err
	}

	return answer.refund()
}

// findRefund reads a refund by our reference. Should the gateway know several refunds of it, one
// that moved money counts, then one that may.
func (d *Driver) findRefund(ctx context.Context, reference uuid.UUID) (gateways.Refund, error) {
	var answer struct {
		Data *[]refundAnswer `json:"data"`
	}

	err := d.call(ctx, request{method: http.MethodGet, path: "/v1/refunds", query: reference}, &answer)
	if err != nil {
		return gateways.Refund{}, err
	}

	if answer.Data == nil {
		return gateways.Refund{}, httpcall.BadAnswer("the list has no data")
	}

	found := make([]gateways.Refund, 0, 1)

	for _, item := range *answer.Data {
		r, err := item.refund()
		if err != nil {
			return gateways.Refund{}, err
		}

		if r.MerchantReference == reference {
			found = append(found, r)
		}
	}

	return furthest(found, reference, func(r gateways.Refund) int {
		switch r.Status {
		case gateways.RefundSucceeded:
			return 0
		case gateways.RefundPending:
			return 1
		default:
			return 2
		}
	})
}

// furthest is the first of the items with the lowest rank; KindNotFound when there are none.
func furthest[T any](items []T, reference uuid.UUID, rank func(T) int) (T, error) {
	if len(items) == 0 {
		var none T

		return none, &gateways.Error{
			Kind: gateways.KindNotFound, Code: "not_found", Message: "the gateway knows nothing of reference " + reference.String(),
		}
	}

	best := items[0]
	for _, item := range items[1:] {
		if rank(item) < rank(best) {
			best = item
		}
	}

	return best, nil
}
