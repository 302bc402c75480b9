// Package moyasar is the driver for Moyasar (moyasar.com, Saudi Arabia): hosted invoices, refunds of their payments, and the
// webhooks about them. README.md tells how an account is set up, and where each fact comes from.
package moyasar

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"rihla/gateways"
	"rihla/gateways/httpcall"
	"rihla/models"
)

const (
	// address is the company's; the key decides between test and live (docs.moyasar.com/api/api-introduction).
	address = "https://api.moyasar.com"

	// maxDescription bounds what the customer reads on the invoice, in characters. The company names no limit.
	maxDescription = 255

	// The keys of an invoice's metadata. An invoice is found by the first one; the others are for people in the dashboard.
	metaReference = "merchant_reference" // our transaction id
	metaKind      = "kind"               // always kindPayment
	metaMethod    = "method"             // what the customer chose with us; the invoice's page asks again
	kindPayment   = "payment"
)

// Config says which account is used.
type Config struct {
	// BaseURL is an absolute http or https address, without /v1; empty: the company's own.
	BaseURL string
	// APIKey is a secret key, sk_test_… or sk_live_…; publishable keys (pk_…) may only create payments.
	APIKey    string
	SearchLag time.Duration     // for how long lists may not show what was made; 0 means 15 s
	Timeout   time.Duration     // of one call of the driver, all its requests together; 0 means 4 s
	Transport http.RoundTripper // nil means a pool of the driver's own
}

// Driver is a client of the company's API. It is safe for concurrent use and never logs.
type Driver struct {
	base    string
	key     string
	lag     time.Duration
	timeout time.Duration
	client  *http.Client
}

var (
	_ gateways.Gateway = (*Driver)(nil)
	_ gateways.Checker = (*Driver)(nil)
)

// Mode is what a key is for, by its look (docs.moyasar.com/api/authentication).
func Mode(key string) gateways.Mode {
	switch {
	case strings.HasPrefix(key, "sk_test_"), strings.HasPrefix(key, "pk_test_"):
		return gateways.ModeTest
	case strings.HasPrefix(key, "sk_live_"), strings.HasPrefix(key, "pk_live_"):
		return gateways.ModeLive
	default:
		return gateways.ModeUnknown
	}
}

// New checks the configuration; it makes no request. Its errors never have the key.
func New(cfg Config) (*Driver, error) {
	base, err := baseOf(cfg)
	if err != nil {
		return nil, err
	}

	if cfg.Timeout < 0 {
		return nil, errors.New("moyasar: the timeout must not be negative")
	}

	if cfg.Timeout == 0 {
		cfg.Timeout = httpcall.DefaultTimeout
	}

	return &Driver{
		base: base, key: cfg.APIKey, lag: cmp.Or(cfg.SearchLag, searchLag), timeout: cfg.Timeout,
		client: httpcall.NewClient(cfg.Transport, cfg.Timeout),
	}, nil
}

