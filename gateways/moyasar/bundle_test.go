package moyasar_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/moyasar"
	"rihla/gateways/simulator/engine"
	moyasarsim "rihla/gateways/simulator/moyasar"
	"rihla/models"
)

const (
	apiKey    = "sk_test_2Cf1k7Xh0Qw9"
	secret    = "moyasar-token-of-the-first-webhook"
	newSecret = "moyasar-token-of-the-second-webhook"
	patient   = 10 * time.Second
)

// bundle is a simulator and a driver for it.
type bundle struct {
	gatewaytest.Company

	server *engine.Server
	driver *moyasar.Driver
}

func setup(t *testing.T, settings moyasarsim.Settings, change ...func(*engine.Config)) *bundle {
	t.Helper()

	channels := map[models.PaymentMethod]engine.Channel{}
	for _, m := range moyasar.Capabilities().Methods {
		channels[m.Method] = engine.Channel{Secret: secret}
	}

	cfg := engine.Config{
		Merchants:    []engine.Merchant{{Name: "shop", APIKey: apiKey, Channels: channels}, {Name: "other", APIKey: "sk_test_other"}},
		Logger:       slog.New(slog.DiscardHandler),
		RetryBackoff: func(int) time.Duration { return 10 * time.Millisecond },
	}
	for _, c := range change {
		c(&cfg)
	}

	server, err := moyasarsim.NewWith(cfg, settings)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patient)
		defer cancel()

		require.NoError(t, server.Close(ctx))
	})

	b := &bundle{server: server}
	b.URL, err = server.Start("127.0.0.1:0")
	require.NoError(t, err)

	b.driver = driverOf(t, b.URL, 5*time.Second)
	b.Gateway, b.Authorize = b.driver, func(r *http.Request) { r.SetBasicAuth(apiKey, "") }

	return b
}

func driverOf(t *testing.T, address string, timeout time.Duration) *moyasar.Driver {
	t.Helper()

	d, err := moyasar.New(moyasar.Config{BaseURL: address, APIKey: apiKey, Timeout: timeout})
	require.NoError(t, err)

	return d
}

// driverFor makes a driver whose company answers by handler.
func driverFor(t *testing.T, handler http.HandlerFunc) *moyasar.Driver {
	t.Helper()

	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)

	return driverOf(t, srv.URL, time.Second)
}

func requireKind(t *testing.T, want gateways.ErrorKind, err error) {
	t.Helper()
	gatewaytest.RequireKind(t, apiKey, want, err)
}
