package moyasar_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/moyasar"
	"rihla/gateways/simulator/engine"
	moyasarsim "rihla/gateways/simulator/moyasar"
	"rihla/models"
)

var live = flag.Bool("live", false, "talk to the company in test mode, with MOYASAR_SECRET_KEY")

// summed are findings as `about: ok` lines.
func summed(findings []gateways.Finding) string {
	lines := make([]string, 0, len(findings))
	for _, f := range findings {
		lines = append(lines, fmt.Sprintf("%s: %t", f.About, f.OK))
	}

	return strings.Join(lines, ", ")
}

func TestCheck(t *testing.T) {
	t.Parallel()

	const (
		hook    = "https://rihla.test/api/v1/payments/webhook/gateway_a"
		refused = `{"type":"authentication_error","message":"Invalid authorization credentials","errors":null}`
	)

	hooks := func(list string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/webhooks") {
				respond(200, list)(w, r)
			} else {
				respond(200, `{"invoices":[],"meta":{"next_page":null}}`)(w, r)
			}
		}
	}

	for name, test := range map[string]struct {
		handler http.HandlerFunc
		found   string
		says    string
	}{
		"registered":          {hooks(`{"webhooks":[{"url":"` + hook + `/","http_method":"post","events":["payment_paid","payment_refunded","payment_expired"]}]}`), "key: true, mode: true, webhook: true", "test key"},
		"of all events":       {hooks(`{"webhooks":[{"url":"` + hook + `"}]}`), "key: true, mode: true, webhook: true", ""},
		"not registered":      {hooks(`{"webhooks":[{"url":"https://elsewhere.test/"},{"url":":"}]}`), "key: true, mode: true, webhook: false", "No webhook is registered"},
		"with another method": {hooks(`{"webhooks":[{"url":"` + hook + `","http_method":"put"}]}`), "key: true, mode: true, webhook: false", "another method"},
		"without an event":    {hooks(`{"webhooks":[{"url":"` + hook + `","events":["payment_paid"]}]}`), "key: true, mode: true, webhook: false", "payment_refunded, payment_expired"},
		"a refused key":       {respond(401, refused), "key: false, mode: true", "Invalid authorization credentials"},
		"an account not live": {respond(405, `{"type":"account_inactive_error","message":"not activated"}`), "key: false, mode: true", "not activated"},
		"webhooks not for us": {func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/webhooks") {
				respond(403, `{"type":"api_error","message":"User not authorized"}`)(w, r)
			} else {
				respond(200, `{"invoices":[]}`)(w, r)
			}
		}, "key: true, mode: true, webhook: false", "User not authorized"},
		"an odd list":            {hooks(`{}`), "", ""},
		"a company that is away": {respond(503, ""), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			findings, err := driverFor(t, test.handler).Check(t.Context(), hook)
			if test.found == "" {
				requireKind(t, gateways.KindUnknown, err)

				return
			}

			require.NoError(t, err)
			require.Equal(t, test.found, summed(findings))
			require.Contains(t, fmt.Sprint(findings), test.says)
			require.NotContains(t, fmt.Sprint(findings), apiKey)
		})
	}
}

func TestKeysAreNotPrinted(t *testing.T) {
	t.Parallel()

	d, v := driverOf(t, "http://127.0.0.1:1", time.Second), verifier(t, secret)
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		require.NotContains(t, fmt.Sprintf(form, d), apiKey)
		require.NotContains(t, fmt.Sprintf(form, v), secret)
	}

	require.Empty(t, v.Headers())
}

