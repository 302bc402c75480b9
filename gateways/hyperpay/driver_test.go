package hyperpay_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/hyperpay"
	"rihla/models"
)

// script answers in the company's place: by the method and the path, `METHOD /path`. It keeps what was asked.
type script struct {
	mu      sync.Mutex
	answers map[string]answer
	asked   []string
	form    url.Values
	header  http.Header
}

type answer struct {
	status int
	body   string
	header string // Retry-After
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)

	s.mu.Lock()
	defer s.mu.Unlock()

	s.asked = append(s.asked, r.Method+" "+r.URL.Path)
	s.header = r.Header

	if len(body) > 0 {
		s.form, _ = url.ParseQuery(string(body))
	}

	a, ok := s.answers[r.Method+" "+r.URL.Path]
	if !ok {
		a = answer{404, `{"result":{"code":"700.400.580","description":"cannot find transaction"}}`, ""}
	}

	if a.header != "" {
		w.Header().Set("Retry-After", a.header)
	}

	w.WriteHeader(a.status)
	_, _ = w.Write([]byte(a.body))
}

// scripted is a driver for a script.
func scripted(t *testing.T, s *script, change ...func(*hyperpay.Config)) *hyperpay.Driver {
	t.Helper()

	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)

	cfg := config()
	cfg.BaseURL = srv.URL + "/"

	for _, c := range change {
		c(&cfg)
	}

	d, err := hyperpay.New(cfg)
	require.NoError(t, err)

	return d
}

const (
	statusPath = "GET /v1/checkouts/" + checkout + "/payment"
	reportPath = "GET /v1/query"
)

// ref names the checkout of the tests, opened a while ago.
func ref(ago time.Duration) gateways.CheckoutRef {
	return gateways.CheckoutRef{
		ID: checkout, MerchantReference: uuid.MustParse(reference), Method: models.MethodCreditCard, Amount: models.MustMoney("92.00"),
		Currency: "SAR", CreatedAt: time.Now().Add(-ago), OpenedAt: time.Now().Add(-ago), ExpiresAt: time.Now().Add(30*time.Minute - ago),
	}
}

// item is a transaction of a report, or the answer to a status call.
func item(kind, code string) string {
	return `{"id":"` + payment + `","paymentType":"` + kind + `","amount":"92.00","currency":"SAR","merchantTransactionId":"` + reference +
		`","result":{"code":"` + code + `","description":"said"},"timestamp":"2026-11-24 10:00:00.123+0000","ndc":"` + checkout + `"}`
}

func reported(items ...string) answer {
	return answer{200, `{"result":{"code":"000.000.100","description":"successful request"},"payments":[` + strings.Join(items, ",") + `]}`, ""}
}

func saying(status int, code string) answer {
	return answer{status, `{"result":{"code":"` + code + `","description":"said"}}`, ""}
}

func TestNewRefusesBadConfiguration(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(*hyperpay.Config){
		"a relative URL":         func(c *hyperpay.Config) { c.BaseURL = "/v1" },
		"a URL with a path":      func(c *hyperpay.Config) { c.BaseURL = "https://x.test/v1" },
		"a URL with a query":     func(c *hyperpay.Config) { c.BaseURL = "https://x.test/?a=b" },
		"the test URL when live": func(c *hyperpay.Config) { c.BaseURL, c.Live = "https://eu-test.oppwa.com", true },
		"the live URL in a test": func(c *hyperpay.Config) { c.BaseURL = "https://eu-prod.oppwa.com" },
		"no page":                func(c *hyperpay.Config) { c.PageBase = "" },
		"no token":               func(c *hyperpay.Config) { c.APIKey = "" },
		"a token of two lines":   func(c *hyperpay.Config) { c.APIKey = token + "\n" },
		"a negative timeout":     func(c *hyperpay.Config) { c.Timeout = -1 },
		"no entity":              func(c *hyperpay.Config) { c.Entities = nil },
		"an odd entity":          func(c *hyperpay.Config) { c.Entities = map[models.PaymentMethod]string{models.MethodCreditCard: "x"} },
		"a bill": func(c *hyperpay.Config) {
			c.Entities = map[models.PaymentMethod]string{models.MethodBillPayment: payment}
		},
		"a wallet without a brand": func(c *hyperpay.Config) {
			c.Entities = map[models.PaymentMethod]string{models.MethodWalletA: payment}
		},
		"an odd brand": func(c *hyperpay.Config) {
			c.Brands = map[models.PaymentMethod][]string{models.MethodCreditCard: {"visa"}}
		},
		"a parameter of ours":      func(c *hyperpay.Config) { c.Parameters = map[string]string{"amount": "1.00"} },
		"a test's parameter, live": func(c *hyperpay.Config) { c.Live, c.Parameters = true, map[string]string{"testMode": "EXTERNAL"} },
	} {
		cfg := config()
		change(&cfg)

		_, err := hyperpay.New(cfg)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), token, name)
	}

	for _, live := range []bool{false, true} {
		cfg := config()
		cfg.Live = live
		_, err := hyperpay.New(cfg)
		require.NoError(t, err, "without a URL it is the company's own")
	}
}

