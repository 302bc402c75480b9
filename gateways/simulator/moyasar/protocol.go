// Package moyasar is a Moyasar that takes no real money, for tests and for development without an account. It is written from
// the company's public documentation; README.md of the driver says of what, and what is a guess.
package moyasar

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"rihla/gateways/simulator/engine"
	"rihla/models"
)

// Settings are what the documentation leaves open, or tells in two ways. The zero value is what the driver must live with.
type Settings struct {
	// PaidAfterPart: a payment that gave back a part keeps its status paid; otherwise it is refunded.
	PaidAfterPart bool
	// Failed spells a failed payment `payment_failed`, as the list of available events does; otherwise `payment_faild`.
	Failed bool
	// Lists leave out the payments of invoices.
	BareLists bool
	// Metadata of an invoice is that of its payments too.
	CopiedMetadata bool
}

// New opens the simulator. Keys are sk_test_… (or sk_live_…, whose messages say live), secrets of channels the shared secret.
func New(cfg engine.Config) (*engine.Server, error) { return NewWith(cfg, Settings{}) }

// NewWith opens the simulator with settings.
func NewWith(cfg engine.Config, settings Settings) (*engine.Server, error) {
	p := protocol{settings: settings, live: map[string]bool{}}
	for _, m := range cfg.Merchants {
		p.live[m.Name] = strings.HasPrefix(m.APIKey, "sk_live_")
	}

	return engine.New(p, cfg)
}

// protocol is the company's API, on its side.
type protocol struct {
	settings Settings
	live     map[string]bool // by account
}

// Traits implements engine.Protocol.
func (protocol) Traits() engine.Traits {
	return engine.Traits{
		Name: "Moyasar simulator", Retryable: true, PaysAgain: true,
		// Refunds are made at once, and without idempotency keys no request is refused for another one.
		Lacks: []engine.Mode{engine.ModePending, engine.ModeConflict},
	}
}

// Routes implements engine.Protocol.
func (p protocol) Routes(s *engine.Server) map[string]engine.Methods {
	c := calls{Server: s, settings: p.settings}

	return map[string]engine.Methods{
		"/v1/invoices":                  {http.MethodPost: s.AsMerchant(c.createInvoice), http.MethodGet: s.AsMerchant(c.listInvoices)},
		"/v1/invoices/{id}":             {http.MethodGet: s.AsMerchant(c.fetchInvoice)},
		"/v1/invoices/{id}/cancel":      {http.MethodPut: s.AsMerchant(c.cancelInvoice)},
		"/v1/payments/{id}":             {http.MethodGet: s.AsMerchant(c.fetchPayment)},
		"/v1/payments/{id}/refund":      {http.MethodPost: s.AsMerchant(c.refundPayment)},
		"/v1/webhooks":                  {http.MethodGet: s.AsMerchant(c.listWebhooks)},
		"/v1/webhooks/available_events": {http.MethodGet: s.AsMerchant(c.listEvents)},
	}
}

// Key implements engine.Protocol: the user of basic authentication, with an empty password.
func (protocol) Key(r *http.Request) string {
	key, password, _ := r.BasicAuth()
	if password != "" {
		return ""
	}

	return key
}

// Failure implements engine.Protocol. Types differ from page to page; these were seen in test mode.
func (protocol) Failure(f engine.Failure) engine.Answer {
	kind, message, fields := "invalid_request_error", f.Message, map[string][]string(nil)

	switch f.Code {
	case engine.CodeUnauthorized:
		kind, message = "authentication_error", "Invalid authorization credentials"
	case engine.CodeNotFound:
		kind, message = "record_not_found", "Object not found"
	case engine.CodeInvalid:
		f.Status, kind, message = http.StatusBadRequest, "validation_error", "Validation Failed"
		if f.Param != "" {
			fields = map[string][]string{f.Param: {f.Message}}
		}
	}

	switch {
	case f.Status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case f.Status >= http.StatusInternalServerError:
		kind = "api_error"
	}

	return engine.Success(f.Status, map[string]any{"type": kind, "message": message, "errors": fields})
}

// ReturnURL implements engine.Protocol: what is added to the addresses is not documented, so nothing is.
func (protocol) ReturnURL(c *engine.Checkout) string {
	if c.Status == engine.StatusPaid {
		return c.Data[dataSuccessURL]
	}

	return c.ReturnURL
}

// Signer implements engine.Protocol.
func (p protocol) Signer(secret string) (engine.Signer, error) {
	if secret == "" {
		return nil, errors.New("is missing")
	}

	return signer{secret: secret, protocol: p}, nil
}

type signer struct {
	protocol

	secret string
}

// message is a webhook as the company sends it (docs.moyasar.com/api/other/webhooks/webhook-reference).
type message struct {
	ID          string      `json:"id"`
	Type        string      `json:"type"`
	CreatedAt   string      `json:"created_at"`
	SecretToken string      `json:"secret_token"`
	AccountName string      `json:"account_name"`
	Live        bool        `json:"live"`
	Data        paymentView `json:"data"`
}

// Message implements engine.Signer: the secret is in the body, and there is no header. Nothing is sent about an invoice that expires,
// unless a SADAD bill does.
func (s signer) Message(e engine.Event, id string, _ time.Time) (engine.Message, bool, error) {
	view := s.settings.paymentOf(&e.Checkout, &engine.Fault{})

	var kind string

	switch {
	case e.Second != nil:
		kind, view = "payment_paid", s.settings.secondOf(&e.Checkout, e.Second)
	case e.Type == models.EventPaymentSucceeded:
		kind = "payment_paid"
	case e.Type == models.EventPaymentFailed && e.Attempt != nil:
		kind, view = "payment_faild", s.settings.attemptOf(&e.Checkout, e.Attempt)
		if s.settings.Failed {
			kind = "payment_failed"
		}
	case e.Type == models.EventPaymentExpired && e.Checkout.PaymentMethod == models.MethodBillPayment:
		kind, view.Status = "payment_expired", "expired"
	case e.Type == models.EventRefundSucceeded:
		kind = "payment_refunded"

		if d := e.Checkout.Second(e.Refund.PaymentID); d != nil {
			view = s.settings.secondOf(&e.Checkout, d)
		}
	default:
		return engine.Message{}, false, nil
	}

	body, err := json.Marshal(message{
		ID: id, Type: kind, CreatedAt: stamp(e.At), SecretToken: s.secret, AccountName: e.Checkout.Merchant,
		Live: s.live[e.Checkout.Merchant], Data: view,
	})
	if err != nil {
		return engine.Message{}, false, err
	}

	return engine.Message{Header: http.Header{"Content-Type": {"application/json"}}, Body: body}, true, nil
}

// stamp writes a time as the company does.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// webAddress admits what the page may send a browser to.
func webAddress(text string) bool {
	u, err := url.Parse(text)

	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && !strings.ContainsAny(text, "\"'<> ;")
}
