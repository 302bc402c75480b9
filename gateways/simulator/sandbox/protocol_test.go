package sandbox_test

import (
	"fmt"
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
	"rihla/gateways/sandbox"
	sandboxsim "rihla/gateways/simulator/sandbox"
	"rihla/models"
)

func TestDriverAgainstServer(t *testing.T) {
	t.Parallel()

	gatewaytest.Run(t, func(t *testing.T) gatewaytest.Subject {
		t.Helper()

		var ahead atomic.Int64 // of the sandbox's clock

		// A sandbox of its own: a fault hits the next call, of any test.
		b := setup(t, func(cfg *sandboxsim.Config) {
			cfg.Clock = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
		})

		return gatewaytest.Subject{
			Gateway:  b.driver,
			Pay:      func(t *testing.T, c gateways.Checkout) { t.Helper(); b.Press(t, c.ID, "succeed") },
			Decline:  func(t *testing.T, c gateways.Checkout) { t.Helper(); b.Press(t, c.ID, "decline") },
			PayAgain: func(t *testing.T, c gateways.Checkout) { t.Helper(); b.PayAgain(t, c) },
			Expire:   func(*testing.T, gateways.Checkout) { ahead.Store(int64(2 * time.Hour)) },
			Conflict: func(t *testing.T) func() {
				t.Helper()
				b.Fault(t, `{"operation":"create_checkout","mode":"conflict","delay_ms":300}`)
				b.Fault(t, `{"operation":"refund","mode":"conflict","delay_ms":300}`)

				return func() {}
			},
			Lag: func(t *testing.T) { t.Helper(); b.Fault(t, `{"operation":"status","mode":"find_lag","times":2}`) },
		}
	})
}

func TestDriverOverABrokenWire(t *testing.T) {
	t.Parallel()

	gatewaytest.RunWire(t, func(t *testing.T) gatewaytest.Wire {
		t.Helper()
		b := setup(t)

		return gatewaytest.Wire{
			Company: b.server.Handler(),
			Open: func(t *testing.T, url string) gateways.Gateway {
				t.Helper()

				driver, err := sandbox.New(sandbox.Config{BaseURL: url, APIKey: apiKey, Timeout: gatewaytest.WireTimeout})
				require.NoError(t, err)

				return driver
			},
			Pay:     func(t *testing.T, c gateways.Checkout) { t.Helper(); b.Press(t, c.ID, "succeed") },
			Secrets: []string{apiKey},
		}
	})
}

func checkoutBody(reference, amount string) string {
	return fmt.Sprintf(`{"merchant_reference":%q,"amount":%s,"currency":"SAR","payment_method":"credit_card",
		"description":"d","return_url":"","expires_at":%q}`, reference, amount, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
}

func TestBadInput(t *testing.T) {
	t.Parallel()

	b := setup(t)
	good := checkoutBody(uuid.NewString(), "10.00")

	for name, test := range map[string]struct {
		method, path, body string
		header             []string
		status             int
		code               string
	}{
		"no key":                     {method: http.MethodPost, path: "/v1/checkouts", body: good, header: []string{"Authorization", ""}, status: 401, code: "unauthorized"},
		"a wrong key":                {method: http.MethodGet, path: "/v1/refunds/x", header: []string{"Authorization", "Bearer x"}, status: 401, code: "unauthorized"},
		"no idempotency key":         {method: http.MethodPost, path: "/v1/checkouts", body: good, status: 400, code: "idempotency_key_required"},
		"not JSON":                   {method: http.MethodPost, path: "/v1/checkouts", body: "{", status: 400, code: "malformed_request"},
		"a list":                     {method: http.MethodPost, path: "/v1/refunds", body: "[]", status: 400, code: "malformed_request"},
		"too large":                  {method: http.MethodPost, path: "/v1/checkouts", body: `{"a":"` + strings.Repeat("x", 70_000) + `"}`, status: 413, code: "payload_too_large"},
		"amount as text":             {method: http.MethodPost, path: "/v1/checkouts", body: strings.Replace(good, "10.00", `"10.00"`, 1), status: 422, code: "invalid_request"},
		"three decimals":             {method: http.MethodPost, path: "/v1/checkouts", body: strings.Replace(good, "10.00", "10.005", 1), status: 422, code: "invalid_request"},
		"no amount":                  {method: http.MethodPost, path: "/v1/checkouts", body: strings.Replace(good, `"amount":10.00,`, "", 1), status: 422, code: "invalid_request"},
		"zero":                       {method: http.MethodPost, path: "/v1/checkouts", body: strings.Replace(good, "10.00", "0.00", 1), status: 422, code: "invalid_request"},
		"a wrong type":               {method: http.MethodPost, path: "/v1/checkouts", body: strings.Replace(good, `"SAR"`, "1", 1), status: 422, code: "invalid_request"},
		"a method not ours":          {method: http.MethodPost, path: "/v1/checkouts", body: strings.Replace(good, "credit_card", "cash", 1), status: 422, code: "invalid_request"},
		"a script as return":         {method: http.MethodPost, path: "/v1/checkouts", body: strings.Replace(good, `"return_url":""`, `"return_url":"javascript:alert(1)"`, 1), status: 422, code: "invalid_request"},
		"a host with a policy in it": {method: http.MethodPost, path: "/v1/checkouts", body: strings.Replace(good, `"return_url":""`, `"return_url":"https://x;script-src/"`, 1), status: 422, code: "invalid_request"},
		"already expired":            {method: http.MethodPost, path: "/v1/checkouts", body: strings.Replace(good, `"expires_at":"2`, `"expires_at":"1`, 1), header: []string{"Idempotency-Key", "past"}, status: 422, code: "expires_at_past"},
		"a search for all":           {method: http.MethodGet, path: "/v1/checkouts", status: 422, code: "invalid_request"},
		"no such page":               {method: http.MethodGet, path: "/v2", status: 404, code: "not_found"},
		"no such method":             {method: http.MethodPut, path: "/v1/checkouts", status: 405, code: "method_not_allowed"},
		"no such outcome":            {method: http.MethodPost, path: "/pay/co_1", body: `{"outcome":"steal"}`, status: 422, code: "invalid_request"},
		"no such checkout":           {method: http.MethodPost, path: "/pay/co_1", body: `{"outcome":"succeed"}`, status: 404, code: "not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			status, answer := b.Do(t, test.method, test.path, test.body, test.header...)
			require.Equal(t, test.status, status, answer)
			require.Contains(t, answer, `"error":{"code":"`+test.code+`"`)
		})
	}
}

