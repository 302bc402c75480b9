package stripe_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/stripe"
	"rihla/models"
)

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()

	for name, cfg := range map[string]stripe.Config{
		"no key":              {},
		"a publishable key":   {APIKey: "pk_live_51Rihla4eC39HqLyjWDarj"},
		"a key of another":    {APIKey: "moyasar_4eC39HqLyjWDarj"},
		"a key with a space":  {APIKey: "sk_test_4eC39HqLyj WDarj"},
		"no address":          {APIKey: apiKey, BaseURL: "api.stripe.com"},
		"an address with a ?": {APIKey: apiKey, BaseURL: "https://api.stripe.com/?x=1"},
		"live without TLS":    {APIKey: "sk_live_51Rihla4eC39HqLyjWDarj", BaseURL: "http://127.0.0.1:1"},
		"a way back":          {APIKey: apiKey, ReturnURL: "javascript:alert(1)"},
		"a negative time":     {APIKey: apiKey, Timeout: -1},
	} {
		_, err := stripe.New(cfg)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "4eC39HqLyj", name)
	}

	d, err := stripe.New(stripe.Config{APIKey: apiKey})
	require.NoError(t, err)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", d, d, d), apiKey)
}

// TestSessionIsAlwaysTheSame: the company refuses a key that comes with another request, so that nothing of it depends on now.
func TestSessionIsAlwaysTheSame(t *testing.T) {
	t.Parallel()

	var (
		mu   sync.Mutex
		seen = map[string]int{}
	)

	d := driverFor(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)

		mu.Lock()
		defer mu.Unlock()

		seen[r.Header.Get("Idempotency-Key")+" "+r.Header.Get("Stripe-Version")+" "+string(body)]++

		w.WriteHeader(http.StatusInternalServerError)
	})

	request := gatewaytest.Request()
	for range 3 {
		_, err := d.CreateCheckout(t.Context(), request)
		requireKind(t, gateways.KindUnknown, err)
	}

	require.Len(t, seen, 1)

	for what := range seen {
		require.True(t, strings.HasPrefix(what, "checkout/"+request.MerchantReference.String()+" 2026-03-25.dahlia "), what)
		require.Contains(t, what, "adaptive_pricing[enabled]=false")
	}
}

// TestTimeToPay: the company takes 30 minutes to 24 hours from its own now, which is up to half an hour after our attempt's creation.
func TestTimeToPay(t *testing.T) {
	t.Parallel()

	created := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)

	for ours, want := range map[time.Duration]time.Duration{
		15 * time.Minute: 65 * time.Minute, 2 * time.Hour: 2 * time.Hour, 72 * time.Hour: 23 * time.Hour,
	} {
		var form string

		d := driverFor(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			form = string(body)

			w.WriteHeader(http.StatusInternalServerError)
		})

		r := gatewaytest.Request()
		r.CreatedAt, r.ExpiresAt = created, created.Add(ours)
		_, err := d.CreateCheckout(t.Context(), r)
		require.Error(t, err)
		require.Contains(t, form, fmt.Sprintf("expires_at=%d&", created.Add(want).Unix()))
	}
}

// TestReplayedError: the company keeps a 500 under its key although the thing was made: it is found and not made again. What was not
// made is made under a second key, by however many at once.
func TestReplayedError(t *testing.T) {
	t.Parallel()

	for _, made := range []bool{true, false} {
		t.Run(fmt.Sprint("it was made: ", made), func(t *testing.T) {
			t.Parallel()

			b := setup(t, nil)

			var (
				creations atomic.Int64
				finished  sync.Mutex // a failure is repeated once the first request with the key has ended
			)

			// Between the driver and its company: the first key's answer is a 500 for ever.
			d := driverFor(t, func(w http.ResponseWriter, r *http.Request) {
				key := r.Header.Get("Idempotency-Key")
				first := key != "" && !strings.HasSuffix(key, "/2")

				if first && made {
					finished.Lock()
					defer finished.Unlock()
					b.server.Handler().ServeHTTP(discard{}, r)
				}

				if first {
					w.Header().Set("Idempotent-Replayed", "true")
					w.WriteHeader(http.StatusInternalServerError)
					_, _ = w.Write([]byte(`{"error":{"type":"api_error","message":"An unknown error occurred"}}`))

					return
				}

				if key != "" {
					creations.Add(1)
				}

				b.server.Handler().ServeHTTP(w, r)
			})

			request := gatewaytest.Request()
			ids := sync.Map{}

			var all sync.WaitGroup
			for range 5 {
				all.Go(func() {
					c, err := d.CreateCheckout(t.Context(), request)
					if err == nil {
						ids.Store(c.ID, c)
					} else if gateways.KindOf(err) != gateways.KindInProgress {
						t.Error(err)
					}
				})
			}

			all.Wait()

			one := require.New(t)
			n := 0

			var c gateways.Checkout

			ids.Range(func(_, v any) bool { n++; c = v.(gateways.Checkout); return true }) //nolint:forcetypeassert // as stored
			one.Equal(1, n)
			one.Equal(made, creations.Load() == 0)

			b.Pay(t, c)

			order := gateways.RefundRequest{
				Checkout: gatewaytest.RefOf(request, c), MerchantReference: uuid.New(), Amount: models.MustMoney("10.00"), Currency: models.Currency,
			}
			for range 2 {
				refund, err := d.CreateRefund(t.Context(), order)
				one.NoError(err)
				one.Equal(gateways.RefundSucceeded, refund.Status)
			}

			got, err := b.driver.ReadCheckout(t.Context(), gatewaytest.RefOf(request, c))
			one.NoError(err)
			one.Equal("10.00", got.RefundedAmount.String())
		})
	}
}

