package gatewaytest

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/models"
)

// Company is the simulator of a company at an address, as tests speak to it past the driver.
type Company struct {
	URL       string
	Authorize func(*http.Request)
	Gateway   gateways.Gateway // the driver
}

// Do makes a JSON request of the company and returns status and body. Headers are names and values in turn.
func (c *Company) Do(t *testing.T, method, path, body string, header ...string) (status int, answer string) {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), method, c.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	c.Authorize(r)
	r.Header.Set("Content-Type", "application/json")

	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}

	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)

	defer res.Body.Close()

	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)

	return res.StatusCode, string(text)
}

// Fault injects one, a body of POST /sandbox/faults.
func (c *Company) Fault(t *testing.T, body string) {
	t.Helper()

	status, answer := c.Do(t, http.MethodPost, "/sandbox/faults", body)
	require.Equal(t, http.StatusCreated, status, answer)
}

// Press is a customer's button without a browser.
func (c *Company) Press(t *testing.T, checkout, outcome string) {
	t.Helper()

	status, answer := c.Do(t, http.MethodPost, "/pay/"+checkout, url.Values{"outcome": {outcome}}.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "Accept", "application/json")
	require.Equal(t, http.StatusOK, status, answer)
}

// PayBy pays a checkout by another method than was asked for.
func (c *Company) PayBy(t *testing.T, checkout string, method models.PaymentMethod) {
	t.Helper()

	status, answer := c.Do(t, http.MethodPost, "/pay/"+checkout, `{"outcome":"succeed","payment_method":"`+string(method)+`"}`,
		"Content-Type", "application/json")
	require.Equal(t, http.StatusOK, status, answer)
}

// RequirePaidBy opens a checkout for each of the methods, pays it by that, and holds the driver to what it was paid by.
func (c *Company) RequirePaidBy(t *testing.T, said map[models.PaymentMethod]models.PaymentMethod) {
	t.Helper()

	for method, want := range said {
		checkout, ref := c.Opened(t)

		open, err := c.Gateway.ReadCheckout(t.Context(), ref)
		require.NoError(t, err)
		require.Empty(t, open.Method, "it is not paid")

		c.PayBy(t, checkout.ID, method)

		paid, err := c.Gateway.ReadCheckout(t.Context(), ref)
		require.NoError(t, err)
		require.Equal(t, gateways.CheckoutPaid, paid.Status)
		require.Equal(t, want, paid.Method, "paid by %s", method)
	}
}

// Pay pays a checkout.
func (c *Company) Pay(t *testing.T, checkout gateways.Checkout) {
	t.Helper()
	c.Press(t, checkout.ID, "succeed")
}

// Opened is a checkout with what names it.
func (c *Company) Opened(t *testing.T) (gateways.Checkout, gateways.CheckoutRef) {
	t.Helper()

	request := Request()
	checkout, err := c.Gateway.CreateCheckout(t.Context(), request)
	require.NoError(t, err)

	return checkout, RefOf(request, checkout)
}

// Sold is a paid checkout.
func (c *Company) Sold(t *testing.T) gateways.CheckoutRef {
	t.Helper()

	checkout, ref := c.Opened(t)
	c.Pay(t, checkout)

	return ref
}

// RequireKind demands an error of a kind, which never has the secret.
func RequireKind(t *testing.T, secret string, want gateways.ErrorKind, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, want, gateways.KindOf(err), err.Error())
	require.NotContains(t, err.Error(), secret)

	var e *gateways.Error

	require.ErrorAs(t, err, &e)
}
