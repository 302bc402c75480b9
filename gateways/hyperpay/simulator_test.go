package hyperpay_test

import (
	"crypto/sha512"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/hyperpay"
	"rihla/gateways/simulator/engine"
	hyperpaysim "rihla/gateways/simulator/hyperpay"
	"rihla/models"
)

// inbox is where the simulator's webhooks go.
type inbox struct {
	*httptest.Server

	mu     sync.Mutex
	events []gateways.Event
	bodies []string
}

func newInbox(t *testing.T) *inbox {
	t.Helper()

	v, box := verifier(t, false, keyOld), &inbox{}
	box.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}

		e, err := v.Verify(r.Header, body, time.Now())
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)

			return
		}

		box.mu.Lock()
		defer box.mu.Unlock()

		box.events = append(box.events, e)
		box.bodies = append(box.bodies, string(body))
	}))
	t.Cleanup(box.Close)

	return box
}

// waitFor waits for an event.
func (b *inbox) waitFor(t *testing.T, is func(gateways.Event) bool) gateways.Event {
	t.Helper()

	var found gateways.Event

	require.Eventually(t, func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()

		for _, e := range b.events {
			if is(e) {
				found = e

				return true
			}
		}

		return false
	}, patient, 5*time.Millisecond)

	return found
}

func (b *inbox) waitForType(t *testing.T, kind models.EventType) gateways.Event {
	t.Helper()

	return b.waitFor(t, func(e gateways.Event) bool { return e.Type == kind })
}

func refundFor(c gateways.Checkout, request gateways.CheckoutRequest, amount string) gateways.RefundRequest {
	return gateways.RefundRequest{
		Checkout: gatewaytest.RefOf(request, c), MerchantReference: uuid.New(), Amount: models.MustMoney(amount), Currency: "SAR",
	}
}

// TestStory: a card is declined, another one is taken, and part of it goes back; every step is a message.
func TestStory(t *testing.T) {
	t.Parallel()

	for name, wrapped := range map[string]bool{"as text": false, "in JSON": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			box := newInbox(t)
			b := setup(t, hyperpaysim.Settings{Wrapped: wrapped}, box.URL)
			request := gatewaytest.Request()

			c, err := b.driver.CreateCheckout(t.Context(), request)
			require.NoError(t, err)

			b.Press(t, c.ID, "decline")
			declined := box.waitForType(t, models.EventNotice)
			require.Equal(t, "800.100.152", declined.ResultCode)
			require.Equal(t, request.MerchantReference, declined.MerchantReference)
			require.Equal(t, c.ID, declined.CheckoutID)
			require.NotEmpty(t, declined.FailureReason)

			open, err := b.driver.ReadCheckout(t.Context(), gateways.CheckoutRef{
				ID: c.ID, MerchantReference: request.MerchantReference, Method: request.Method, Amount: request.Amount,
				Currency: request.Currency, CreatedAt: time.Now(), OpenedAt: time.Now(),
			})
			require.NoError(t, err)
			require.Equal(t, gateways.CheckoutOpen, open.Status, "another card may be tried")
			require.Equal(t, "800.100.152", open.ResultCode)
			require.NotEmpty(t, open.FailureReason)
			require.NotEmpty(t, open.PaymentID)

			b.Press(t, c.ID, "succeed")
			paid := box.waitForType(t, models.EventPaymentSucceeded)
			require.Equal(t, c.ID, paid.CheckoutID)
			require.Equal(t, "1150.00", paid.Amount.String())
			require.NotEqual(t, declined.ID, paid.ID)

			refund, err := b.driver.CreateRefund(t.Context(), refundFor(c, request, "50.00"))
			require.NoError(t, err)

			back := box.waitForType(t, models.EventRefundSucceeded)
			require.Equal(t, refund.MerchantReference, back.MerchantReference)
			require.Equal(t, refund.ID, back.RefundID)
			require.Equal(t, "50.00", back.Amount.String())

			box.mu.Lock()
			defer box.mu.Unlock()

			for _, body := range box.bodies {
				require.Equal(t, wrapped, body[0] == '{')
				require.NotContains(t, body, request.MerchantReference.String())
			}
		})
	}
}

