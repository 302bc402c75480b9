// Package moyasardouble is a Moyasar that takes no real money, for tests and for development without an account. It is written from
// the company's public documentation; README.md of the driver says of what, and what is a guess.
package moyasardouble

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"rihla/gateways/double"
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

// New opens the double. Keys are sk_test_… (or sk_live_…, whose messages say live), secrets of channels the shared secret.
func New(cfg double.Config) (*double.Server, error) { return NewWith(cfg, Settings{}) }

// NewWith opens the double with settings.
func NewWith(cfg double.Config, settings Settings) (*double.Server, error) {
	p := protocol{settings: settings, live: map[string]bool{}}
	for _, m := range cfg.Merchants {
		p.live[m.Name] = strings.HasPrefix(m.APIKey, "sk_live_")
	}

	return double.New(p, cfg)
}

// protocol is the company's API, on its side.
type protocol struct {
	settings Settings
	live     map[string]bool // by account
}

// Traits implements double.Protocol.
func (protocol) Traits() double.Traits {
	return double.Traits{
		Name: "Moyasar double", Retryable: true, PaysAgain: true,
		// Refunds are made at once, and without idempotency keys no request is refused for another one.
		Lacks: []double.Mode{double.ModePending, double.ModeConflict},
	}
}

// Routes implements double.Protocol.
func (p protocol) Routes(s *double.Server) map[string]double.Methods {
	c := calls{Server: s, settings: p.settings}

	return map[string]double.Methods{
		"/v1/invoices":                  {http.MethodPost: s.AsMerchant(c.createInvoice), http.MethodGet: s.AsMerchant(c.listInvoices)},
		"/v1/invoices/{id}":             {http.MethodGet: s.AsMerchant(c.fetchInvoice)},
		"/v1/invoices/{id}/cancel":      {http.MethodPut: s.AsMerchant(c.cancelInvoice)},
		"/v1/payments/{id}":             {http.MethodGet: s.AsMerchant(c.fetchPayment)},
		"/v1/payments/{id}/refund":      {http.MethodPost: s.AsMerchant(c.refundPayment)},
		"/v1/webhooks":                  {http.MethodGet: s.AsMerchant(c.listWebhooks)},
		"/v1/webhooks/available_events": {http.MethodGet: s.AsMerchant(c.listEvents)},
	}
}

// Key implements double.Protocol: the user of basic authentication, with an empty password.
func (protocol) Key(r *http.Request) string {
	key, password, _ := r.BasicAuth()
	if password != "" {
		return ""
	}

	return key
}

// Failure implements double.Protocol. Types differ from page to page; these were seen in test mode.
func (protocol) Failure(f double.Failure) double.Answer {
	kind, message, fields := "invalid_request_error", f.Message, map[string][]string(nil)

	switch f.Code {
	case double.CodeUnauthorized:
		kind, message = "authentication_error", "Invalid authorization credentials"
	case double.CodeNotFound:
		kind, message = "record_not_found", "Object not found"
	case double.CodeInvalid:
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

	return double.Success(f.Status, map[string]any{"type": kind, "message": message, "errors": fields})
}

// ReturnURL implements double.Protocol: what is added to the addresses is not documented, so nothing is.
func (protocol) ReturnURL(c *double.Checkout) string {
	if c.Status == double.StatusPaid {
		return c.Data[dataSuccessURL]
	}

	return c.ReturnURL
}

// Signer implements double.Protocol.
func (p protocol) Signer(secret string) (double.Signer, error) {
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

// Message implements double.Signer: the secret is in the body, and there is no header. Nothing is sent about an invoice that expires,
// unless a SADAD bill does.
func (s signer) Message(e double.Event, id string, _ time.Time) (double.Message, bool, error) {
	view := s.settings.paymentOf(&e.Checkout, &double.Fault{})

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
		return double.Message{}, false, nil
	}

	body, err := json.Marshal(message{
		ID: id, Type: kind, CreatedAt: stamp(e.At), SecretToken: s.secret, AccountName: e.Checkout.Merchant,
		Live: s.live[e.Checkout.Merchant], Data: view,
	})
	if err != nil {
		return double.Message{}, false, err
	}

	return double.Message{Header: http.Header{"Content-Type": {"application/json"}}, Body: body}, true, nil
}

// stamp writes a time as the company does.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// webAddress admits what the page may send a browser to.
func webAddress(text string) bool {
	u, err := url.Parse(text)

	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && !strings.ContainsAny(text, "\"'<> ;")
}
