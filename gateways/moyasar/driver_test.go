package moyasar_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/moyasar"
	moyasarsim "rihla/gateways/simulator/moyasar"
	"rihla/models"
)

func TestNewRefusesBadConfiguration(t *testing.T) {
	t.Parallel()

	for name, cfg := range map[string]moyasar.Config{
		"no key":            {},
		"publishable":       {APIKey: "pk_test_SECRET"},
		"another company's": {APIKey: "rk_live_SECRET"},
		"a line break":      {APIKey: "sk_test_SECRET\n"},
		"a password":        {APIKey: "sk_test_SECRET:"},
		"relative URL":      {APIKey: "sk_test_SECRET", BaseURL: "/v1"},
		"another scheme":    {APIKey: "sk_test_SECRET", BaseURL: "ftp://gateway"},
		"a user in the URL": {APIKey: "sk_test_SECRET", BaseURL: "https://sk_test_SECRET@api.moyasar.com"},
		"live in the clear": {APIKey: "sk_live_SECRET", BaseURL: "http://api.moyasar.com"},
		"negative timeout":  {APIKey: "sk_test_SECRET", Timeout: -1},
	} {
		_, err := moyasar.New(cfg)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "SECRET", name)
	}

	for _, cfg := range []moyasar.Config{
		{APIKey: "sk_live_x"}, {APIKey: "sk_test_x", BaseURL: "http://127.0.0.1:8090/"}, {APIKey: "sk_live_x", BaseURL: "https://api.moyasar.com/v1"},
	} {
		_, err := moyasar.New(cfg)
		require.NoError(t, err)
	}
}

// respond answers every request with a status and a body.
func respond(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestRequestOnTheWire(t *testing.T) {
	t.Parallel()

	request := gatewaytest.Request()
	request.Description = "عمرة\n" + strings.Repeat("ط", 400)
	request.ExpiresAt = time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.FixedZone("", 3*3600))

	var (
		bodies []string
		got    *http.Request
	)

	driver := driverFor(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies, got = append(bodies, string(body)), r
		respond(http.StatusCreated, fmt.Sprintf(`{"id":"i1","status":"initiated","amount":115000,"currency":"SAR",
			"url":"https://checkout.moyasar.com/invoices/i1","expired_at":"2026-11-21T07:00:00.123Z","metadata":{"merchant_reference":%q},
			"payments":[]}`, request.MerchantReference))(w, r)
	})

	for range 2 {
		c, err := driver.CreateCheckout(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, "https://checkout.moyasar.com/invoices/i1", c.URL)
		require.Equal(t, gateways.CheckoutOpen, c.Status)
		require.True(t, c.ExpiresAt.Equal(request.ExpiresAt.Truncate(time.Millisecond)))
	}

	require.Equal(t, bodies[0], bodies[1], "the same attempt asks for the same")
	require.Equal(t, "/v1/invoices", got.URL.Path)
	require.Empty(t, got.Header.Get("Idempotency-Key"), "with it, Go would repeat the request by itself")

	user, password, _ := got.BasicAuth()
	require.Equal(t, apiKey, user)
	require.Empty(t, password)

	var sent map[string]any

	require.NoError(t, json.Unmarshal([]byte(bodies[0]), &sent))
	require.InDelta(t, 115000, sent["amount"], 0)
	require.Equal(t, "SAR", sent["currency"])
	require.Equal(t, "2026-11-21T07:00:00.123Z", sent["expired_at"])
	require.Equal(t, request.ReturnURL, sent["success_url"])
	require.Equal(t, request.ReturnURL, sent["back_url"])
	require.NotContains(t, sent, "callback_url", "a message there proves nothing")
	require.Equal(t, map[string]any{
		"merchant_reference": request.MerchantReference.String(), "kind": "payment", "method": "credit_card",
	}, sent["metadata"])
	require.Equal(t, 255, utf8.RuneCountInString(sent["description"].(string)))
	require.NotContains(t, sent["description"], "\n")
}

