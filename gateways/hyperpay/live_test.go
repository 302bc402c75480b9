package hyperpay_test

import (
	"bytes"
	"crypto/rand"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/hyperpay"
	"rihla/models"
)

var live = flag.Bool("live", false, "run against HyperPay's test system, with the account that HYPERPAY_… names")

// TestCompany: without an address the company's own is asked. With -live it goes on against the company's test system:
//
//	HYPERPAY_TOKEN=… HYPERPAY_ENTITY=… go test -v -timeout 30m -run Company ./gateways/hyperpay -args -live
//
// HYPERPAY_URL is that system unless it is set. HYPERPAY_AMOUNT is what is paid; 92.00 unless it is set, because test accounts take
// whole riyals only. With HYPERPAY_WAIT, a duration, a page is served here on which a person pays with a test card; then all of it is
// given back.
func TestCompany(t *testing.T) {
	t.Parallel()

	for mode, host := range map[bool]string{false: "eu-test.oppwa.com", true: "eu-prod.oppwa.com"} {
		var asked string

		cfg := config()
		cfg.Live = mode
		cfg.Transport = transport(func(r *http.Request) (*http.Response, error) {
			asked = r.URL.Scheme + "://" + r.URL.Host

			return nil, http.ErrServerClosed
		})

		d, err := hyperpay.New(cfg)
		require.NoError(t, err)

		_, err = d.CreateCheckout(t.Context(), gatewaytest.Request())
		require.Equal(t, gateways.KindUnknown, gateways.KindOf(err))
		require.Equal(t, "https://"+host, asked)
	}

	if *live {
		t.Run("live", testLive)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func testLive(t *testing.T) {
	t.Helper()
	t.Parallel()

	cfg := hyperpay.Config{
		BaseURL: os.Getenv("HYPERPAY_URL"), APIKey: os.Getenv("HYPERPAY_TOKEN"), PageBase: "http://localhost", Parameters: map[string]string{"testMode": "EXTERNAL"},
		Entities: map[models.PaymentMethod]string{models.MethodCreditCard: os.Getenv("HYPERPAY_ENTITY")}, Timeout: 30 * time.Second,
	}

	d, err := hyperpay.New(cfg)
	require.NoError(t, err, "HYPERPAY_TOKEN and HYPERPAY_ENTITY name the account")

	findings, err := d.Check(t.Context(), "the service's address")
	require.NoError(t, err)

	for _, f := range findings {
		t.Logf("check: %v %s: %s", f.OK, f.About, f.Says)
	}

	request := gatewaytest.Request()
	request.Amount = models.MustMoney("92.00")

	if amount := os.Getenv("HYPERPAY_AMOUNT"); amount != "" {
		request.Amount = models.MustMoney(amount)
	}

	c, err := d.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	t.Logf("checkout %s of %s, reference %s", c.ID, c.Amount, c.MerchantReference)

	got, err := d.ReadCheckout(t.Context(), gatewaytest.RefOf(request, c))
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutOpen, got.Status)

	_, err = d.ReadCheckout(t.Context(), request.Ref())
	require.Equal(t, gateways.KindNotFound, gateways.KindOf(err), "nobody finds a checkout that nobody has used: %v", err)

	if wait, err := time.ParseDuration(os.Getenv("HYPERPAY_WAIT")); err == nil {
		livePaid(t, d, request, c, wait)
	}
}

// livePaid shows the page, waits until a tester has paid, and gives it back in two parts.
func livePaid(t *testing.T, d *hyperpay.Driver, request gateways.CheckoutRequest, c gateways.Checkout, wait time.Duration) {
	t.Helper()

	srv := httptest.NewServer(livePage(request, c))
	defer srv.Close()

	t.Logf("pay within %s at %s", wait, srv.URL)

	byID := gatewaytest.RefOf(request, c)
	byID.OpenedAt = request.CreatedAt

	require.Eventually(t, func() bool {
		now, err := d.ReadCheckout(t.Context(), byID)
		t.Logf("status %s %s, %v", now.Status, now.ResultCode, err)

		return err == nil && now.Status == gateways.CheckoutPaid
	}, wait, 15*time.Second)

	for _, part := range []models.Money{models.MustMoney("1.00"), c.Amount.Sub(models.MustMoney("1.00"))} {
		order := gateways.RefundRequest{Checkout: byID, MerchantReference: uuid.New(), Amount: part, Currency: "SAR"}

		f, err := d.CreateRefund(t.Context(), order)
		require.NoError(t, err)
		t.Logf("refund %s of %s: %s, reference %s", f.ID, f.Amount, f.Status, f.MerchantReference)

		sent := time.Now()

		require.Eventually(t, func() bool {
			_, err := d.ReadRefund(t.Context(), order.Ref())

			return err == nil
		}, 10*time.Minute, 31*time.Second)
		t.Logf("the report shows it after %s at most", time.Since(sent).Round(time.Second))
	}
}

// livePage serves the page and the place to which customers come back.
func livePage(request gateways.CheckoutRequest, c gateways.Checkout) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			_, _ = w.Write([]byte("back with " + r.URL.RawQuery))

			return
		}

		var page bytes.Buffer

		policy, err := hyperpay.Page(&page, gateways.PageView{
			Lang: r.URL.Query().Get("lang"), CheckoutID: c.ID, Checkout: c.PageData, Status: gateways.CheckoutOpen, Amount: c.Amount,
			Currency: c.Currency, Method: request.Method, Purchase: models.Purchase{Title: request.Description}, ExpiresAt: c.ExpiresAt,
			ReturnURL: "http://" + r.Host + "/back", Nonce: rand.Text(),
		})
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)

			return
		}

		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = page.WriteTo(w)
	})
}