// TestRefundDecidedLater: a pending refund, and one that the bank declines.
func TestRefundDecidedLater(t *testing.T) {
	t.Parallel()

	box := newInbox(t)
	b := setup(t, hyperpaysim.Settings{}, box.URL)
	request := gatewaytest.Request()
	c, err := b.driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	b.Press(t, c.ID, "succeed")

	for outcome, want := range map[string]gateways.RefundStatus{"succeed": gateways.RefundSucceeded, "fail": gateways.RefundFailed} {
		b.Fault(t, `{"operation":"refund","mode":"pending"}`)

		order := refundFor(c, request, "10.00")
		f, err := b.driver.CreateRefund(t.Context(), order)
		require.NoError(t, err)
		require.Equal(t, gateways.RefundPending, f.Status)

		status, said := b.Do(t, http.MethodPost, "/sandbox/refunds/"+f.ID+"/decide", `{"outcome":"`+outcome+`"}`, "Content-Type", "application/json", "Accept", "application/json")
		require.Equal(t, http.StatusOK, status, said)

		got, err := b.driver.ReadRefund(t.Context(), order.Ref())
		require.NoError(t, err)
		require.Equal(t, want, got.Status)
		require.Equal(t, "10.00", got.Amount.String())

		kind := models.EventRefundSucceeded
		if want == gateways.RefundFailed {
			kind = models.EventRefundFailed
		}

		require.Equal(t, order.MerchantReference, box.waitForType(t, kind).MerchantReference)
	}
}

// TestAfterHalfAnHour: the company knows the checkout no more, and the report still has the payment.
func TestAfterHalfAnHour(t *testing.T) {
	t.Parallel()

	b := setup(t, hyperpaysim.Settings{}, "")
	request := gatewaytest.Request()
	c, err := b.driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	b.Press(t, c.ID, "succeed")

	b.ahead.Store(int64(31 * time.Minute))

	got, err := b.driver.ReadCheckout(t.Context(), gatewaytest.RefOf(request, c))
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutPaid, got.Status)

	// Late money of a checkout that was never paid in time.
	late := gatewaytest.Request()
	c, err = b.driver.CreateCheckout(t.Context(), late)
	require.NoError(t, err)
	b.ahead.Store(int64(3 * time.Hour))

	got, err = b.driver.ReadCheckout(t.Context(), gatewaytest.RefOf(late, c))
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutExpired, got.Status)

	status, said := b.Do(t, http.MethodPost, "/sandbox/checkouts/"+c.ID+"/late-payment", "{}", "Content-Type", "application/json", "Accept", "application/json")
	require.Equal(t, http.StatusOK, status, said)

	got, err = b.driver.ReadCheckout(t.Context(), gatewaytest.RefOf(late, c))
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutPaid, got.Status)
}

// TestLagOfTheReport: a payment that the report does not show yet is paid by the checkout's id, and can be given back.
func TestLagOfTheReport(t *testing.T) {
	t.Parallel()

	b := setup(t, hyperpaysim.Settings{Lag: 2 * time.Minute}, "")
	request := gatewaytest.Request()
	c, err := b.driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	b.Press(t, c.ID, "succeed")

	byID := gatewaytest.RefOf(request, c)

	_, err = b.driver.ReadCheckout(t.Context(), request.Ref())
	require.Equal(t, gateways.KindNotFound, gateways.KindOf(err))

	got, err := b.driver.ReadCheckout(t.Context(), byID)
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutPaid, got.Status)

	order := refundFor(c, request, "10.00")
	_, err = b.driver.CreateRefund(t.Context(), order)
	require.NoError(t, err)

	_, err = b.driver.ReadRefund(t.Context(), order.Ref())
	require.Equal(t, gateways.KindNotFound, gateways.KindOf(err))

	b.ahead.Store(int64(3 * time.Minute))

	_, err = b.driver.ReadRefund(t.Context(), order.Ref())
	require.NoError(t, err)
}

// TestThrottling: after nine questions about a checkout the report is asked, and after two about that the answer is to wait.
func TestThrottling(t *testing.T) {
	t.Parallel()

	b := setup(t, hyperpaysim.Settings{Throttled: true}, "")
	request := gatewaytest.Request()
	c, err := b.driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	b.Press(t, c.ID, "succeed")

	for range 11 {
		got, err := b.driver.ReadCheckout(t.Context(), gatewaytest.RefOf(request, c))
		require.NoError(t, err)
		require.Equal(t, gateways.CheckoutPaid, got.Status)
	}

	_, err = b.driver.ReadCheckout(t.Context(), gatewaytest.RefOf(request, c))
	require.Equal(t, gateways.KindRateLimited, gateways.KindOf(err))

	_, err = b.driver.CreateRefund(t.Context(), refundFor(c, request, "1.00"))
	require.NoError(t, err, "the payment's id is remembered")

	b.ahead.Store(int64(time.Minute))

	_, err = b.driver.ReadCheckout(t.Context(), gatewaytest.RefOf(request, c))
	require.NoError(t, err)
}

