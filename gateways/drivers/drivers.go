// Package drivers knows the payment companies: how each one is opened, what it can do, and how its webhooks are verified. It is a
// package of its own, so that the interface knows nothing of those who implement it.
package drivers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rihla/gateways"
	"rihla/gateways/hyperpay"
	"rihla/gateways/moyasar"
	"rihla/gateways/sandbox"
	"rihla/gateways/standardwebhook"
	"rihla/gateways/stripe"
	"rihla/models"
)

// Config is what an operator says about one merchant account: GATEWAY_A_*, WALLET_B_*, and the same with BACKUP_.
type Config struct {
	Driver    string                          // one of Names
	URL       string                          // base address of the company's API; empty: its own
	APIKey    string                          // our secret key or token there
	EntityIDs map[models.PaymentMethod]string // the company's id of each method, where it has such
	PublicURL string                          // our own address, to which customers are sent back
	PayURL    string                          // the address of our pages on which customers pay
	// Brands are the company's names of what a method offers, and Parameters are sent with every checkout (hyperpay).
	Brands     map[models.PaymentMethod][]string
	Parameters map[string]string
	SearchLag  time.Duration // for how long a search may not show what was made; 0 means the driver's margin
	Live       bool          // production: test keys and events of tests are refused; else live ones are
	Timeout    time.Duration // of one request; 0 means the driver's default
}

// Driver is one company.
type Driver struct {
	// Open makes the gateway. It makes no request.
	Open func(Config) (gateways.Gateway, error)
	// Capabilities are those of the gateway, without opening it.
	Capabilities func(Config) gateways.Capabilities
	// Verifier reads the webhooks that are proven by the secrets, newest first. Its error never has a secret.
	Verifier func(cfg Config, secrets []string) (gateways.WebhookVerifier, error)
	// Mode is what a key is for, by its look.
	Mode func(key string) gateways.Mode
	// Page is the page of ours on which customers pay; nil where it is the company's.
	Page gateways.Page
	// NeedsPublicURL: customers pay on a page of ours, or have to be sent back to us.
	NeedsPublicURL bool
	// NoAddress: the company has no address of its own, so that the configuration has to say it.
	NoAddress bool
}

// The names of the drivers. The sandbox is for development; production refuses it.
const (
	Sandbox  = "sandbox"
	Moyasar  = "moyasar"
	HyperPay = "hyperpay"
	Stripe   = "stripe"
)

// known is where a new driver is entered.
var known = map[string]Driver{
	Sandbox: {
		Open: func(cfg Config) (gateways.Gateway, error) {
			return sandbox.New(sandbox.Config{BaseURL: cfg.URL, APIKey: cfg.APIKey, Timeout: cfg.Timeout})
		},
		Capabilities: func(Config) gateways.Capabilities { return gateways.Unbounded() },
		Verifier:     standardVerifier,
		Mode:         func(string) gateways.Mode { return gateways.ModeTest },
		NoAddress:    true,
	},
	Moyasar: {
		Open: func(cfg Config) (gateways.Gateway, error) {
			return moyasar.New(moyasar.Config{
				BaseURL: cfg.URL, APIKey: cfg.APIKey, SearchLag: cfg.SearchLag, Timeout: cfg.Timeout,
			})
		},
		Capabilities: func(Config) gateways.Capabilities { return moyasar.Capabilities() },
		Verifier: func(cfg Config, secrets []string) (gateways.WebhookVerifier, error) {
			return moyasar.NewVerifier(secrets, cfg.mode())
		},
		Mode: moyasar.Mode,
	},
	HyperPay: {
		Open: openHyperPay,
		Capabilities: func(cfg Config) gateways.Capabilities {
			return hyperpay.Capabilities(slices.Collect(maps.Keys(cfg.EntityIDs))...)
		},
		Verifier: func(cfg Config, secrets []string) (gateways.WebhookVerifier, error) {
			return hyperpay.NewVerifier(secrets, cfg.Live)
		},
		Mode: func(string) gateways.Mode { return gateways.ModeUnknown }, // a token does not tell; the address does
		Page: hyperpay.Page, NeedsPublicURL: true,
	},
	Stripe: {
		Open: func(cfg Config) (gateways.Gateway, error) {
			return stripe.New(stripe.Config{
				BaseURL: cfg.URL, APIKey: cfg.APIKey, ReturnURL: cfg.PublicURL, Timeout: cfg.Timeout,
			})
		},
		Capabilities: func(Config) gateways.Capabilities { return stripe.Capabilities() },
		Verifier: func(cfg Config, secrets []string) (gateways.WebhookVerifier, error) {
			return stripe.NewVerifier(secrets, cfg.mode())
		},
		Mode: stripe.Mode, NeedsPublicURL: true,
	},
}

func openHyperPay(cfg Config) (gateways.Gateway, error) {
	return hyperpay.New(hyperpay.Config{
		BaseURL: cfg.URL, APIKey: cfg.APIKey, Live: cfg.Live, Entities: cfg.EntityIDs, Brands: cfg.Brands, PageBase: cfg.PayURL,
		Parameters: cfg.Parameters, SearchLag: cfg.SearchLag, Timeout: cfg.Timeout,
	})
}

// mode is what the account has to be for.
func (c Config) mode() gateways.Mode {
	if c.Live {
		return gateways.ModeLive
	}

	return gateways.ModeTest
}

func standardVerifier(_ Config, secrets []string) (gateways.WebhookVerifier, error) {
	parsed, err := standardwebhook.ParseSecrets(strings.Join(secrets, ","))
	if err != nil {
		return nil, err
	}

	return standardwebhook.New(parsed)
}

// Names are the known drivers, sorted.
func Names() []string { return slices.Sorted(maps.Keys(known)) }

// Of is the driver of a name. Error: there is none.
func Of(name string) (Driver, error) {
	d, ok := known[name]
	if !ok {
		return Driver{}, fmt.Errorf("unknown driver %q, known are: %s", name, strings.Join(Names(), ", "))
	}

	return d, nil
}

// Open makes the gateway of one merchant account. It makes no request.
func Open(account models.MerchantAccount, cfg Config) (gateways.Gateway, error) {
	d, err := Of(cfg.Driver)
	if err != nil {
		return nil, fmt.Errorf("gateway %s: %w", account, err)
	}

	gateway, err := d.Open(cfg)
	if err != nil {
		return nil, fmt.Errorf("gateway %s: %w", account, err)
	}

	return gateway, nil
}
