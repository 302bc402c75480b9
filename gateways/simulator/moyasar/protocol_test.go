package moyasar_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways/simulator/engine"
	moyasarsim "rihla/gateways/simulator/moyasar"
	"rihla/models"
)

const (
	apiKey = "sk_test_simulator"
	secret = "a-secret-token-of-the-account"
)

// bundle is a simulator, and the bodies of the webhooks that it sent.
type bundle struct {
	url   string
	hooks chan map[string]any
	ahead atomic.Int64 // of the simulator's clock
}

func setup(t *testing.T, method models.PaymentMethod) *bundle {
	t.Helper()

	b := &bundle{hooks: make(chan map[string]any, 100)}
	inbox := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if json.NewDecoder(r.Body).Decode(&body) == nil {
			b.hooks <- body
		}
	}))
	t.Cleanup(inbox.Close)

	server, err := moyasarsim.New(engine.Config{
		Merchants: []engine.Merchant{{
			Name: "shop", APIKey: apiKey, Channels: map[models.PaymentMethod]engine.Channel{method: {WebhookURL: inbox.URL, Secret: secret}},
		}, {Name: "empty", APIKey: "sk_live_simulator"}},
		Logger: slog.New(slog.DiscardHandler),
		Clock:  func() time.Time { return time.Now().Add(time.Duration(b.ahead.Load())) },
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close(context.Background())) })

	b.url, err = server.Start("127.0.0.1:0")
	require.NoError(t, err)

	return b
}

func (b *bundle) do(t *testing.T, method, path, body string, header ...string) (int, string) {
	t.Helper()

	req, err := http.NewRequestWithContext(t.Context(), method, b.url+path, strings.NewReader(body))
	require.NoError(t, err)
	req.SetBasicAuth(apiKey, "")

	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}

	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

	res, err := client.Do(req)
	require.NoError(t, err)

	defer res.Body.Close()

	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)

	return res.StatusCode, string(answer) + res.Header.Get("Location")
}

const invoice = `{"amount":10000,"currency":"SAR","description":"Order","success_url":"https://shop.test/paid","back_url":"https://shop.test/back"}`

// made is the id of a new invoice.
func (b *bundle) made(t *testing.T, body string) string {
	t.Helper()

	status, answer := b.do(t, http.MethodPost, "/v1/invoices", body)
	require.Equal(t, http.StatusCreated, status, answer)

	var v struct {
		ID string `json:"id"`
	}

	require.NoError(t, json.NewDecoder(strings.NewReader(answer)).Decode(&v))

	return v.ID
}

func (b *bundle) press(t *testing.T, id, outcome string) string {
	t.Helper()

	_, answer := b.do(t, http.MethodPost, "/pay/"+id, url.Values{"outcome": {outcome}}.Encode(),
		"Content-Type", "application/x-www-form-urlencoded")

	return answer
}

func (b *bundle) hook(t *testing.T) map[string]any {
	t.Helper()

	select {
	case body := <-b.hooks:
		return body
	case <-time.After(10 * time.Second):
		require.FailNow(t, "the webhook is missing")

		return nil
	}
}

