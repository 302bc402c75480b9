// Package stripe is the driver for Stripe: Checkout Sessions on the company's page, refunds of their payments, and the webhooks about
// them, with the company's SDK. README.md has the tables and their sources.
package stripe

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	sdk "github.com/stripe/stripe-go/v85"

	"rihla/gateways"
	"rihla/gateways/httpcall"
	"rihla/models"
)

const (
	// maxTitle bounds what the customer reads on the page, in characters. The company names no limit for a product's name.
	maxTitle = 250
	// maxDetails bounds what the page shows below it.
	maxDetails = 500

	// metaReference is the key of the metadata that names what of ours an object is: of sessions and payment intents the attempt, of
	// refunds the refund.
	metaReference = "merchant_reference"

	// Time to pay: the company keeps a session open for 30 minutes to 24 hours from its own now (docs.stripe.com/payments/checkout/
	// managing-limited-inventory), and an attempt may be opened half an hour after its creation. The bounds are of the attempt's time,
	// because the same key must always come with the same request.
	minOpen = 65 * time.Minute
	maxOpen = 23 * time.Hour
)

// Config says which account is used.
type Config struct {
	// BaseURL is an absolute http or https address; empty: the company's own.
	BaseURL string
	// APIKey is a secret key, sk_test_… or sk_live_…, or a restricted one, rk_…, that may write sessions and refunds.
	APIKey string
	// ReturnURL is where customers go whose attempt has no such address: the company demands one.
	ReturnURL string
	Timeout   time.Duration     // of one call of the driver, all its requests together; 0 means 4 s
	Transport http.RoundTripper // nil means a pool of the driver's own
	Now       func() time.Time  // nil means time.Now
}

// Driver is a client of the company's API. It is safe for concurrent use and never logs.
type Driver struct {
	client    *sdk.Client
	live      bool
	returnURL string
	timeout   time.Duration
	now       func() time.Time
}

var (
	_ gateways.Gateway = (*Driver)(nil)
	_ gateways.Checker = (*Driver)(nil)
)

// Mode is what a key is for, by its look (docs.stripe.com/keys).
func Mode(key string) gateways.Mode {
	switch {
	case strings.HasPrefix(key, "sk_test_"), strings.HasPrefix(key, "rk_test_"), strings.HasPrefix(key, "pk_test_"):
		return gateways.ModeTest
	case strings.HasPrefix(key, "sk_live_"), strings.HasPrefix(key, "rk_live_"), strings.HasPrefix(key, "pk_live_"):
		return gateways.ModeLive
	default:
		return gateways.ModeUnknown
	}
}

// New checks the configuration; it makes no request. Its errors never have the key.
func New(cfg Config) (*Driver, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}

	timeout := cmp.Or(cfg.Timeout, httpcall.DefaultTimeout)

	// A backend of its own: the SDK's global one logs, counts for the company, and is shared with whatever else uses it. It repeats
	// nothing: what comes of a call is for the caller to decide.
	backend := &sdk.BackendConfig{
		HTTPClient:        httpcall.NewClient(nil, timeout),
		MaxNetworkRetries: sdk.Int64(0),
		EnableTelemetry:   new(false),
		LeveledLogger:     &sdk.LeveledLogger{Level: sdk.LevelNull},
	}
	if cfg.Transport != nil {
		backend.HTTPClient = httpcall.NewClient(cfg.Transport, timeout)
	}

	backend.HTTPClient.Transport = &listener{next: backend.HTTPClient.Transport}

	if cfg.BaseURL != "" {
		backend.URL = sdk.String(strings.TrimRight(cfg.BaseURL, "/"))
	}

	d := &Driver{
		client: sdk.NewClient(cfg.APIKey, sdk.WithBackends(sdk.NewBackendsWithConfig(backend))),
		live:   Mode(cfg.APIKey) == gateways.ModeLive, returnURL: cfg.ReturnURL, timeout: timeout, now: cfg.Now,
	}
	if d.now == nil {
		d.now = time.Now
	}

	return d, nil
}