func TestCreationIsBelievedOnlyIfItMatches(t *testing.T) {
	t.Parallel()

	request := gatewaytest.Request()
	good := fmt.Sprintf(`{"id":"i1","status":"initiated","amount":115000,"currency":"SAR","url":"https://checkout.moyasar.com/invoices/i1",
		"metadata":{"merchant_reference":%q},"payments":[]}`, request.MerchantReference)

	for name, change := range map[string][2]string{
		"another amount":    {"115000", "115001"},
		"another currency":  {"SAR", "KWD"},
		"another reference": {request.MerchantReference.String(), uuid.NewString()},
		"no metadata":       {`"metadata":{`, `"meta":{`},
		"no payments":       {`"payments":[]`, `"payments":null`},
		"no id":             {`"id":"i1"`, `"id":""`},
		"a script as page":  {"https://checkout.moyasar.com/invoices/i1", "javascript:alert(1)"},
		"an unknown status": {"initiated", "thinking"},
		"amount as text":    {"115000", `"115000"`},
		"a fraction":        {"115000", "115000.5"},
		"a negative amount": {"115000", "-115000"},
	} {
		driver := driverFor(t, respond(http.StatusCreated, strings.Replace(good, change[0], change[1], 1)))
		_, err := driver.CreateCheckout(t.Context(), request)
		require.Error(t, err, name)
		requireKind(t, gateways.KindUnknown, err)
	}

	driver := driverFor(t, respond(http.StatusCreated, good))

	for name, change := range map[string]func(*gateways.CheckoutRequest){
		"no currency":  func(r *gateways.CheckoutRequest) { r.Currency = "" },
		"nothing":      func(r *gateways.CheckoutRequest) { r.Amount = models.Halalas(0) },
		"no whole yen": func(r *gateways.CheckoutRequest) { r.Amount, r.Currency = models.MustMoney("1.50"), "JPY" },
	} {
		odd := request
		change(&odd)

		_, err := driver.CreateCheckout(t.Context(), odd)
		require.Error(t, err, name)
		requireKind(t, gateways.KindRejected, err)
	}
}

// TestErrors holds the kinds of errors, with the samples of docs.moyasar.com/api/errors and those seen in test mode.
func TestErrors(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		status int
		body   string
		kind   gateways.ErrorKind
		code   string
	}{
		"a wrong key": {
			401, `{ "type": "authentication_error", "message": "Invalid authorization credentials", "errors": null }`,
			gateways.KindUnauthorized, "authentication_error",
		},
		"a field": {
			400, `{ "type": "invalid_request_error", "message": "Validation Failed", "errors": { "amount" : ["must be an integer"] } }`,
			gateways.KindRejected, "invalid_request_error",
		},
		"a field as test mode says it": {
			400, `{"type":"validation_error","message":"Validation Failed","errors":{"expired_at":["The value must be …"]}}`,
			gateways.KindRejected, "validation_error",
		},
		"a key without the right":   {403, `{"type":"api_error","message":"User not authorized","errors":null}`, gateways.KindUnauthorized, "api_error"},
		"an account not yet live":   {405, `{"type":"account_inactive_error","message":"Entity not activated"}`, gateways.KindUnauthorized, "account_inactive_error"},
		"no such invoice":           {404, `{"type":"record_not_found","message":"Object not found","errors":null}`, gateways.KindNotFound, "record_not_found"},
		"unprocessable":             {422, `{"type":"invalid_request","message":"no"}`, gateways.KindRejected, "invalid_request"},
		"an undocumented 4xx":       {451, `{"type":"invalid_request","message":"no"}`, gateways.KindRejected, "invalid_request"},
		"a conflict":                {409, `{"type":"invalid_request","message":"no"}`, gateways.KindInProgress, "invalid_request"},
		"too early":                 {425, `{"type":"invalid_request","message":"no"}`, gateways.KindInProgress, "invalid_request"},
		"a timeout of theirs":       {408, `{"type":"api_error","message":"no"}`, gateways.KindUnknown, "api_error"},
		"a limit with another code": {400, `{"type":"rate_limit_error","message":"slow down"}`, gateways.KindRateLimited, "rate_limit_error"},
		"what is behind is away":    {400, `{"type":"api_connection_error","message":"no"}`, gateways.KindUnknown, "api_connection_error"},
		"a broken server":           {500, `{"type":"api_error","message":"no"}`, gateways.KindUnknown, "api_error"},
		"maintenance":               {503, `{"type":"api_error","message":"no"}`, gateways.KindUnknown, "api_error"},
		"a proxy's 401":             {401, `<html>`, gateways.KindUnknown, "http_401"},
		"a proxy's 403":             {403, `{"message":"Forbidden"}`, gateways.KindUnknown, "http_403"},
		"a proxy's 405":             {405, ``, gateways.KindUnknown, "http_405"},
		"a type that is none":       {400, `{"type":"` + apiKey + ` x"}`, gateways.KindUnknown, "http_400"},
		"a redirect in the format":  {302, `{"type":"invalid_request"}`, gateways.KindUnknown, "invalid_request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := driverFor(t, respond(test.status, test.body)).ReadCheckout(t.Context(), gateways.CheckoutRef{ID: "i1"})
			requireKind(t, test.kind, err)

			var e *gateways.Error

			require.ErrorAs(t, err, &e)
			require.Equal(t, test.code, e.Code)
		})
	}
}

// TestAnswersAreBounded: an answer that is right but for its size is not read to its end.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()

	answer := sample("initiated")
	ref := gateways.CheckoutRef{ID: invoiceID}

	_, err := driverFor(t, respond(200, answer+strings.Repeat(" ", 1<<20-len(answer)))).ReadCheckout(t.Context(), ref)
	require.NoError(t, err)

	_, err = driverFor(t, respond(200, answer+strings.Repeat(" ", 1<<20))).ReadCheckout(t.Context(), ref)
	requireKind(t, gateways.KindUnknown, err)
}