// TestAccount: what a key and an account tell. With -args -live also the company's test mode is asked.
func TestAccount(t *testing.T) {
	t.Parallel()

	t.Run("modes", func(t *testing.T) {
		t.Parallel()

		for key, mode := range map[string]gateways.Mode{
			"sk_test_x": gateways.ModeTest, "sk_live_x": gateways.ModeLive, "pk_live_x": gateways.ModeLive, "pk_test_x": gateways.ModeTest,
			"": gateways.ModeUnknown, "sk_": gateways.ModeUnknown, "xsk_test_": gateways.ModeUnknown,
		} {
			require.Equal(t, mode, moyasar.Mode(key), key)
		}
	})

	t.Run("the simulator's", func(t *testing.T) {
		t.Parallel()

		b := setup(t, moyasarsim.Settings{}, func(cfg *engine.Config) {
			cfg.Merchants[0].Channels[models.MethodCreditCard] = engine.Channel{WebhookURL: "http://127.0.0.1:1/hook", Secret: secret}
		})

		findings, err := b.driver.Check(t.Context(), "http://127.0.0.1:1/hook")
		require.NoError(t, err)
		require.Equal(t, "key: true, mode: true, webhook: true", summed(findings))
		tryAccount(t, moyasar.Config{BaseURL: b.URL, APIKey: apiKey}, "http://127.0.0.1:1/hook", b.Sold(t).ID)
	})

	if *live {
		t.Run("the company's", func(t *testing.T) { //nolint:paralleltest // what it prints is read from the top
			key := os.Getenv("MOYASAR_SECRET_KEY")
			require.Equal(t, gateways.ModeTest, moyasar.Mode(key), "MOYASAR_SECRET_KEY must be a key of the test mode")

			cfg := moyasar.Config{APIKey: key, Timeout: 20 * time.Second}
			tryAccount(t, cfg, os.Getenv("MOYASAR_WEBHOOK_URL"), os.Getenv("MOYASAR_PAID_INVOICE"))
		})
	}
}

// tryAccount makes an invoice of 1.00 SAR, reads, finds and cancels it. Of a paid invoice of ours it gives all back in two parts. It
// says what the company answers.
func tryAccount(t *testing.T, cfg moyasar.Config, webhook, paidInvoice string) {
	t.Helper()

	d, err := moyasar.New(cfg)
	require.NoError(t, err)

	findings, err := d.Check(t.Context(), webhook)
	require.NoError(t, err)

	for _, f := range findings {
		t.Logf("check %s, ok %t: %s", f.About, f.OK, f.Says)
	}

	request := gatewaytest.Request()
	request.Amount = models.MustMoney("1.00")

	c, err := d.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	t.Logf("made invoice %s of %s, page %s", c.ID, c.Amount, c.URL)

	found, err := d.ReadCheckout(t.Context(), request.Ref())
	require.NoError(t, err)
	require.Equal(t, c.ID, found.ID)
	t.Logf("found it by our reference: %s", found.Status)

	for range 2 {
		found, err = d.CancelCheckout(t.Context(), gatewaytest.RefOf(request, c))
		require.NoError(t, err)
		require.Equal(t, gateways.CheckoutCanceled, found.Status)
		t.Logf("canceled it: %s", found.Status)
	}

	if paidInvoice != "" {
		giveBack(t, d, paidInvoice)
	}
}

func giveBack(t *testing.T, d *moyasar.Driver, id string) {
	t.Helper()

	ref := gateways.CheckoutRef{ID: id}

	for _, whole := range []bool{false, true} {
		c, err := d.ReadCheckout(t.Context(), ref)
		require.NoError(t, err)
		t.Logf("invoice %s is %s, %s of %s given back, %s", c.ID, c.Status, c.RefundedAmount, c.Amount, c.ResultCode)

		amount := models.MustMoney("1.00")
		if whole {
			amount = c.Amount.Sub(c.RefundedAmount)
		}

		_, err = d.CreateRefund(t.Context(), gateways.RefundRequest{
			Checkout: ref, MerchantReference: uuid.New(), Amount: amount, Currency: c.Currency, RefundedBefore: c.RefundedAmount,
		})
		require.NoError(t, err)
		t.Logf("gave back %s", amount)
	}
}
