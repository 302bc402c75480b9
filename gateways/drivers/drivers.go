// Package drivers opens gateways by the name of their driver. It is a package of its own, so that the
// interface knows nothing of those who implement it.
package drivers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rihla/gateways"
	"rihla/gateways/sandbox"
	"rihla/models"
)

// Config is what an operator says about one gateway: GATEWAY_A_* or WALLET_B_*.
type Config struct {
	Driver  string        // one of Names
	URL     string        // base address of the gateway's API
	APIKey  string        // our key there
	Timeout time.Duration // of one request; 0 means the driver's default
}

// drivers is where a new driver is entered.
var drivers = map[string]func(Config) (gateways.Gateway, error){
	"sandbox": func(cfg Config) (gateways.Gateway, error) {
		return sandbox.New(sandbox.Config{BaseURL: cfg.URL, APIKey: cfg.APIKey, Timeout: cfg.Timeout})
	},
}

// Names are the known drivers, sorted.
func Names() []string { return slices.Sorted(maps.Keys(drivers)) }

// Open makes the gateway of one payment provider. It makes no request.
func Open(provider models.Gateway, cfg Config) (gateways.Gateway, error) {
	open, ok := drivers[cfg.Driver]
	if !ok {
		return nil, fmt.Errorf("gateway %s: unknown driver %q, known are: %s", provider, cfg.Driver, strings.Join(Names(), ", "))
	}

	gateway, err := open(cfg)
	if err != nil {
		return nil, fmt.Errorf("gateway %s: %w", provider, err)
	}

	return gateway, nil
}
