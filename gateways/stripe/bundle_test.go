package stripe_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/double"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/stripe"
	stripedouble "rihla/gateways/stripe/double"
	"rihla/models"
)

const (
	apiKey    = "sk_test_51Rihla4eC39HqLyjWDarjtT1zdp7dc"
	secret    = "whsec_first4eC39HqLyjWDarjtT1zdp7dc"
	newSecret = "whsec_second4eC39HqLyjWDarjtT1zdp7dc"
	patient   = 10 * time.Second
)

// bundle is a double and a driver for it.
type bundle struct {
	server *double.Server
	url    string
	driver *stripe.Driver
}

func setup(t *testing.T, now func() time.Time) *bundle {
	t.Helper()

	server, err := stripedouble.New(double.Config{
		Merchants: []double.Merchant{
			{Name: "shop", APIKey: apiKey, Channels: map[models.PaymentMethod]double.Channel{models.MethodCreditCard: {Secret: secret}}},
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
	b.url, err = server.Start("127.0.0.1:0")
	require.NoError(t, err)

	b.driver = driverOf(t, b.url, 5*time.Second, now)

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

// do makes a request of the API and returns status and body.
func (b *bundle) do(t *testing.T, method, path, body string, header ...string) (int, string) {
	t.Helper()

	req, err := http.NewRequestWithContext(t.Context(), method, b.url+path, strings.NewReader(body))
	require.NoError(t, err)
	req.SetBasicAuth(apiKey, "")

	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}

	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)

	defer res.Body.Close()

	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)

	return res.StatusCode, string(answer)
}

func (b *bundle) fault(t *testing.T, body string) {
	t.Helper()

	status, answer := b.do(t, http.MethodPost, "/sandbox/faults", body, "Content-Type", "application/json")
	require.Equal(t, http.StatusCreated, status, answer)
}

// press is a customer's button without a browser.
func (b *bundle) press(t *testing.T, id, outcome string) {
	t.Helper()

	status, answer := b.do(t, http.MethodPost, "/pay/"+id, url.Values{"outcome": {outcome}}.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "Accept", "application/json")
	require.Equal(t, http.StatusOK, status, answer)
}

func (b *bundle) pay(t *testing.T, c gateways.Checkout) { t.Helper(); b.press(t, c.ID, "succeed") }

// opened is a checkout with the request that made it.
func (b *bundle) opened(t *testing.T) (gateways.Checkout, gateways.CheckoutRef) {
	t.Helper()

	request := gatewaytest.Request()
	c, err := b.driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)

	return c, gatewaytest.RefOf(request, c)
}

// sold is a paid checkout.
func (b *bundle) sold(t *testing.T) gateways.CheckoutRef {
	t.Helper()

	c, ref := b.opened(t)
	b.pay(t, c)

	return ref
}

func requireKind(t *testing.T, want gateways.ErrorKind, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, want, gateways.KindOf(err), err.Error())
	require.NotContains(t, err.Error(), apiKey)

	var e *gateways.Error

	require.ErrorAs(t, err, &e)
}