// TestErrors: the company's forms, as its test mode gives them.
func TestErrors(t *testing.T) {
	t.Parallel()

	b := setup(t, models.MethodCreditCard)
	canceled, paid := b.made(t, invoice), b.made(t, invoice)
	b.press(t, paid, "succeed")

	status, answer := b.do(t, http.MethodPut, "/v1/invoices/"+canceled+"/cancel", "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, answer, `"status":"canceled"`)

	past := strings.Replace(invoice, "{", `{"expired_at":"2020-01-01T00:00:00.000Z",`, 1)

	for name, test := range map[string]struct {
		method, path, body string
		header             []string
		status             int
		says               string
	}{
		"no key":           {method: "GET", path: "/v1/invoices", header: []string{"Authorization", ""}, status: 401, says: `"type":"authentication_error"`},
		"a password":       {method: "GET", path: "/v1/invoices", header: []string{"Authorization", "Basic c2tfdGVzdF9kb3VibGU6eA=="}, status: 401, says: `"errors":null`},
		"99 halalas":       {method: "POST", path: "/v1/invoices", body: strings.Replace(invoice, "10000", "99", 1), status: 400, says: `"type":"validation_error"`},
		"a fraction":       {method: "POST", path: "/v1/invoices", body: strings.Replace(invoice, "10000", "100.5", 1), status: 400, says: `"errors":{"amount":`},
		"no currency":      {method: "POST", path: "/v1/invoices", body: strings.Replace(invoice, "SAR", "sar", 1), status: 400, says: `"errors":{"currency":`},
		"no description":   {method: "POST", path: "/v1/invoices", body: strings.Replace(invoice, "Order", "", 1), status: 400, says: `"errors":{"description":`},
		"a script":         {method: "POST", path: "/v1/invoices", body: strings.Replace(invoice, "https://shop.test/paid", "javascript:alert(1)", 1), status: 400, says: `"errors":{"success_url":`},
		"a past time":      {method: "POST", path: "/v1/invoices", body: past, status: 400, says: `"errors":{"expired_at":`},
		"a past date":      {method: "POST", path: "/v1/invoices", body: strings.Replace(past, "T00:00:00.000Z", "", 1), status: 400, says: `"errors":{"expired_at":`},
		"no date":          {method: "POST", path: "/v1/invoices", body: strings.Replace(past, "2020-01-01", "soon", 1), status: 400, says: `"errors":{"expired_at":`},
		"a long value":     {method: "POST", path: "/v1/invoices", body: strings.Replace(invoice, "{", `{"metadata":{"a":"`+strings.Repeat("x", 501)+`"},`, 1), status: 400, says: `"errors":{"metadata":`},
		"not JSON":         {method: "POST", path: "/v1/invoices", body: "{", status: 400, says: `"type":"invalid_request_error"`},
		"an account bare":  {method: "POST", path: "/v1/invoices", body: invoice, header: []string{"Authorization", "Basic c2tfbGl2ZV9zaW11bGF0b3I6"}, status: 400, says: "no payment method"},
		"no such invoice":  {method: "GET", path: "/v1/invoices/x", status: 404, says: `"type":"record_not_found"`},
		"no such cancel":   {method: "PUT", path: "/v1/invoices/x/cancel", status: 404, says: `"type":"record_not_found"`},
		"no such payment":  {method: "GET", path: "/v1/payments/x", status: 404, says: `"type":"record_not_found"`},
		"canceled already": {method: "PUT", path: "/v1/invoices/" + canceled + "/cancel", status: 400, says: "Cancel failed. The Invoice is already canceled."},
		"paid already":     {method: "PUT", path: "/v1/invoices/" + paid + "/cancel", status: 400, says: "Cancel failed. The Invoice is already paid."},
		"another's":        {method: "GET", path: "/v1/invoices/" + paid, header: []string{"Authorization", "Basic c2tfbGl2ZV9zaW11bGF0b3I6"}, status: 404, says: `"type":"record_not_found"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			status, answer := b.do(t, test.method, test.path, test.body, test.header...)
			require.Equal(t, test.status, status, answer)
			require.Contains(t, answer, test.says)
		})
	}
}

func TestFaultsAreErrorsOfTheCompany(t *testing.T) {
	t.Parallel()

	b := setup(t, models.MethodCreditCard)

	for fault, says := range map[string]string{
		`"mode":"error","status":429`:  `"type":"rate_limit_error"`,
		`"mode":"error","status":503`:  `"type":"api_error"`,
		`"mode":"reject","status":400`: `"type":"invalid_request_error"`,
	} {
		for operation, call := range map[string][2]string{
			"create_checkout": {http.MethodPost, "/v1/invoices"}, "status": {http.MethodGet, "/v1/invoices"},
			"cancel": {http.MethodPut, "/v1/invoices/x/cancel"}, "refund": {http.MethodPost, "/v1/payments/x/refund"},
		} {
			status, answer := b.do(t, http.MethodPost, "/sandbox/faults", `{"operation":"`+operation+`",`+fault+`}`)
			require.Equal(t, http.StatusCreated, status, answer)

			body := ""
			if operation == "create_checkout" {
				body = invoice
			}

			_, answer = b.do(t, call[0], call[1], body)
			require.Contains(t, answer, says, operation)
		}
	}

	for _, mode := range []string{"pending", "conflict"} {
		status, _ := b.do(t, http.MethodPost, "/sandbox/faults", `{"operation":"refund","mode":"`+mode+`"}`)
		require.Equal(t, http.StatusUnprocessableEntity, status, "the company has no such thing")
	}
}

// TestPagesAndFilters: 40 on a page, the newest first (docs.moyasar.com/api/pagination).
func TestPagesAndFilters(t *testing.T) {
	t.Parallel()

	b := setup(t, models.MethodCreditCard)

	var last string
	for i := range 41 {
		last = b.made(t, strings.Replace(invoice, "{", fmt.Sprintf(`{"metadata":{"merchant_reference":"r","n":"%d"},`, i), 1))
	}

	status, answer := b.do(t, http.MethodPut, "/v1/invoices/"+last+"/cancel", "")
	require.Equal(t, http.StatusOK, status, answer)

	for query, want := range map[string][2]int{ // items, next page
		"":                                       {40, 2},
		"?page=2":                                {1, 0},
		"?page=3":                                {0, 0},
		"?metadata[merchant_reference]=r&page=1": {40, 2},
		"?metadata[n]=7":                         {1, 0},
		"?metadata[n]=x":                         {0, 0},
		"?status=canceled":                       {1, 0},
		"?id=" + last:                            {1, 0},
	} {
		_, answer := b.do(t, http.MethodGet, "/v1/invoices"+query, "")

		var page struct {
			Invoices []struct {
				ID string `json:"id"`
			} `json:"invoices"`
			Meta struct {
				NextPage int `json:"next_page"`
			} `json:"meta"`
		}

		require.NoError(t, json.Unmarshal([]byte(answer), &page))
		require.Len(t, page.Invoices, want[0], query)
		require.Equal(t, want[1], page.Meta.NextPage, query)

		if query == "" {
			require.Equal(t, last, page.Invoices[0].ID)
		}
	}

	_, events := b.do(t, http.MethodGet, "/v1/webhooks/available_events", "")
	require.Contains(t, events, "payment_failed")
	_, hooks := b.do(t, http.MethodGet, "/v1/webhooks", "")
	require.Contains(t, hooks, `"http_method":"post"`)
	require.NotContains(t, hooks, secret)
}

// TestPayAndRefund: a failed try leaves the invoice open; refunds in parts, and the rest without an amount.
func TestPayAndRefund(t *testing.T) {
	t.Parallel()

	b := setup(t, models.MethodDebitNetwork)
	id := b.made(t, invoice)

	require.NotContains(t, b.press(t, id, "decline"), "https://shop.test/paid")
	declined := b.hook(t)
	require.Equal(t, "payment_faild", declined["type"])
	require.Equal(t, secret, declined["secret_token"])
	require.Equal(t, false, declined["live"])

	_, answer := b.do(t, http.MethodGet, "/v1/invoices/"+id, "")
	require.Contains(t, answer, `"status":"initiated"`)
	require.Contains(t, answer, `"message":"DECLINED"`)

	require.Contains(t, b.press(t, id, "succeed"), "https://shop.test/paid")

	data, ok := b.hook(t)["data"].(map[string]any)
	require.True(t, ok)
	require.Equal(t, id, data["invoice_id"])
	require.Equal(t, "mada", data["source"].(map[string]any)["company"])

	payment := "/v1/payments/" + data["id"].(string)
	_, answer = b.do(t, http.MethodGet, payment, "")
	require.Contains(t, answer, `"status":"paid"`)

	for _, refund := range []struct {
		body   string
		status int
		says   string
	}{
		{`{"amount":"1"}`, 400, `"errors":{"amount":`},
		{`{"amount":0}`, 400, `"errors":{"amount":`},
		{`{"amount":10001}`, 400, "Refund amount cannot exceed the charged amount"},
		{`{"amount":2500}`, 200, `"refunded":2500`},
		{``, 200, `"refunded":10000`},
		{``, 400, "Refund amount cannot exceed the charged amount"},
	} {
		status, answer := b.do(t, http.MethodPost, payment+"/refund", refund.body)
		require.Equal(t, refund.status, status, answer)
		require.Contains(t, answer, refund.says)
	}

	require.Equal(t, "payment_refunded", b.hook(t)["type"])
	require.Equal(t, "payment_refunded", b.hook(t)["type"])
}

// TestExpiry: a SADAD bill tells that it has expired, a card's invoice does not.
func TestExpiry(t *testing.T) {
	t.Parallel()

	b := setup(t, models.MethodBillPayment)
	soon := stampIn(time.Hour)
	id := b.made(t, strings.Replace(invoice, "{", `{"expired_at":"`+soon+`",`, 1))
	b.ahead.Store(int64(2 * time.Hour))

	_, answer := b.do(t, http.MethodGet, "/v1/invoices/"+id, "")
	require.Contains(t, answer, `"status":"expired"`)
	require.Equal(t, "payment_expired", b.hook(t)["type"])

	other := setup(t, models.MethodCreditCard)
	id = other.made(t, strings.Replace(invoice, "{", `{"expired_at":"`+soon+`",`, 1))
	other.ahead.Store(int64(2 * time.Hour))
	_, answer = other.do(t, http.MethodGet, "/v1/invoices/"+id, "")
	require.Contains(t, answer, `"status":"expired"`)

	other.ahead.Store(0)
	other.press(t, other.made(t, invoice), "succeed")
	require.Equal(t, "payment_paid", other.hook(t)["type"], "the first message")
}

func stampIn(d time.Duration) string {
	return time.Now().Add(d).UTC().Format("2006-01-02T15:04:05.000Z")
}
