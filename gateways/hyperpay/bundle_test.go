package hyperpay_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways/gatewaytest"
	"rihla/gateways/hyperpay"
	"rihla/gateways/simulator/engine"
	hyperpaysim "rihla/gateways/simulator/hyperpay"
	"rihla/models"
)

const (
	token    = "OGE4Mjk0MTcyODFiOGVlMzAxMjgyOTkwNjZmNTBjZGJ8ZGVtbw=="
	keyOld   = "000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f"
	keyNew   = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100"
	pageBase = "https://pay.rihla.test"
	patient  = 10 * time.Second
)

// bundle is a simulator of the company, our clock and a driver for it.
type bundle struct {
	gatewaytest.Company

	server *engine.Server
	ahead  atomic.Int64 // of the clock of both
	driver *hyperpay.Driver
}

func (b *bundle) now() time.Time { return time.Now().Add(time.Duration(b.ahead.Load())) }

// merchant is the account that the driver of a bundle has.
func merchant(hook string) engine.Merchant {
	channels := map[models.PaymentMethod]engine.Channel{}
	for _, m := range []models.PaymentMethod{models.MethodCreditCard, models.MethodDebitNetwork} {
		channels[m] = engine.Channel{WebhookURL: hook, Secret: keyOld}
	}

	return engine.Merchant{Name: "shop", APIKey: token, Channels: channels}
}

func config() hyperpay.Config {
	return hyperpay.Config{
		APIKey: token, PageBase: pageBase, Timeout: 5 * time.Second,
		Entities: map[models.PaymentMethod]string{
			models.MethodCreditCard:   hyperpaysim.Entity("shop", models.MethodCreditCard),
			models.MethodDebitNetwork: hyperpaysim.Entity("shop", models.MethodDebitNetwork),
		},
	}
}

// setup starts a simulator with settings, whose webhooks go to an address.
func setup(t *testing.T, settings hyperpaysim.Settings, hook string) *bundle {
	t.Helper()

	b := &bundle{}

	var err error

	b.server, err = hyperpaysim.Open(engine.Config{
		Merchants: []engine.Merchant{merchant(hook)}, Logger: slog.New(slog.DiscardHandler), Clock: b.now,
		RetryBackoff: func(int) time.Duration { return 10 * time.Millisecond },
	}, settings)
	require.NoError(t, err)

	srv := httptest.NewServer(b.server.Handler())
	t.Cleanup(func() {
		srv.Close()
		require.NoError(t, b.server.Close(t.Context()))
	})

	b.URL = srv.URL
	b.driver = b.open(t, b.URL, 5*time.Second)
	b.Gateway, b.Authorize = b.driver, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }

	return b
}

// open is a driver for an address.
func (b *bundle) open(t *testing.T, at string, timeout time.Duration) *hyperpay.Driver {
	t.Helper()

	cfg := config()
	cfg.BaseURL, cfg.Timeout, cfg.Now = at, timeout, b.now

	d, err := hyperpay.New(cfg)
	require.NoError(t, err)

	return d
}
