// Package shapes_test shows every request of the driver to stripe-mock, the company's own check of requests against its specification. It
// is a package of its own because the specification is large.
package shapes_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	sdk "github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-mock/embedded"
	"github.com/stripe/stripe-mock/server"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/simulator/engine"
	stripesim "rihla/gateways/simulator/stripe"
	"rihla/gateways/stripe"
	"rihla/models"
)

const apiKey = "sk_test_4eC39HqLyjWDarjtT1zdp7dc"

// mock is stripe-mock with the strict check of the Stripe-Version header, and the version that its specification has: a later one than
// the SDK's, of the same train, within which the company breaks nothing (docs.stripe.com/api/versioning).
func mock(t *testing.T) (handle http.HandlerFunc, version string) {
	t.Helper()

	spec, err := server.LoadSpec(embedded.OpenAPISpec, "")
	require.NoError(t, err)
	fixtures, err := server.LoadFixtures(embedded.OpenAPIFixtures, "")
	require.NoError(t, err)
	stub, err := server.NewStubServer(fixtures, spec, true, false)
	require.NoError(t, err)

	var info struct {
		Info struct {
			Version string `json:"version"`
		} `json:"info"`
	}

	require.NoError(t, json.Unmarshal(embedded.OpenAPISpec, &info))
	require.True(t, strings.HasSuffix(info.Info.Version, "."+sdk.APIMajorVersion), info.Info.Version)

	return stub.HandleRequest, info.Info.Version
}

// inspector answers as the simulator does, and has the mock look at each request.
type inspector struct {
	company http.Handler
	mock    http.HandlerFunc
	version string // of its specification

	mu      sync.Mutex
	refused []string
}

func (i *inspector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/pay/") { // the customer's
		i.company.ServeHTTP(w, r)

		return
	}

	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))

	copied := r.Clone(r.Context())
	if copied.Header.Get("Stripe-Version") == sdk.APIVersion { // any other is refused
		copied.Header.Set("Stripe-Version", i.version)
	}

	copied.Body = io.NopCloser(bytes.NewReader(body))

	said := httptest.NewRecorder()
	i.mock(said, copied)

	i.mu.Lock()
	if said.Code != http.StatusOK {
		i.refused = append(i.refused, r.Method+" "+r.URL.String()+" "+string(body)+": "+said.Body.String())
	}
	i.mu.Unlock()

	i.company.ServeHTTP(w, r)
}

func TestCompanyAcceptsEveryRequest(t *testing.T) {
	t.Parallel()

	company, err := stripesim.New(engine.Config{
		Merchants: []engine.Merchant{{
			Name: "shop", APIKey: apiKey,
			Channels: map[models.PaymentMethod]engine.Channel{models.MethodCreditCard: {Secret: "whsec_4eC39HqLyjWDarjtT1zdp7dc"}},
		}},
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, company.Close(t.Context())) })

	between := &inspector{company: company.Handler()}
	between.mock, between.version = mock(t)

	srv := httptest.NewServer(between)
	t.Cleanup(srv.Close)

	d, err := stripe.New(stripe.Config{BaseURL: srv.URL, APIKey: apiKey, ReturnURL: "https://rihla.test"})
	require.NoError(t, err)

	everyCall(t, d, srv.URL)
	require.Empty(t, between.refused)

	// That it can refuse at all: a request that the company does not know, and one of another version.
	for _, wrong := range []http.Header{{"Stripe-Version": {sdk.APIVersion}}, {}} {
		r := httptest.NewRequest(http.MethodGet, "/v1/checkout/sessions?client_reference_id=x", nil)
		r.Header = wrong
		r.Header.Set("Authorization", "Bearer "+apiKey)

		w := httptest.NewRecorder()
		between.mock(w, r)
		require.Equal(t, http.StatusBadRequest, w.Code)
	}
}

// everyCall makes each request that the driver has.
func everyCall(t *testing.T, d *stripe.Driver, company string) {
	t.Helper()

	ctx := t.Context()

	request := gatewaytest.Request()
	c, err := d.CreateCheckout(ctx, request)
	require.NoError(t, err)

	ref := gatewaytest.RefOf(request, c)
	byReference := ref
	byReference.ID = ""

	for _, r := range []gateways.CheckoutRef{ref, byReference} {
		_, err = d.ReadCheckout(ctx, r)
		require.NoError(t, err)
	}

	press(t, company+"/pay/"+c.ID)

	order := gateways.RefundRequest{
		Checkout: ref, MerchantReference: uuid.New(), Amount: models.MustMoney("1.00"), Currency: models.Currency, Reason: "asked for",
	}
	refund, err := d.CreateRefund(ctx, order)
	require.NoError(t, err)

	byID := order.Ref()
	byID.ID = refund.ID

	for _, r := range []gateways.RefundRef{byID, order.Ref()} {
		_, err = d.ReadRefund(ctx, r)
		require.NoError(t, err)
	}

	other := gatewaytest.Request()
	c, err = d.CreateCheckout(ctx, other)
	require.NoError(t, err)
	_, err = d.CancelCheckout(ctx, gatewaytest.RefOf(other, c))
	require.NoError(t, err)

	_, err = d.Check(ctx, "https://rihla.test/hook")
	require.NoError(t, err)
}

// press pays on the simulator's page, past the mock.
func press(t *testing.T, page string) {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, page, bytes.NewReader([]byte(url.Values{"outcome": {"succeed"}}.Encode())))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")

	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusOK, res.StatusCode)
}
