// Package hyperpay is the driver for HyperPay, which runs on the platform OPPWA: Copy & Pay. The company's widget runs on a page of
// ours (Page), so that a checkout is an id and a proof of its script, and no address. README.md has the tables and their sources.
package hyperpay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"rihla/gateways"
	"rihla/gateways/httpcall"
	"rihla/models"
)

const (
	// The company's own addresses (hyperpay.docs.oppwa.com/reference/parameters; the live one as its customers use it). The test
	// system takes no money.
	testURL = "https://eu-test.oppwa.com"
	liveURL = "https://eu-prod.oppwa.com"

	// maxTitle bounds what the company's back office shows of an order, in characters.
	maxTitle = 255
)

// Config says which account is used, and where our page for paying is.
type Config struct {
	BaseURL  string // empty: the company's own address, by Live
	APIKey   string // the access token exactly as it was issued, although it looks like base64
	Live     bool   // real money: successes of a test system count as nothing
	Entities map[models.PaymentMethod]string
	// Brands are the widget's names of what a method offers, in the order in which customers see them. Cards have a default;
	// wallets must be named (APPLEPAY, STC_PAY). MADA always comes first.
	Brands map[models.PaymentMethod][]string
	// PageBase is the https address under which the service shows Page, at /pay/ and the page's id.
	PageBase string
	// Parameters are sent with every checkout besides, as the address that 3-D Secure asks for (billing.country). testMode and
	// customParameters[3DS2_enrolled] are for tests, and refused when Live.
	Parameters map[string]string
	SearchLag  time.Duration     // for how long the report may not show what was made; 0 means 5 minutes
	Timeout    time.Duration     // of one request, answer included; 0 means 4 s
	Transport  http.RoundTripper // nil means a pool of the driver's own
	Now        func() time.Time  // nil means time.Now
}

// Driver is one account. It is safe for concurrent use and never logs.
type Driver struct {
	base     string
	pageBase string
	key      string
	live     bool
	entities map[models.PaymentMethod]string
	brands   map[models.PaymentMethod][]string
	extra    map[string]string
	lag      time.Duration
	timeout  time.Duration
	client   *http.Client
	now      func() time.Time
	payments *paymentIDs
}

var (
	_ gateways.Gateway = (*Driver)(nil)
	_ gateways.Checker = (*Driver)(nil)
)

// New checks the configuration; it makes no request.
func New(cfg Config) (*Driver, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("hyperpay gateway: %w", err)
	}

	d := &Driver{
		base: strings.TrimRight(cfg.BaseURL, "/"), pageBase: strings.TrimRight(cfg.PageBase, "/"), key: cfg.APIKey, live: cfg.Live,
		entities: maps.Clone(cfg.Entities), brands: map[models.PaymentMethod][]string{}, extra: maps.Clone(cfg.Parameters),
		lag: cmp.Or(cfg.SearchLag, searchLag), timeout: cfg.Timeout, now: cfg.Now, payments: newPaymentIDs(),
		client: httpcall.NewClient(cfg.Transport, cfg.Timeout),
	}

	for method := range d.entities {
		d.brands[method] = brandsOf(method, cfg.Brands)
	}

	return d, nil
}

func (cfg Config) withDefaults() Config {
	if cfg.BaseURL == "" {
		cfg.BaseURL = testURL
		if cfg.Live {
			cfg.BaseURL = liveURL
		}
	}

	if cfg.Timeout == 0 {
		cfg.Timeout = httpcall.DefaultTimeout
	}

	if cfg.Now == nil {
		cfg.Now = time.Now
	}

	return cfg
}

func (cfg Config) check() error {
	switch {
	case !isWebAddress(cfg.BaseURL) || !originForm.MatchString(strings.TrimRight(cfg.BaseURL, "/")):
		return errors.New("the URL must be an absolute http or https URL without a path") // the widget's origin
	case cfg.Live && strings.Contains(cfg.BaseURL, "test.oppwa.com"), !cfg.Live && strings.Contains(cfg.BaseURL, "prod.oppwa.com"):
		return errors.New("the URL is that of the other system than the mode says")
	case !isWebAddress(cfg.PageBase):
		return errors.New("the address of our page must be an absolute http or https URL")
	case cfg.APIKey == "" || strings.ContainsFunc(cfg.APIKey, isNoToken):
		return errors.New("the access token is missing or not one")
	case cfg.Timeout < 0:
		return errors.New("the timeout must not be negative")
	case len(cfg.Entities) == 0:
		return errors.New("at least one payment method needs an entity")
	}

	for _, method := range slices.Sorted(maps.Keys(cfg.Entities)) {
		if err := cfg.checkMethod(method); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}

	return cfg.checkParameters()
}

func isWebAddress(text string) bool {
	u, err := url.Parse(text)

	return err == nil && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" && (u.Scheme == "http" || u.Scheme == "https")
}

func isNoToken(r rune) bool { return r <= ' ' || r > '~' }

func (cfg Config) checkMethod(method models.PaymentMethod) error {
	if len(Capabilities(method).Methods) == 0 {
		return errors.New("the company does not have the method")
	}

	if !entityForm.MatchString(cfg.Entities[method]) {
		return errors.New("an entity id is 32 hexadecimal digits")
	}

	brands := brandsOf(method, cfg.Brands)
	if len(brands) == 0 {
		return errors.New("brands of the widget are needed")
	}

	for _, b := range brands {
		if !brandForm.MatchString(b) {
			return errors.New("a brand has capitals, digits and underscores only")
		}
	}

	return nil
}