func baseOf(cfg Config) (string, error) {
	mode := Mode(cfg.APIKey)

	switch {
	case cfg.APIKey == "":
		return "", errors.New("moyasar: the API key is missing")
	case strings.HasPrefix(cfg.APIKey, "pk_"):
		return "", errors.New("moyasar: the API key is a publishable one (pk_…), which can read nothing; the secret one (sk_…) is needed")
	case mode == gateways.ModeUnknown:
		return "", errors.New("moyasar: the API key must begin with sk_test_ or sk_live_")
	case strings.ContainsFunc(cfg.APIKey, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' }):
		return "", errors.New("moyasar: the API key has a character that no key has, perhaps a space or a line break at its end")
	case cfg.BaseURL == "":
		return address, nil
	}

	u, err := url.Parse(cfg.BaseURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("moyasar: the URL must be an absolute http or https address without user and query")
	}

	if mode == gateways.ModeLive && u.Scheme != "https" {
		return "", errors.New("moyasar: a live key is sent over https only")
	}

	return strings.TrimSuffix(strings.TrimRight(cfg.BaseURL, "/"), "/v1"), nil
}

// String hides the key from logs and error messages.
func (d *Driver) String() string { return "moyasar driver of " + d.base }

// GoString hides the key from %#v.
func (d *Driver) GoString() string { return d.String() }

// Capabilities implements gateways.Gateway.
func (d *Driver) Capabilities() gateways.Capabilities {
	can := Capabilities()
	can.SearchLag = d.lag

	return can
}

// invoiceBody is the body of POST /v1/invoices (docs.moyasar.com/api/invoices/01-create-invoice).
type invoiceBody struct {
	Amount      int64             `json:"amount"` // in the currency's smallest unit
	Currency    string            `json:"currency"`
	Description string            `json:"description"`
	SuccessURL  string            `json:"success_url,omitempty"`
	BackURL     string            `json:"back_url,omitempty"`
	ExpiredAt   string            `json:"expired_at"`
	Metadata    map[string]string `json:"metadata"`
}

// CreateCheckout implements gateways.Gateway with one POST. The company knows no idempotency key for invoices, so a second POST
// would make a second invoice. The driver does not look for one before: the caller does (Capabilities: SettledByReference), a
// look costs a request for every checkout, and it would close no race between two of them.
func (d *Driver) CreateCheckout(ctx context.Context, r gateways.CheckoutRequest) (gateways.Checkout, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	amount, err := toMinor(r.Amount, r.Currency)
	if err != nil {
		return gateways.Checkout{}, refusal("amount", err.Error())
	}

	var made invoice

	err = d.call(ctx, request{
		method: http.MethodPost, path: "/v1/invoices",
		body: invoiceBody{
			Amount: amount, Currency: models.CurrencyCode(r.Currency), Description: description(r),
			SuccessURL: r.ReturnURL, BackURL: r.ReturnURL, ExpiredAt: stamp(r.ExpiresAt),
			Metadata: map[string]string{
				metaReference: r.MerchantReference.String(), metaKind: kindPayment, metaMethod: string(r.Method),
			},
		},
	}, &made)
	if err != nil {
		return gateways.Checkout{}, err
	}

	c, err := made.read()
	if err != nil {
		return gateways.Checkout{}, err
	}

	// An invoice of another amount must not be shown to a customer, and one without our reference could not be found again.
	if c.MerchantReference != r.MerchantReference || !c.Amount.Equal(r.Amount) || !models.SameCurrency(c.Currency, r.Currency) {
		return gateways.Checkout{}, httpcall.BadAnswer("the invoice in the answer does not match the request")
	}

	return c.Checkout, nil
}

// description is never empty, because the company demands one.
func description(r gateways.CheckoutRequest) string {
	if text := httpcall.Plain(r.Summary(maxDescription), maxDescription); text != "" {
		return text
	}

	return r.MerchantReference.String()
}

// stamp writes a moment as the company documents it: UTC, with milliseconds.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// ReadCheckout implements gateways.Gateway: by the invoice's id, or by our reference in its metadata.
func (d *Driver) ReadCheckout(ctx context.Context, r gateways.CheckoutRef) (gateways.Checkout, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	c, err := d.read(ctx, r)

	return c.Checkout, err
}

// CancelCheckout implements gateways.Gateway. The company refuses to cancel what is canceled already, so the invoice is read after
// a refusal: canceled twice looks canceled.
func (d *Driver) CancelCheckout(ctx context.Context, r gateways.CheckoutRef) (gateways.Checkout, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	if r.ID == "" {
		found, err := d.read(ctx, r)
		if err != nil {
			return gateways.Checkout{}, err
		}

		r.ID = found.ID
	}

	var canceled invoice

	refused := d.call(ctx, request{
		method: http.MethodPut, path: "/v1/invoices/" + url.PathEscape(r.ID) + "/cancel", missing: gateways.KindNotFound,
	}, &canceled)
	if refused != nil && gateways.KindOf(refused) != gateways.KindRejected {
		return gateways.Checkout{}, refused
	}

	var (
		c   reading
		err error
	)

	if refused == nil {
		c, err = canceled.read()
	} else {
		c, err = d.read(ctx, r)
	}

	switch {
	case err != nil:
		return gateways.Checkout{}, err
	case c.Status == gateways.CheckoutCanceled:
		return c.Checkout, nil
	case refused != nil:
		return gateways.Checkout{}, refused
	default: // 200 about an invoice that was paid meanwhile
		return gateways.Checkout{}, refusal("not_canceled", "the invoice is "+string(c.Status))
	}
}