// TestEntities: nothing of one entity is found with another one.
func TestEntities(t *testing.T) {
	t.Parallel()

	b := setup(t, hyperpaysim.Settings{}, "")
	request := gatewaytest.Request()
	c, err := b.driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)
	b.Press(t, c.ID, "succeed")

	other := gatewaytest.RefOf(request, c)
	other.Method = models.MethodDebitNetwork

	_, err = b.driver.ReadCheckout(t.Context(), other)
	require.Equal(t, gateways.KindNotFound, gateways.KindOf(err))
}

// TestWidget: the script is the one whose hash the checkout's page has, and browsers may check it.
func TestWidget(t *testing.T) {
	t.Parallel()

	b := setup(t, hyperpaysim.Settings{}, "")
	c, err := b.driver.CreateCheckout(t.Context(), gatewaytest.Request())
	require.NoError(t, err)

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.URL+"/v1/paymentWidgets.js?checkoutId="+c.ID, nil)
	require.NoError(t, err)

	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)

	defer res.Body.Close()

	script, err := io.ReadAll(res.Body)
	require.NoError(t, err)

	sum := sha512.Sum384(script)
	require.Equal(t, c.PageData[hyperpay.DataIntegrity], "sha384-"+base64.StdEncoding.EncodeToString(sum[:]))
	require.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, b.URL, c.PageData[hyperpay.DataOrigin])

	d := pageData()
	d.CheckoutID, d.Checkout = c.ID, c.PageData
	require.Contains(t, rendered(t, d), `src="`+b.URL+"/v1/paymentWidgets.js")

	_, err = hyperpay.ContentPolicy(c.PageData[hyperpay.DataOrigin], d.Nonce, false)
	require.NoError(t, err)
}

// TestSimulatorRefuses: what the company refuses, in its own words.
func TestSimulatorRefuses(t *testing.T) {
	t.Parallel()

	_, err := hyperpaysim.New(engine.Config{Merchants: []engine.Merchant{{
		Name: "shop", APIKey: token, Channels: map[models.PaymentMethod]engine.Channel{models.MethodCreditCard: {Secret: "short"}},
	}}})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "short")

	b := setup(t, hyperpaysim.Settings{}, "")
	entity := hyperpaysim.Entity("shop", models.MethodCreditCard)

	for name, test := range map[string]struct {
		method, path, form, key string
		status                  int
		code                    string
	}{
		"no token":       {http.MethodGet, "/v1/query?entityId=" + entity + "&merchantTransactionId=x", "", "x", 401, "800.900.300"},
		"no entity":      {http.MethodGet, "/v1/query?merchantTransactionId=x", "", token, 403, "800.900.303"},
		"no reference":   {http.MethodGet, "/v1/query?entityId=" + entity, "", token, 400, "200.300.404"},
		"nothing there":  {http.MethodGet, "/v1/query/" + payment + "?entityId=" + entity, "", token, 404, "700.400.580"},
		"no amount":      {http.MethodPost, "/v1/checkouts", "entityId=" + entity + "&paymentType=DB&currency=SAR", token, 400, "200.300.404"},
		"one decimal":    {http.MethodPost, "/v1/checkouts", "entityId=" + entity + "&paymentType=DB&currency=SAR&amount=1.5", token, 400, "200.300.404"},
		"a reversal":     {http.MethodPost, "/v1/payments/" + payment, "entityId=" + entity + "&paymentType=RV&amount=1.00", token, 400, "200.300.404"},
		"no payment":     {http.MethodPost, "/v1/payments/" + payment, "entityId=" + entity + "&paymentType=RF&amount=1.00&currency=SAR", token, 400, "700.400.580"},
		"another method": {http.MethodDelete, "/v1/checkouts", "", token, 405, "200.100.101"},
	} {
		req := httptest.NewRequestWithContext(t.Context(), test.method, test.path, http.NoBody)
		if test.form != "" {
			req = httptest.NewRequestWithContext(t.Context(), test.method, test.path, strings.NewReader(test.form))
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}

		req.Header.Set("Authorization", "Bearer "+test.key)

		res := httptest.NewRecorder()
		b.server.Handler().ServeHTTP(res, req)
		require.Equal(t, test.status, res.Code, "%s: %s", name, res.Body)
		require.Contains(t, res.Body.String(), `"code":"`+test.code+`"`, name)
	}
}