func (cfg Config) checkParameters() error {
	for name := range cfg.Parameters {
		switch {
		case slices.Contains(ownParameters, name):
			return fmt.Errorf("parameter %s is the driver's own", name)
		case cfg.Live && (name == "testMode" || name == "customParameters[3DS2_enrolled]"):
			return fmt.Errorf("parameter %s is for tests", name)
		}
	}

	return nil
}

// Capabilities implements gateways.Gateway.
func (d *Driver) Capabilities() gateways.Capabilities {
	can := Capabilities(slices.Collect(maps.Keys(d.entities))...)
	can.SearchLag = d.lag

	return can
}

// CreateCheckout implements gateways.Gateway. The request has no key, so that a repeated one makes another checkout. One whose
// answer was lost cannot be paid, because its id was never shown.
func (d *Driver) CreateCheckout(ctx context.Context, r gateways.CheckoutRequest) (gateways.Checkout, error) {
	entity, err := d.entity(r.Method)
	if err != nil {
		return gateways.Checkout{}, err
	}

	amount, err := amountText(r.Amount)
	if err != nil || !models.SameCurrency(r.Currency, models.Currency) {
		return gateways.Checkout{}, unsendable("the amount or the currency is not one that the company takes")
	}

	form := url.Values{}
	for name, value := range d.extra {
		form.Set(name, value)
	}

	form.Set("entityId", entity)
	form.Set("amount", amount)
	form.Set("currency", models.Currency)
	form.Set("paymentType", "DB")
	form.Set("integrity", "true")
	form.Set("merchantTransactionId", r.MerchantReference.String())

	if title := httpcall.Plain(r.Description, maxTitle); title != "" {
		form.Set("customParameters[SHOPPER_title]", title)
	}

	setPayer(form, r.Payer)

	var answer createdAnswer
	if err := d.call(ctx, request{method: http.MethodPost, path: "/v1/checkouts", form: form}, &answer); err != nil {
		return gateways.Checkout{}, err
	}

	return d.created(r, answer)
}

// The longest values that the company takes (hyperpay.docs.oppwa.com/reference/parameters).
const (
	maxName  = 48
	maxEmail = 128
)

// setPayer names who pays, as far as the company can take it: a checkout is not refused for a name.
func setPayer(form url.Values, p gateways.Payer) {
	whole := strings.TrimSpace(p.Name)

	given, surname := whole, whole
	if last := strings.LastIndexByte(whole, ' '); last > 0 {
		given, surname = whole[:last], whole[last+1:]
	}

	for name, value := range map[string]string{
		"customer.givenName": httpcall.Plain(given, maxName), "customer.surname": httpcall.Plain(surname, maxName),
	} {
		if value != "" {
			form.Set(name, value)
		}
	}

	if p.Email != "" && len(p.Email) <= maxEmail {
		form.Set("customer.email", p.Email)
	}
}

// ownParameters are those that a checkout always has.
var ownParameters = []string{
	"entityId", "amount", "currency", "paymentType", "integrity", "merchantTransactionId", "customParameters[SHOPPER_title]",
	"customer.givenName", "customer.surname", "customer.email",
}

// created checks the answer: without an id, or the proof of the script, it cannot be paid.
func (d *Driver) created(r gateways.CheckoutRequest, a createdAnswer) (gateways.Checkout, error) {
	switch {
	case !createdCode.MatchString(a.Result.Code):
		return gateways.Checkout{}, refusalOf(a.Result)
	case !checkoutForm.MatchString(a.ID):
		return gateways.Checkout{}, httpcall.BadAnswer("the checkout has no usable id")
	case !integrityForm.MatchString(a.Integrity):
		return gateways.Checkout{}, httpcall.BadAnswer("the checkout has no usable integrity")
	}

	page := uuid.NewString()

	return gateways.Checkout{
		ID: a.ID, MerchantReference: r.MerchantReference, Status: gateways.CheckoutOpen, Amount: r.Amount, Currency: r.Currency,
		URL: d.pageBase + "/pay/" + page, ExpiresAt: d.now().Add(sessionLife).UTC(),
		PageData: map[string]string{
			gateways.DataPage: page,
			DataIntegrity:     a.Integrity, DataOrigin: d.base, DataBrands: strings.Join(d.brands[r.Method], " "),
		},
	}, nil
}

// CancelCheckout implements gateways.Gateway: the company cannot, so a checkout can be paid until it is over there.
func (d *Driver) CancelCheckout(context.Context, gateways.CheckoutRef) (gateways.Checkout, error) {
	return gateways.Checkout{}, &gateways.Error{
		Kind: gateways.KindRejected, Code: "cannot_cancel", Message: "HyperPay closes no checkout before its time is over",
	}
}

// entity is the one that a method belongs to: everything at the company is found in the entity alone in which it was made.
func (d *Driver) entity(method models.PaymentMethod) (string, error) {
	entity, ok := d.entities[method]
	if !ok {
		return "", unsendable("the account has no entity for the payment method")
	}

	return entity, nil
}