// discard is an answer that is lost.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

// TestRefundAfterItsKeyWasForgotten: the company keeps keys for a day, and the refund is found all the same.
func TestRefundAfterItsKeyWasForgotten(t *testing.T) {
	t.Parallel()

	b := setup(t, nil)
	order := gateways.RefundRequest{
		Checkout: b.Sold(t), MerchantReference: uuid.New(), Amount: models.MustMoney("10.00"), Currency: models.Currency,
	}

	first, err := b.driver.CreateRefund(t.Context(), order)
	require.NoError(t, err)

	forgetful := driverFor(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Idempotency-Key") != "" {
			r.Header.Set("Idempotency-Key", uuid.NewString())
		}

		b.server.Handler().ServeHTTP(w, r)
	})

	again, err := forgetful.CreateRefund(t.Context(), order)
	require.NoError(t, err)
	require.Equal(t, first, again)
}

// TestAnswersThatDoNotAddUp: nothing is believed that is of another mode, another payment, or not what was asked for.
func TestAnswersThatDoNotAddUp(t *testing.T) {
	t.Parallel()

	reference := uuid.New()
	whole := `"object":"checkout.session","client_reference_id":"` + reference.String() + `","amount_total":115000,"currency":"sar",`

	for name, answer := range map[string]string{
		"of a live account":   `{"id":"cs_1",` + whole + `"livemode":true,"status":"open","payment_status":"unpaid"}`,
		"another session":     `{"id":"cs_2",` + whole + `"livemode":false,"status":"open","payment_status":"unpaid"}`,
		"no reference":        `{"id":"cs_1","object":"checkout.session","livemode":false,"status":"open","payment_status":"unpaid"}`,
		"an unknown status":   `{"id":"cs_1",` + whole + `"livemode":false,"status":"melted","payment_status":"unpaid"}`,
		"complete for free":   `{"id":"cs_1",` + whole + `"livemode":false,"status":"complete","payment_status":"no_payment_required"}`,
		"a charge of nothing": `{"id":"cs_1",` + whole + `"status":"complete","payment_status":"paid","payment_intent":{"id":"pi_1","latest_charge":{"id":"ch_1","created":1}}}`,
	} {
		d := driverFor(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) })
		_, err := d.ReadCheckout(t.Context(), gateways.CheckoutRef{ID: "cs_1", MerchantReference: reference})
		require.Error(t, err, name)
		requireKind(t, gateways.KindUnknown, err)
	}
}

// TestStates is the table of README.md.
func TestStates(t *testing.T) {
	t.Parallel()

	for states, want := range map[string]gateways.CheckoutStatus{
		`"status":"open","payment_status":"unpaid"`:                                                                          gateways.CheckoutOpen,
		`"status":"complete","payment_status":"paid"`:                                                                        gateways.CheckoutPaid,
		`"status":"complete","payment_status":"unpaid"`:                                                                      gateways.CheckoutOpen,
		`"status":"complete","payment_status":"unpaid","payment_intent":{"id":"pi_1","status":"processing"}`:                 gateways.CheckoutOpen,
		`"status":"complete","payment_status":"unpaid","payment_intent":{"id":"pi_1","status":"requires_payment_method"}`:    gateways.CheckoutFailed,
		`"status":"expired","payment_status":"unpaid","expires_at":4000000000`:                                               gateways.CheckoutCanceled,
		`"status":"expired","payment_status":"unpaid","expires_at":1000000000`:                                               gateways.CheckoutExpired,
		`"status":"complete","payment_status":"paid","payment_intent":"pi_1","expires_at":1000000000,"url":null,"extra":[1]`: gateways.CheckoutPaid,
	} {
		d := driverFor(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, `{"id":"cs_1","object":"checkout.session","client_reference_id":%q,"amount_total":100,"currency":"sar",%s}`,
				uuid.New(), states)
		})

		c, err := d.ReadCheckout(t.Context(), gateways.CheckoutRef{ID: "cs_1"})
		require.NoError(t, err, states)
		require.Equal(t, want, c.Status, states)
	}
}