func (cfg Config) check() error {
	mode := Mode(cfg.APIKey)

	switch {
	case cfg.APIKey == "":
		return errors.New("stripe: the API key is missing")
	case strings.HasPrefix(cfg.APIKey, "pk_"):
		return errors.New("stripe: the API key is a publishable one (pk_…); a secret (sk_…) or a restricted one (rk_…) is needed")
	case mode == gateways.ModeUnknown:
		return errors.New("stripe: the API key must begin with sk_test_, sk_live_, rk_test_ or rk_live_")
	case strings.ContainsFunc(cfg.APIKey, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("stripe: the API key has a character that no key has, perhaps a space or a line break at its end")
	case cfg.Timeout < 0:
		return errors.New("stripe: the timeout must not be negative")
	case cfg.ReturnURL != "" && !isWebAddress(cfg.ReturnURL):
		return errors.New("stripe: the address to return to must be an absolute http or https address")
	case cfg.BaseURL == "":
		return nil
	case !isWebAddress(cfg.BaseURL):
		return errors.New("stripe: the URL must be an absolute http or https address without user and query")
	case mode == gateways.ModeLive && !strings.HasPrefix(cfg.BaseURL, "https://"):
		return errors.New("stripe: a live key is sent over https only")
	default:
		return nil
	}
}

func isWebAddress(text string) bool {
	u, err := url.Parse(text)

	return err == nil && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" && (u.Scheme == "http" || u.Scheme == "https")
}

// String hides the key from logs and error messages.
func (*Driver) String() string { return "stripe driver" }

// GoString hides the key from %#v.
func (d *Driver) GoString() string { return d.String() }

// Capabilities implements gateways.Gateway.
func (*Driver) Capabilities() gateways.Capabilities { return Capabilities() }

// CreateCheckout implements gateways.Gateway. The key is our reference. The company replays what a key gave for a day, a 500 too,
// although the session may exist: then the sessions are listed, which lags behind nothing, and one that is not there is made under a
// second key, the same for everybody who comes to this, so that it is made once.
func (d *Driver) CreateCheckout(ctx context.Context, r gateways.CheckoutRequest) (gateways.Checkout, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	params, err := d.sessionParams(r)
	if err != nil {
		return gateways.Checkout{}, err
	}

	c, err := d.createSession(ctx, r, params, checkoutKey(r.MerchantReference))
	if !isReplayed(err) {
		return c, err
	}

	if c, err = d.find(ctx, r.Ref()); gateways.KindOf(err) != gateways.KindNotFound || err == nil {
		return c, err
	}

	return d.createSession(ctx, r, params, checkoutKey(r.MerchantReference)+"/2")
}

func checkoutKey(reference uuid.UUID) string { return "checkout/" + reference.String() }

func (d *Driver) createSession(
	ctx context.Context, r gateways.CheckoutRequest, params sdk.CheckoutSessionCreateParams, key string,
) (gateways.Checkout, error) {
	params.SetIdempotencyKey(key)

	var made *sdk.CheckoutSession

	err := d.call(ctx, gateways.KindRejected, func(ctx context.Context) (err error) {
		made, err = d.client.V1CheckoutSessions.Create(ctx, &params)

		return err
	})
	if err != nil {
		return gateways.Checkout{}, err
	}

	c, err := d.checkoutOf(made)

	switch {
	case err != nil:
		return gateways.Checkout{}, err
	case c.MerchantReference != r.MerchantReference || !c.Amount.Equal(r.Amount) || !models.SameCurrency(c.Currency, r.Currency):
		return gateways.Checkout{}, httpcall.BadAnswer("the session in the answer does not match the request")
	case c.Status == gateways.CheckoutOpen && c.URL == "":
		return gateways.Checkout{}, httpcall.BadAnswer("the session in the answer has no page")
	default:
		return c, nil
	}
}

// sessionParams are the same for the same attempt, byte for byte.
func (d *Driver) sessionParams(r gateways.CheckoutRequest) (sdk.CheckoutSessionCreateParams, error) {
	amount, err := toMinor(r.Amount, r.Currency)
	if err != nil {
		return sdk.CheckoutSessionCreateParams{}, unsendable(err.Error())
	}

	// Without an address to return to there is no session (openapi: success_url).
	back := cmp.Or(r.ReturnURL, d.returnURL)
	if back == "" {
		return sdk.CheckoutSessionCreateParams{}, unsendable("there is no address to return to")
	}

	currency, reference := strings.ToLower(r.Currency), r.MerchantReference.String()
	metadata := map[string]string{metaReference: reference}

	return sdk.CheckoutSessionCreateParams{
		Mode:               sdk.String(string(sdk.CheckoutSessionModePayment)),
		PaymentMethodTypes: sdk.StringSlice([]string{"card"}),
		ClientReferenceID:  sdk.String(reference),
		SuccessURL:         sdk.String(back),
		CancelURL:          sdk.String(back),
		ExpiresAt:          new(expiresAt(r)),
		// A customer pays what we ask for and in our currency, whatever the account's settings are.
		AdaptivePricing: &sdk.CheckoutSessionCreateAdaptivePricingParams{Enabled: new(false)},
		LineItems: []*sdk.CheckoutSessionCreateLineItemParams{{
			Quantity: sdk.Int64(1),
			PriceData: &sdk.CheckoutSessionCreateLineItemPriceDataParams{
				Currency: sdk.String(currency), UnitAmount: new(amount),
				ProductData: product(r),
			},
		}},
		Metadata:          metadata,
		PaymentIntentData: &sdk.CheckoutSessionCreatePaymentIntentDataParams{Metadata: metadata},
	}, nil
}

// product is what the company's page shows of what is bought.
func product(r gateways.CheckoutRequest) *sdk.CheckoutSessionCreateLineItemPriceDataProductDataParams {
	p := &sdk.CheckoutSessionCreateLineItemPriceDataProductDataParams{
		Name: sdk.String(cmp.Or(httpcall.Plain(r.Description, maxTitle), r.MerchantReference.String())),
	}

	if details := httpcall.Plain(strings.Join(r.Details, gateways.DetailSeparator), maxDetails); details != "" {
		p.Description = sdk.String(details)
	}

	return p
}

// expiresAt is when the company closes the session by itself, in Unix seconds; the service cancels it when its own time is over.
func expiresAt(r gateways.CheckoutRequest) int64 {
	at := r.ExpiresAt
	if soonest := r.CreatedAt.Add(minOpen); at.Before(soonest) {
		at = soonest
	}

	if latest := r.CreatedAt.Add(maxOpen); at.After(latest) {
		at = latest
	}

	return at.Unix()
}

// CancelCheckout implements gateways.Gateway. The company refuses to expire what is not open, without saying why, so the session is
// read after a refusal: canceled twice looks canceled.
func (d *Driver) CancelCheckout(ctx context.Context, r gateways.CheckoutRef) (gateways.Checkout, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()

	if r.ID == "" {
		found, err := d.find(ctx, r)
		if err != nil {
			return gateways.Checkout{}, err
		}

		r.ID = found.ID
	}

	var expired *sdk.CheckoutSession

	refused := d.call(ctx, gateways.KindNotFound, func(ctx context.Context) (err error) {
		expired, err = d.client.V1CheckoutSessions.Expire(ctx, r.ID, &sdk.CheckoutSessionExpireParams{})

		return err
	})

	var (
		c   gateways.Checkout
		err error
	)

	switch {
	case refused == nil:
		c, err = d.checkoutOf(expired)
	case gateways.KindOf(refused) == gateways.KindRejected:
		c, err = d.readSession(ctx, r.ID)
	default:
		return gateways.Checkout{}, refused
	}

	switch {
	case err != nil:
		return gateways.Checkout{}, err
	case c.Status == gateways.CheckoutCanceled:
		return c, nil
	case refused == nil:
		return gateways.Checkout{}, &gateways.Error{
			Kind: gateways.KindRejected, Code: "not_expired", Message: "the session is " + string(c.Status),
		}
	default:
		return gateways.Checkout{}, refused
	}
}