func TestCheckoutOnTheWire(t *testing.T) {
	t.Parallel()

	const integrity = "sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC"

	s := &script{answers: map[string]answer{"POST /v1/checkouts": {
		200, `{"result":{"code":"000.200.100","description":"successfully created checkout"},"id":"` + checkout + `","ndc":"` + checkout +
			`","integrity":"` + integrity + `"}`, "",
	}}}
	d := scripted(t, s, func(c *hyperpay.Config) {
		c.Parameters = map[string]string{"billing.country": "SA"}
		c.Brands = map[models.PaymentMethod][]string{models.MethodCreditCard: {"VISA", "MASTER", "MADA"}}
	})

	request := gatewaytest.Request()
	request.Description = "line\nand\x00 " + strings.Repeat("ط", 400)

	request.Payer = gateways.Payer{Name: " First Second Last\n", Email: "payer@rihla.test"}

	c, err := d.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, checkout, c.ID)
	require.Equal(t, gateways.CheckoutOpen, c.Status)
	require.Equal(t, pageBase+"/pay/"+c.PageData[gateways.DataPage], c.URL)
	require.NotContains(t, c.URL, request.MerchantReference.String(), "the attempt's id, as logs have it, does not open its page")
	require.WithinDuration(t, time.Now().Add(30*time.Minute), c.ExpiresAt, time.Minute)
	require.Equal(t, integrity, c.PageData[hyperpay.DataIntegrity])
	require.Equal(t, "MADA VISA MASTER", c.PageData[hyperpay.DataBrands])
	require.NotContains(t, c.URL, checkout, "the address, as logs have it, cannot be paid with elsewhere")

	first := s.form
	require.Equal(t, []string{"line and  " + strings.Repeat("ط", 245)}, first["customParameters[SHOPPER_title]"])
	require.Equal(t, "1150.00", first.Get("amount"))
	require.Equal(t, "SAR", first.Get("currency"))
	require.Equal(t, "DB", first.Get("paymentType"))
	require.Equal(t, "true", first.Get("integrity"))
	require.Equal(t, "SA", first.Get("billing.country"))
	require.Equal(t, []string{"First Second", "Last", "payer@rihla.test"},
		[]string{first.Get("customer.givenName"), first.Get("customer.surname"), first.Get("customer.email")})
	require.Equal(t, request.MerchantReference.String(), first.Get("merchantTransactionId"))
	require.Len(t, first.Get("entityId"), 32)
	require.Equal(t, "Bearer "+token, s.header.Get("Authorization"))
	require.Equal(t, "application/x-www-form-urlencoded; charset=UTF-8", s.header.Get("Content-Type"))
	require.Empty(t, s.header.Get("Idempotency-Key"), "the company has none, and Go's transport would repeat the request")

	_, err = d.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, first, s.form, "the same attempt asks for the same")

	// One name is both, and what the company cannot take is left out: a checkout is not refused for it.
	request.Payer = gateways.Payer{Name: strings.Repeat("ا", 60), Email: strings.Repeat("a", 120) + "@rihla.test"}
	_, err = d.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("ا", 48), s.form.Get("customer.givenName"))
	require.Equal(t, strings.Repeat("ا", 48), s.form.Get("customer.surname"))
	require.NotContains(t, s.form, "customer.email")

	request.Payer = gateways.Payer{}
	_, err = d.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	require.NotContains(t, s.form, "customer.givenName")
}