// TestErrors is the table of the company's errors.
func TestErrors(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		status int
		body   string
		want   gateways.ErrorKind
	}{
		{400, `{"error":{"type":"invalid_request_error","param":"amount","message":"too small"}}`, gateways.KindRejected},
		{400, `{"error":{"type":"idempotency_error","message":"Keys for idempotent requests"}}`, gateways.KindRejected},
		{401, `{"error":{"type":"invalid_request_error","message":"Invalid API Key provided: sk_test_*****p7dc"}}`, gateways.KindUnauthorized},
		{403, `{"error":{"type":"invalid_request_error","message":"The provided key does not have access"}}`, gateways.KindUnauthorized},
		{404, `{"error":{"type":"invalid_request_error","code":"resource_missing","message":"No such session"}}`, gateways.KindNotFound},
		{404, `{"error":{"type":"invalid_request_error","message":"Unrecognized request URL"}}`, gateways.KindRejected},
		{409, `{"error":{"type":"idempotency_error","code":"idempotency_key_in_use","message":"in use"}}`, gateways.KindInProgress},
		{429, `{"error":{"type":"invalid_request_error","code":"lock_timeout","message":"locked"}}`, gateways.KindInProgress},
		{429, `{"error":{"type":"invalid_request_error","code":"rate_limit","message":"slow down"}}`, gateways.KindRateLimited},
		{500, `{"error":{"type":"api_error","message":"oops"}}`, gateways.KindUnknown},
		{400, `{"error":{"reason":"a proxy's"}}`, gateways.KindUnknown},
		{403, `<html>no</html>`, gateways.KindUnknown},
	} {
		d := driverFor(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			_, _ = w.Write([]byte(tt.body))
		})

		_, err := d.ReadCheckout(t.Context(), gateways.CheckoutRef{ID: "cs_1"})
		requireKind(t, tt.want, err)
		require.NotContains(t, err.Error(), "p7dc")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()

	b := setup(t, nil)
	found, err := b.driver.Check(t.Context(), "https://rihla.test/api/v1/payments/webhook/gateway_a")
	require.NoError(t, err)
	require.Len(t, found, 3)
	require.True(t, found[0].OK)
	require.False(t, found[2].OK, "no such webhook")

	for state, says := range map[string]string{
		`"enabled_events":["*"],"api_version":"2026-03-25.dahlia","status":"enabled"`:                          "is registered. Whether",
		`"enabled_events":["*"],"api_version":null,"status":"enabled"`:                                         "another API version",
		`"enabled_events":["*"],"api_version":"2026-03-25.dahlia","status":"disabled"`:                         "disabled",
		`"enabled_events":["checkout.session.completed"],"api_version":"2026-02-25.dahlia","status":"enabled"`: "without checkout.session.async",
	} {
		d := driverFor(t, func(w http.ResponseWriter, r *http.Request) {
			data := ""
			if strings.Contains(r.URL.Path, "webhook") {
				data = `{"id":"we_1","object":"webhook_endpoint","url":"https://rihla.test/hook",` + state + `}`
			}

			_, _ = fmt.Fprintf(w, `{"object":"list","has_more":false,"data":[%s]}`, data)
		})

		found, err := d.Check(t.Context(), "https://rihla.test/hook")
		require.NoError(t, err)
		require.Contains(t, found[2].Says, says)
	}

	refused := driverFor(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"type":"invalid_request_error","message":"Invalid API Key provided: sk_test_*****p7dc"}}`))
	})
	found, err = refused.Check(t.Context(), "https://rihla.test/hook")
	require.NoError(t, err)
	require.False(t, found[0].OK)
	require.NotContains(t, found[0].Says, "p7dc")
}

func TestMoney(t *testing.T) {
	t.Parallel()

	d := driverFor(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })

	for amount, kind := range map[string]gateways.ErrorKind{
		"0.00": gateways.KindRejected, "999999.99": gateways.KindUnknown, "1000000.00": gateways.KindRejected, "0.01": gateways.KindUnknown,
	} {
		r := gatewaytest.Request()
		r.Amount = models.MustMoney(amount)
		_, err := d.CreateCheckout(t.Context(), r)
		requireKind(t, kind, err)
	}

	r := gatewaytest.Request()
	r.Currency = "KWD"
	_, err := d.CreateCheckout(t.Context(), r)
	requireKind(t, gateways.KindRejected, err)
}
