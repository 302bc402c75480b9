// Package stripe is a Stripe that takes no real money, for tests and for development without an account: Checkout Sessions, refunds
// and webhooks as the company's public documents describe them. README.md of the driver says of what it was made.
package stripe

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	sdk "github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"rihla/gateways/simulator/engine"
	"rihla/models"
)

// New opens the simulator. Keys are sk_test_… (or sk_live_…, whose objects say livemode), secrets of channels whsec_….
func New(cfg engine.Config) (*engine.Server, error) {
	p := protocol{live: map[string]bool{}}
	for _, m := range cfg.Merchants {
		p.live[m.Name] = strings.HasPrefix(m.APIKey, "sk_live_")
	}

	return engine.New(p, cfg)
}

// protocol is the company's API, on its side.
type protocol struct {
	live map[string]bool // by account
}

// Traits implements engine.Protocol. Lists lag behind nothing.
func (protocol) Traits() engine.Traits {
	return engine.Traits{
		Name: "Stripe simulator", EventPrefix: "evt_", RefundPrefix: "re_", Retryable: true, Keys: true, Revises: true,
		Lacks: []engine.Mode{engine.ModeFindLag},
	}
}

// Routes implements engine.Protocol.
func (p protocol) Routes(s *engine.Server) map[string]engine.Methods {
	c := calls{Server: s, protocol: p}

	return map[string]engine.Methods{
		"/v1/checkout/sessions":             {http.MethodPost: s.AsMerchant(c.createSession), http.MethodGet: s.AsMerchant(c.listSessions)},
		"/v1/checkout/sessions/{id}":        {http.MethodGet: s.AsMerchant(c.readSession)},
		"/v1/checkout/sessions/{id}/expire": {http.MethodPost: s.AsMerchant(c.expireSession)},
		"/v1/refunds":                       {http.MethodPost: s.AsMerchant(c.createRefund), http.MethodGet: s.AsMerchant(c.listRefunds)},
		"/v1/refunds/{id}":                  {http.MethodGet: s.AsMerchant(c.readRefund)},
		"/v1/webhook_endpoints":             {http.MethodGet: s.AsMerchant(c.listWebhooks)},
	}
}

// Key implements engine.Protocol: a Bearer token, or the user of basic authentication (docs.stripe.com/api/authentication).
func (protocol) Key(r *http.Request) string {
	if scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return key
	}

	key, _, _ := r.BasicAuth()

	return key
}

// errorView is the company's error (docs.stripe.com/api/errors).
type errorView struct {
	Type    string `json:"type"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
	Param   string `json:"param,omitempty"`
}

func failure(status int, e errorView) engine.Answer {
	return engine.Success(status, map[string]any{"error": e})
}

// Failure implements engine.Protocol.
func (protocol) Failure(f engine.Failure) engine.Answer {
	e := errorView{Type: "invalid_request_error", Message: f.Message, Param: f.Param}

	switch f.Code {
	case engine.CodeUnauthorized:
		e.Message = "Invalid API Key provided: sk_test_*********"
	case engine.CodeNotFound:
		e.Code = "resource_missing"
	case engine.CodeInvalid, engine.CodeMalformed:
		f.Status = http.StatusBadRequest
	case engine.CodeInProgress:
		e.Type, e.Code = "idempotency_error", "idempotency_key_in_use"
	case engine.CodeKeyReused:
		f.Status, e.Type = http.StatusBadRequest, "idempotency_error"
	}

	switch {
	case f.Status == http.StatusTooManyRequests:
		e.Code = "rate_limit"
	case f.Status >= http.StatusInternalServerError:
		e.Type = "api_error"
	}

	return failure(f.Status, e)
}

// ReturnURL implements engine.Protocol.
func (protocol) ReturnURL(c *engine.Checkout) string {
	if c.Status == engine.StatusPaid {
		return c.Data[dataSuccessURL]
	}

	return c.ReturnURL
}

// Signer implements engine.Protocol.
func (p protocol) Signer(secret string) (engine.Signer, error) {
	for one := range strings.SplitSeq(secret, ",") {
		if !strings.HasPrefix(one, "whsec_") {
			return nil, errors.New("must begin with whsec_")
		}
	}

	return signer{secrets: strings.Split(secret, ","), protocol: p}, nil
}

type signer struct {
	protocol

	secrets []string
}

// Message implements engine.Signer: two signatures while a secret is rolled.
func (s signer) Message(e engine.Event, id string, at time.Time) (engine.Message, bool, error) {
	kind, object := s.about(e)
	if kind == "" {
		return engine.Message{}, false, nil
	}

	body, err := json.Marshal(map[string]any{
		"id": strings.ReplaceAll(id, "-", ""), "object": "event", "api_version": sdk.APIVersion, "created": e.At.Unix(),
		"livemode": s.live[e.Checkout.Merchant], "pending_webhooks": 1, "request": map[string]any{"id": nil, "idempotency_key": nil},
		"type": kind, "data": map[string]any{"object": object},
	})
	if err != nil {
		return engine.Message{}, false, err
	}

	return engine.Message{
		Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Stripe-Signature": {Sign(body, at, s.secrets...)}}, Body: body,
	}, true, nil
}

// about is which event of the company it is, and the object in it; none where the company says nothing.
func (p protocol) about(e engine.Event) (sdk.EventType, any) {
	live := p.live[e.Checkout.Merchant]

	switch {
	case e.Refund != nil:
		return sdk.EventTypeRefundUpdated, refundOf(e.Refund)
	case e.Type == models.EventPaymentSucceeded:
		return sdk.EventTypeCheckoutSessionCompleted, sessionOf(&e.Checkout, &engine.Fault{}, "", live)
	case e.Type == models.EventPaymentDisputed:
		return sdk.EventTypeChargeDisputeCreated, disputeOf(&e.Checkout, sdk.DisputeStatusNeedsResponse)
	case e.Type == models.EventDisputeClosed:
		return sdk.EventTypeChargeDisputeClosed, disputeOf(&e.Checkout, sdk.DisputeStatus(e.Outcome))
	case e.Type == models.EventPaymentExpired:
		return sdk.EventTypeCheckoutSessionExpired, sessionOf(&e.Checkout, &engine.Fault{}, "", live)
	case e.Attempt != nil: // it ends nothing
		return sdk.EventTypePaymentIntentPaymentFailed, map[string]any{
			"id": intentOf(e.Checkout.ID), "object": "payment_intent", "status": "requires_payment_method",
			"metadata": map[string]string{metaReference: e.Checkout.MerchantReference},
		}
	default:
		return "", nil
	}
}

func disputeOf(c *engine.Checkout, status sdk.DisputeStatus) map[string]any {
	return map[string]any{
		"id": "dp_" + chargeOf(c.ID), "object": "dispute", "amount": c.Amount.Halalas(), "status": status,
		"currency": strings.ToLower(c.Currency), "charge": chargeOf(c.ID), "payment_intent": intentOf(c.ID),
		"reason": "fraudulent", "metadata": map[string]string{},
	}
}

// Sign makes the header of a message (docs.stripe.com/webhooks).
func Sign(body []byte, at time.Time, secrets ...string) string {
	parts := make([]string, 1, 1+len(secrets))
	parts[0] = "t=" + strconv.FormatInt(at.Unix(), 10)

	for _, secret := range secrets {
		signed := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: body, Secret: secret, Timestamp: at})
		_, v1, _ := strings.Cut(signed.Header, ",")
		parts = append(parts, v1)
	}

	return strings.Join(parts, ",")
}
