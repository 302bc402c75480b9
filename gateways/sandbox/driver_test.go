package sandbox_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/sandbox"
	"rihla/models"
)

const apiKey = "very-secret-key"

func driverFor(t *testing.T, handler http.HandlerFunc) *sandbox.Driver {
	t.Helper()

	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)

	driver, err := sandbox.New(sandbox.Config{BaseURL: srv.URL + "/", APIKey: apiKey, Timeout: 250 * time.Millisecond})
	require.NoError(t, err)

	return driver
}

func TestNewRefusesBadConfiguration(t *testing.T) {
	t.Parallel()

	for name, cfg := range map[string]sandbox.Config{
		"no URL":           {APIKey: apiKey},
		"relative URL":     {BaseURL: "/v1", APIKey: apiKey},
		"another scheme":   {BaseURL: "ftp://gateway", APIKey: apiKey},
		"no key":           {BaseURL: "http://gateway"},
		"negative timeout": {BaseURL: "http://gateway", APIKey: apiKey, Timeout: -1},
	} {
		_, err := sandbox.New(cfg)
		require.Error(t, err, name)
	}
}

func TestRequestOnTheWire(t *testing.T) {
	t.Parallel()

	request := gatewaytest.Request()

	var got *http.Request

	driver := driverFor(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body := make([]byte, r.ContentLength)
		_, _ = r.Body.Read(body)

		if !strings.Contains(string(body), `"amount":1150.00`) {
			w.WriteHeader(http.StatusTeapot)
		}

		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"id":"co_1","status":"open","checkout_url":"https://pay.test/co_1","expires_at":"2026-11-21T10:00:00Z"}`))
	})

	c, err := driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, "https://pay.test/co_1", c.URL)
	require.Equal(t, "/v1/checkouts", got.URL.Path)
	require.Equal(t, "Bearer "+apiKey, got.Header.Get("Authorization"))
	require.Equal(t, request.MerchantReference.String(), got.Header.Get("Idempotency-Key"))
	require.Equal(t, "application/json", got.Header.Get("Content-Type"))
}

func TestAnswersThatAreNoAnswer(t *testing.T) {
	t.Parallel()

	reference := uuid.New().String()
	whole := `{"id":"co_1","merchant_reference":"` + reference + `","status":"paid","amount":1.00,"currency":"SAR","refunded_amount":0.00}`

	for name, test := range map[string]struct {
		status int
		body   string
		header string // Retry-After
		kind   gateways.ErrorKind
		wait   time.Duration
	}{
		"500":                           {status: 500, body: `{"error":{"code":"x","message":"y"}}`, kind: gateways.KindUnknown},
		"503 in HTML":                   {status: 503, body: `<html>`, kind: gateways.KindUnknown},
		"404 of a proxy":                {status: 404, body: `<html>not here</html>`, kind: gateways.KindUnknown},
		"404 of the gateway":            {status: 404, body: `{"error":{"code":"not_found","message":""}}`, kind: gateways.KindNotFound},
		"401":                           {status: 401, body: `{"error":{"code":"unauthorized","message":""}}`, kind: gateways.KindUnauthorized},
		"409":                           {status: 409, body: `{"error":{"code":"request_in_progress","message":""}}`, kind: gateways.KindInProgress},
		"409 with another code":         {status: 409, body: `{"error":{"code":"refund_exists","message":""}}`, kind: gateways.KindInProgress},
		"425":                           {status: 425, body: `{"error":{"code":"too_early","message":""}}`, kind: gateways.KindInProgress},
		"under way with another status": {status: 422, body: `{"error":{"code":"request_in_progress","message":""}}`, kind: gateways.KindInProgress},
		"408":                           {status: 408, body: `{"error":{"code":"timeout","message":""}}`, kind: gateways.KindUnknown},
		"redirect":                      {status: 302, body: ``, kind: gateways.KindUnknown},
		"429 with seconds":              {status: 429, header: "7", kind: gateways.KindRateLimited, wait: 7 * time.Second},
		"429 without a word":            {status: 429, kind: gateways.KindRateLimited},
		"429 with a date that is over":  {status: 429, header: "Mon, 02 Jan 2006 15:04:05 GMT", kind: gateways.KindRateLimited},
		"not JSON":                      {status: 200, body: `OK`, kind: gateways.KindUnknown},
		"empty":                         {status: 200, body: `{}`, kind: gateways.KindUnknown},
		"another status":                {status: 200, body: strings.Replace(whole, "paid", "maybe", 1), kind: gateways.KindUnknown},
		"no amount":                     {status: 200, body: strings.Replace(whole, `"amount":1.00,`, "", 1), kind: gateways.KindUnknown},
		"amount as text":                {status: 200, body: strings.Replace(whole, `"amount":1.00`, `"amount":"1.00"`, 1), kind: gateways.KindUnknown},
		"reference that is no UUID":     {status: 200, body: strings.Replace(whole, reference, "42", 1), kind: gateways.KindUnknown},
		"endless":                       {status: 200, body: strings.Repeat(" ", 2<<20), kind: gateways.KindUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			driver := driverFor(t, func(w http.ResponseWriter, _ *http.Request) {
				if test.header != "" {
					w.Header().Set("Retry-After", test.header)
				}

				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
			})

			_, err := driver.ReadCheckout(t.Context(), gateways.CheckoutRef{ID: "co_1"})
			require.Error(t, err)
			require.Equal(t, test.kind, gateways.KindOf(err), err.Error())
			require.NotContains(t, err.Error(), apiKey)

			var e *gateways.Error

			require.ErrorAs(t, err, &e)
			require.Equal(t, test.wait, e.RetryAfter)
		})
	}
}

func TestCreatedWithoutAUsableURL(t *testing.T) {
	t.Parallel()

	driver := driverFor(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"id":"co_1","status":"open","checkout_url":"javascript:alert(1)"}`))
	})

	_, err := driver.CreateCheckout(t.Context(), gatewaytest.Request())
	require.Equal(t, gateways.KindUnknown, gateways.KindOf(err))
}