func TestIdempotency(t *testing.T) {
	t.Parallel()

	b := setup(t)
	key := uuid.NewString()
	body := checkoutBody(key, "10.00")

	var (
		all     sync.WaitGroup
		mu      sync.Mutex
		answers = make(map[string]int)
	)

	for range 16 {
		all.Go(func() {
			status, answer := b.Do(t, http.MethodPost, "/v1/checkouts", body, "Idempotency-Key", key)

			for status == http.StatusConflict { // the first one is at it
				status, answer = b.Do(t, http.MethodPost, "/v1/checkouts", body, "Idempotency-Key", key)
			}

			mu.Lock()
			defer mu.Unlock()

			answers[fmt.Sprint(status, answer)]++
		})
	}

	all.Wait()
	require.Len(t, answers, 1, "all the same answer")
	require.Equal(t, 1, b.stats(t).Checkouts, "one effect")

	status, answer := b.Do(t, http.MethodPost, "/v1/checkouts", strings.Replace(body, "10.00", "10.01", 1), "Idempotency-Key", key)
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, answer, "idempotency_key_reused")

	// A final refusal is an answer too.
	refund := `{"checkout_id":"co_unknown","merchant_reference":"r1","amount":1.00,"currency":"SAR"}`
	status, first := b.Do(t, http.MethodPost, "/v1/refunds", refund, "Idempotency-Key", "r1")
	require.Equal(t, http.StatusNotFound, status)

	status, again := b.Do(t, http.MethodPost, "/v1/refunds", refund, "Idempotency-Key", "r1")
	require.Equal(t, http.StatusNotFound, status)
	require.Equal(t, first, again)

	// Another merchant's keys are its own.
	status, _ = b.Do(t, http.MethodPost, "/v1/refunds", strings.Replace(refund, "r1", "r2", 1), "Idempotency-Key", "r1", "Authorization", "Bearer other-key")
	require.Equal(t, http.StatusNotFound, status)
}

func TestOneReferenceOneCheckout(t *testing.T) {
	t.Parallel()

	b := setup(t)
	body := checkoutBody(uuid.NewString(), "10.00")

	status, _ := b.Do(t, http.MethodPost, "/v1/checkouts", body, "Idempotency-Key", "a")
	require.Equal(t, http.StatusCreated, status)

	status, answer := b.Do(t, http.MethodPost, "/v1/checkouts", body, "Idempotency-Key", "b")
	require.Equal(t, http.StatusUnprocessableEntity, status)
	require.Contains(t, answer, "duplicate_reference")
}