// TestErrorsQuoteNoRequest: only the company's sentence and the names of fields, neither with the key.
func TestErrorsQuoteNoRequest(t *testing.T) {
	t.Parallel()

	_, err := driverFor(t, respond(400, `{"type":"validation_error","message":"Validation Failed",
		"errors":{"name":["Aisha is no name"],"amount":["4111111111111111"],"<script>":[],"`+apiKey+`":[]}}`)).
		CreateCheckout(t.Context(), gatewaytest.Request())
	requireKind(t, gateways.KindRejected, err)
	require.Equal(t, "gateway rejected (validation_error): Validation Failed (amount, name)", err.Error())

	_, err = driverFor(t, respond(400, `{"type":"validation_error","message":"key `+apiKey+` is odd"}`)).
		CreateCheckout(t.Context(), gatewaytest.Request())
	requireKind(t, gateways.KindRejected, err)
	require.Equal(t, "gateway rejected (validation_error)", err.Error())
}

// listed is an invoice in a list.
func listed(id, status, reference, payments string) string {
	return fmt.Sprintf(`{"id":%q,"status":%q,"amount":100,"currency":"SAR","url":"https://checkout.moyasar.com/invoices/%s",
		"metadata":{"merchant_reference":%q}%s}`, id, status, id, reference, payments)
}

const onePayment = `,"payments":[{"id":"p1","status":"paid","amount":100,"currency":"SAR","source":{"type":"creditcard"}}]`

// TestFindPrefersWhatTookMoney: the filter is not believed, every page is read, and what a list leaves out is asked for.
func TestFindPrefersWhatTookMoney(t *testing.T) {
	t.Parallel()

	reference := uuid.NewString()

	var calls []string

	driver := driverFor(t, func(w http.ResponseWriter, r *http.Request) {
		calls = append(calls, r.URL.String())

		switch {
		case strings.HasSuffix(r.URL.Path, "/bare"):
			respond(200, listed("bare", "canceled", reference, onePayment))(w, r)
		case r.URL.Query().Get("metadata[merchant_reference]") != reference:
			respond(400, "")(w, r)
		case r.URL.Query().Get("page") == "1":
			respond(200, `{"invoices":[`+listed("other", "paid", uuid.NewString(), onePayment)+`,`+
				listed("open", "initiated", reference, `,"payments":[]`)+`,`+
				listed("late", "expired", reference, `,"payments":[]`)+`],"meta":{"next_page":2}}`)(w, r)
		default:
			respond(200, `{"invoices":[`+listed("bare", "canceled", reference, "")+`],"meta":{"next_page":null}}`)(w, r)
		}
	})

	c, err := driver.ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: uuid.MustParse(reference)})
	require.NoError(t, err)
	require.Equal(t, "bare", c.ID, "a canceled invoice that took money counts before an open one")
	require.Equal(t, gateways.CheckoutPaid, c.Status)
	require.Len(t, calls, 3)
}

func TestAListWithoutAnEnd(t *testing.T) {
	t.Parallel()

	var page atomic.Int32

	driver := driverFor(t, func(w http.ResponseWriter, r *http.Request) {
		respond(200, fmt.Sprintf(`{"invoices":[],"meta":{"next_page":%d}}`, page.Add(1)+1))(w, r)
	})

	_, err := driver.ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: uuid.New()})
	requireKind(t, gateways.KindUnknown, err)
	require.EqualValues(t, 10, page.Load())

	_, err = driverFor(t, respond(200, `{"invoices":[],"meta":{"next_page":1}}`)).
		ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: uuid.New()})
	requireKind(t, gateways.KindUnknown, err)
}

func TestCancelOfWhatIsPaidMeanwhile(t *testing.T) {
	t.Parallel()

	reference := uuid.NewString()

	for name, cancel := range map[string]http.HandlerFunc{
		"refused":          respond(400, `{"type":"invalid_request_error","message":"Cancel failed. The Invoice is already paid."}`),
		"taken and paid":   respond(200, listed("i1", "canceled", reference, onePayment)),
		"taken and failed": respond(200, listed("i1", "failed", reference, `,"payments":[]`)),
	} {
		driver := driverFor(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				cancel(w, r)
			} else {
				respond(200, listed("i1", "paid", reference, onePayment))(w, r)
			}
		})

		_, err := driver.CancelCheckout(t.Context(), gateways.CheckoutRef{ID: "i1"})
		require.Error(t, err, name)
		requireKind(t, gateways.KindRejected, err)
	}
}

// TestCancelByReference: an attempt whose invoice's id was never saved.
func TestCancelByReference(t *testing.T) {
	t.Parallel()

	b := setup(t, moyasarsim.Settings{})
	c, ref := b.Opened(t)
	ref.ID = ""

	got, err := b.driver.CancelCheckout(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, c.ID, got.ID)
	require.Equal(t, gateways.CheckoutCanceled, got.Status)

	ref.MerchantReference = uuid.New()
	_, err = b.driver.CancelCheckout(t.Context(), ref)
	requireKind(t, gateways.KindNotFound, err)
}