func TestCheckoutsThatAreNotSent(t *testing.T) {
	t.Parallel()

	s := &script{}
	d := scripted(t, s)

	for name, change := range map[string]func(*gateways.CheckoutRequest){
		"nothing":            func(r *gateways.CheckoutRequest) { r.Amount = models.Money{} },
		"less than nothing":  func(r *gateways.CheckoutRequest) { r.Amount = models.MustMoney("-1.00") },
		"eleven digits":      func(r *gateways.CheckoutRequest) { r.Amount = models.MustMoney("10000000000.00") },
		"another currency":   func(r *gateways.CheckoutRequest) { r.Currency = "USD" },
		"a method not there": func(r *gateways.CheckoutRequest) { r.Method = models.MethodWalletA },
	} {
		r := gatewaytest.Request()
		change(&r)

		_, err := d.CreateCheckout(t.Context(), r)
		require.Equal(t, gateways.KindRejected, gateways.KindOf(err), name)
	}

	require.Empty(t, s.asked)
}

func TestAnswersToACreation(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		answer answer
		want   gateways.ErrorKind
	}{
		"no id":                   {answer{200, `{"result":{"code":"000.200.100"},"integrity":"sha384-x"}`, ""}, gateways.KindUnknown},
		"an id that is a path":    {answer{200, `{"result":{"code":"000.200.100"},"id":"../x","integrity":"sha384-x"}`, ""}, gateways.KindUnknown},
		"no integrity":            {answer{200, `{"result":{"code":"000.200.100"},"id":"` + checkout + `"}`, ""}, gateways.KindUnknown},
		"integrity that is HTML":  {answer{200, `{"result":{"code":"000.200.100"},"id":"` + checkout + `","integrity":"\">"}`, ""}, gateways.KindUnknown},
		"another success":         {saying(200, "000.000.000"), gateways.KindUnknown},
		"an invalid parameter":    {saying(400, "200.300.404"), gateways.KindRejected},
		"a wrong configuration":   {saying(400, "600.200.500"), gateways.KindRejected},
		"a refusal told with 200": {saying(200, "100.550.300"), gateways.KindRejected},
		"the token":               {saying(401, "800.900.300"), gateways.KindUnauthorized},
		"the entity":              {saying(403, "800.900.303"), gateways.KindUnauthorized},
		"the entity, with 400":    {saying(400, "800.900.301"), gateways.KindUnauthorized},
		"throttled":               {saying(429, "800.120.100"), gateways.KindRateLimited},
		"throttled with 400":      {saying(400, "800.120.100"), gateways.KindRateLimited},
		"throttled with 200":      {saying(200, "800.120.100"), gateways.KindRateLimited},
		"a conflict":              {saying(409, "100.100.100"), gateways.KindInProgress},
		"a duplicate":             {saying(400, "800.110.100"), gateways.KindInProgress},
		"a system error":          {saying(400, "999.999.999"), gateways.KindUnknown},
		"a communication error":   {saying(200, "900.100.300"), gateways.KindUnknown},
		"a code with 500":         {saying(500, "800.100.152"), gateways.KindUnknown},
		"a code that is none":     {saying(400, "oops"), gateways.KindUnknown},
		"401 of a proxy":          {answer{401, `<html>`, ""}, gateways.KindUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := scripted(t, &script{answers: map[string]answer{"POST /v1/checkouts": test.answer}})
			_, err := d.CreateCheckout(t.Context(), gatewaytest.Request())
			require.Equal(t, test.want, gateways.KindOf(err), "%v", err)
			require.NotContains(t, err.Error(), token)
		})
	}
}

func TestCapabilities(t *testing.T) {
	t.Parallel()

	can := scripted(t, &script{}).Capabilities()
	require.Equal(t, hyperpay.Capabilities(models.MethodDebitNetwork, models.MethodCreditCard), can)
	require.False(t, can.Cancel)
	require.Equal(t, gateways.SettledHarmlessly, can.Checkouts)
	require.Equal(t, gateways.SettledByReference, can.Refunds)

	for _, m := range can.Methods {
		require.Equal(t, 30*time.Minute, m.MinTimeToPay)
		require.Equal(t, 30*time.Minute, m.MaxTimeToPay)
	}

	require.Empty(t, hyperpay.Capabilities(models.MethodBillPayment).Methods)
}
