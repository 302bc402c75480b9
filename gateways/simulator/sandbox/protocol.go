// Package sandbox is the sandbox gateway: the simulator of a company that speaks the protocol of package sandbox, has every payment
// method, gives back any part of a payment, and breaks on demand.
package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"rihla/gateways/simulator/engine"
	"rihla/gateways/standardwebhook"
	"rihla/models"
)

// Config is that of every simulator.
type Config = engine.Config

// Merchant is an account at the sandbox.
type Merchant = engine.Merchant

// Channel is where and how the events of a payment method are reported.
type Channel = engine.Channel

// Server is the sandbox.
type Server = engine.Server

// New opens the sandbox. Secrets of channels are those of Standard Webhooks: `whsec_…`.
func New(cfg Config) (*Server, error) { return engine.New(protocol{}, cfg) }

// protocol is that of package sandbox, on the company's side.
type protocol struct{}

// Traits implements engine.Protocol.
func (protocol) Traits() engine.Traits {
	return engine.Traits{Name: "sandbox gateway", EventPrefix: "evt_", OneReference: true, Keys: true, PaysAgain: true}
}

// Routes implements engine.Protocol.
func (protocol) Routes(s *Server) map[string]engine.Methods {
	c := calls{s}

	return map[string]engine.Methods{
		"/v1/checkouts":             {http.MethodPost: s.AsMerchant(c.createCheckout), http.MethodGet: s.AsMerchant(c.listCheckouts)},
		"/v1/checkouts/{id}":        {http.MethodGet: s.AsMerchant(c.getCheckout)},
		"/v1/checkouts/{id}/cancel": {http.MethodPost: s.AsMerchant(c.cancelCheckout)},
		"/v1/refunds":               {http.MethodPost: s.AsMerchant(c.createRefund), http.MethodGet: s.AsMerchant(c.listRefunds)},
		"/v1/refunds/{id}":          {http.MethodGet: s.AsMerchant(c.getRefund)},
	}
}

// Key implements engine.Protocol: a Bearer token.
func (protocol) Key(r *http.Request) string {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}

	return strings.TrimSpace(key)
}

// Failure implements engine.Protocol.
func (protocol) Failure(f engine.Failure) engine.Answer {
	a := engine.Success(f.Status, map[string]any{"error": map[string]string{"code": f.Code, "message": f.Message}})
	if f.Code == engine.CodeUnauthorized {
		a.Header = map[string]string{"WWW-Authenticate": "Bearer"}
	}

	return a
}

// ReturnURL implements engine.Protocol: the merchant's address with what happened; the merchant believes only its webhook or a
// query.
func (protocol) ReturnURL(c *engine.Checkout) string {
	u, err := url.Parse(c.ReturnURL)
	if err != nil || c.ReturnURL == "" {
		return c.ReturnURL // it was checked when it came
	}

	query := u.Query()
	query.Set("transaction", c.MerchantReference)
	query.Set("status", c.Status)
	u.RawQuery = query.Encode()

	return u.String()
}

// Signer implements engine.Protocol.
func (protocol) Signer(secret string) (engine.Signer, error) {
	secrets, err := standardwebhook.ParseSecrets(secret)

	return signer{secrets}, err
}

type signer struct{ secrets []standardwebhook.Secret }

// eventBody is the body of a webhook.
type eventBody struct {
	Type      models.EventType `json:"type"`
	Timestamp time.Time        `json:"timestamp"`
	Data      eventData        `json:"data"`
}

type eventData struct {
	CheckoutID        string               `json:"checkout_id"`
	MerchantReference string               `json:"merchant_reference"`
	Amount            models.Money         `json:"amount"`
	Currency          string               `json:"currency"`
	PaymentMethod     models.PaymentMethod `json:"payment_method"`
	ResultCode        string               `json:"result_code"`
	FailureReason     string               `json:"failure_reason,omitempty"`
	RefundID          string               `json:"refund_id,omitempty"`
	PaymentID         string               `json:"payment_id,omitempty"` // of a further payment of the checkout
}

func bodyOf(e engine.Event) eventBody {
	c := e.Checkout
	body := eventBody{Type: e.Type, Timestamp: e.At, Data: eventData{
		CheckoutID: c.ID, MerchantReference: c.MerchantReference, Amount: c.Amount, Currency: c.Currency,
		PaymentMethod: c.Method(), ResultCode: c.ResultCode, FailureReason: c.FailureReason,
	}}

	if e.Second != nil {
		body.Data.PaymentID = e.Second.ID
	}

	if r := e.Refund; r != nil {
		body.Data.MerchantReference, body.Data.Amount, body.Data.Currency = r.MerchantReference, r.Amount, r.Currency
		body.Data.ResultCode, body.Data.FailureReason, body.Data.RefundID = "REFUNDED", r.FailureReason, r.ID

		if r.Status == engine.RefundFailed {
			body.Data.ResultCode = "REFUND_FAILED"
		}
	}

	return body
}

// Message implements engine.Signer.
func (s signer) Message(e engine.Event, id string, at time.Time) (engine.Message, bool, error) {
	body, err := json.Marshal(bodyOf(e))
	if err != nil {
		return engine.Message{}, false, err
	}

	signature, err := standardwebhook.Sign(s.secrets, id, at, body)
	if err != nil {
		return engine.Message{}, false, err
	}

	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set(standardwebhook.HeaderID, id)
	header.Set(standardwebhook.HeaderTimestamp, strconv.FormatInt(at.Unix(), 10))
	header.Set(standardwebhook.HeaderSignature, signature)

	return engine.Message{Header: header, Body: body}, true, nil
}