func TestNoAnswer(t *testing.T) {
	t.Parallel()

	driver := driverFor(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })

	_, err := driver.ReadRefund(t.Context(), gateways.RefundRef{ID: "re_1"})
	require.Equal(t, gateways.KindUnknown, gateways.KindOf(err))
	require.ErrorIs(t, err, context.DeadlineExceeded)

	var e *gateways.Error

	require.ErrorAs(t, err, &e)
	require.Equal(t, "timeout", e.Code)
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()

	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()

	driver, err := sandbox.New(sandbox.Config{BaseURL: srv.URL, APIKey: apiKey})
	require.NoError(t, err)

	_, err = driver.ReadRefund(t.Context(), gateways.RefundRef{MerchantReference: uuid.New()})
	require.Equal(t, gateways.KindUnreachable, gateways.KindOf(err))
	require.NotContains(t, err.Error(), apiKey)
}

// TestFindPrefersWhatTookMoney: a gateway that is not strict about references must not hide a payment.
func TestFindPrefersWhatTookMoney(t *testing.T) {
	t.Parallel()

	reference := uuid.New()
	item := func(id, status, ref string) string {
		return `{"id":"` + id + `","merchant_reference":"` + ref + `","status":"` + status + `","amount":1.00,"currency":"SAR"}`
	}

	driver := driverFor(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("merchant_reference") != reference.String() {
			w.WriteHeader(http.StatusTeapot)
		}

		_, _ = w.Write([]byte(`{"data":[` + strings.Join([]string{
			item("co_other", "paid", uuid.NewString()), item("co_failed", "failed", reference.String()),
			item("co_open", "open", reference.String()), item("co_paid", "paid", reference.String()),
		}, ",") + `]}`))
	})

	c, err := driver.ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: reference})
	require.NoError(t, err)
	require.Equal(t, "co_paid", c.ID)
	require.Equal(t, models.MustMoney("1.00"), c.Amount)
}