func TestMerchantsDoNotSeeEachOther(t *testing.T) {
	t.Parallel()

	b := setup(t)
	c, err := b.driver.CreateCheckout(t.Context(), gatewaytest.Request())
	require.NoError(t, err)

	for _, path := range []string{"/v1/checkouts/" + c.ID, "/v1/checkouts?merchant_reference=" + c.MerchantReference.String()} {
		status, answer := b.Do(t, http.MethodGet, path, "", "Authorization", "Bearer other-key")
		require.NotContains(t, answer, c.ID)
		require.Contains(t, []int{http.StatusNotFound, http.StatusOK}, status)
	}

	status, _ := b.Do(t, http.MethodPost, "/v1/checkouts/"+c.ID+"/cancel", "", "Authorization", "Bearer other-key")
	require.Equal(t, http.StatusNotFound, status)
}

// TestParallelRefunds: however many at once and of whatever size, never more than was paid, and the
// books agree with each other.
func TestParallelRefunds(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for round := range 5 {
		c, err := b.driver.CreateCheckout(t.Context(), gatewaytest.Request())
		require.NoError(t, err)
		b.Press(t, c.ID, "succeed")

		var all sync.WaitGroup

		results := make([]models.Money, 8)

		for i := range results {
			all.Go(func() {
				amount := models.Halalas(int64(10_000 * (i + 1 + round)))

				r, err := b.driver.CreateRefund(t.Context(), gateways.RefundRequest{
					Checkout: gateways.CheckoutRef{ID: c.ID}, MerchantReference: uuid.New(), Amount: amount, Currency: "SAR",
				})
				if err == nil {
					results[i] = r.Amount
				}
			})
		}

		all.Wait()

		got, err := b.driver.ReadCheckout(t.Context(), gateways.CheckoutRef{ID: c.ID})
		require.NoError(t, err)
		require.LessOrEqual(t, got.RefundedAmount.Cmp(got.Amount), 0)
		require.Equal(t, models.Sum(results...).String(), got.RefundedAmount.String())
	}

	s := b.stats(t)
	require.Equal(t, "5750.00", s.PaidAmount.String())
	require.LessOrEqual(t, s.RefundedAmount.Cmp(s.PaidAmount), 0)
}

func TestExpiry(t *testing.T) {
	t.Parallel()

	clock := &fakeClock{now: time.Now()}
	b := setup(t, func(cfg *sandboxsim.Config) { cfg.Clock = clock.read })

	request := gatewaytest.Request()
	c, err := b.driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)

	clock.set(request.ExpiresAt)

	// It cannot be paid from this moment on, whether or not the timer has fired.
	status, answer := b.Do(t, http.MethodPost, "/pay/"+c.ID, `{"outcome":"succeed"}`)
	require.Equal(t, http.StatusConflict, status, answer)

	got, err := b.driver.ReadCheckout(t.Context(), gateways.CheckoutRef{ID: c.ID})
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutExpired, got.Status)
	require.Equal(t, 1, b.stats(t).ExpiredCount)
}

func TestExpiryByTimerSendsWebhook(t *testing.T) {
	t.Parallel()

	b := setup(t)
	request := gatewaytest.Request()
	request.ExpiresAt = time.Now().Add(300 * time.Millisecond)

	_, err := b.driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)

	event := b.inbox.waitFor(t, 1)[0]
	require.Equal(t, models.EventPaymentExpired, event.Type)
	require.Equal(t, request.MerchantReference, event.MerchantReference)
}

func TestLatePayment(t *testing.T) {
	t.Parallel()

	b := setup(t)
	c, err := b.driver.CreateCheckout(t.Context(), gatewaytest.Request())
	require.NoError(t, err)
	_, err = b.driver.CancelCheckout(t.Context(), gateways.CheckoutRef{ID: c.ID})
	require.NoError(t, err)

	status, answer := b.Do(t, http.MethodPost, "/sandbox/checkouts/"+c.ID+"/late-payment", "")
	require.Equal(t, http.StatusOK, status, answer)
	require.Equal(t, models.EventPaymentSucceeded, b.inbox.waitFor(t, 1)[0].Type)
	require.Equal(t, 1, b.stats(t).PaidCount)
}

func TestLedger(t *testing.T) {
	t.Parallel()

	b := setup(t)
	c, err := b.driver.CreateCheckout(t.Context(), gatewaytest.Request())
	require.NoError(t, err)
	b.Press(t, c.ID, "succeed")

	status, answer := b.Do(t, http.MethodGet, "/sandbox/ledger", "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, answer, c.MerchantReference.String())
	require.Contains(t, answer, `"merchant":"shop"`)
	require.Contains(t, answer, `"refunds":[]`)
	require.NotContains(t, answer, apiKey)
}

type fakeClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *fakeClock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.now
}

func (c *fakeClock) set(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.now = to
}
