package stripe_test

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
	"rihla/gateways/simulator/engine"
	stripesim "rihla/gateways/simulator/stripe"
	"rihla/gateways/stripe"
	"rihla/models"
)

const (
	apiKey    = "sk_test_51Rihla4eC39HqLyjWDarjtT1zdp7dc"
	secret    = "whsec_first4eC39HqLyjWDarjtT1zdp7dc"
	newSecret = "whsec_second4eC39HqLyjWDarjtT1zdp7dc"
	patient   = 10 * time.Second
)

// bundle is a simulator and a driver for it.
type bundle struct {
	gatewaytest.Company

	server *engine.Server
	driver *stripe.Driver
}

func setup(t *testing.T, now func() time.Time) *bundle {
	t.Helper()

	server, err := stripesim.New(engine.Config{
		Merchants: []engine.Merchant{
			{Name: "shop", APIKey: apiKey, Channels: map[models.PaymentMethod]engine.Channel{models.MethodCreditCard: {Secret: secret}}},
			{Name: "other", APIKey: "sk_test_other"},
		},
		Logger: slog.New(slog.DiscardHandler), RetryBackoff: func(int) time.Duration { return 10 * time.Millisecond }, Clock: now,
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patient)
		defer cancel()

		require.NoError(t, server.Close(ctx))
	})

	b := &bundle{server: server}
	b.URL, err = server.Start("127.0.0.1:0")
	require.NoError(t, err)

	b.driver = driverOf(t, b.URL, 5*time.Second, now)
	b.Gateway, b.Authorize = b.driver, func(r *http.Request) { r.SetBasicAuth(apiKey, "") }

	return b
}

func driverOf(t *testing.T, address string, timeout time.Duration, now func() time.Time) *stripe.Driver {
	t.Helper()

	d, err := stripe.New(stripe.Config{BaseURL: address, APIKey: apiKey, ReturnURL: "https://rihla.test/", Timeout: timeout, Now: now})
	require.NoError(t, err)

	return d
}

// driverFor makes a driver whose company answers by handler.
func driverFor(t *testing.T, handler http.HandlerFunc) *stripe.Driver {
	t.Helper()

	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)

	return driverOf(t, srv.URL, time.Second, nil)
}

func requireKind(t *testing.T, want gateways.ErrorKind, err error) {
	t.Helper()
	gatewaytest.RequireKind(t, apiKey, want, err)
}
