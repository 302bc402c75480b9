package sandbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/sandbox"
	"rihla/models"
)

// TestCallFaults: what the driver sees of every fault, and whether there was an effect.
func TestCallFaults(t *testing.T) {
	t.Parallel()

	type outcome struct {
		fault  string
		kind   gateways.ErrorKind
		wait   time.Duration
		effect bool
	}

	for name, test := range map[string]outcome{
		"error":                {fault: `"mode":"error"`, kind: gateways.KindUnknown},
		"error 503":            {fault: `"mode":"error","status":503`, kind: gateways.KindUnknown},
		"rate limit":           {fault: `"mode":"error","status":429,"retry_after":7`, kind: gateways.KindRateLimited, wait: 7 * time.Second},
		"timeout":              {fault: `"mode":"timeout"`, kind: gateways.KindUnknown},
		"timeout_after_effect": {fault: `"mode":"timeout_after_effect"`, kind: gateways.KindUnknown, effect: true},
		"reject":               {fault: `"mode":"reject"`, kind: gateways.KindRejected},
		"slow":                 {fault: `"mode":"slow","delay_ms":400`, kind: gateways.KindUnknown, effect: true},
	} {
		t.Run("create_checkout/"+name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.Fault(t, `{"operation":"create_checkout",`+test.fault+`}`)

			request := gatewaytest.Request()
			_, err := b.hasty(t).CreateCheckout(t.Context(), request)
			requireKind(t, err, test.kind, test.wait)

			if test.effect {
				require.Eventually(t, func() bool { return b.stats(t).Checkouts == 1 }, patient, 10*time.Millisecond)
			} else {
				require.Zero(t, b.stats(t).Checkouts)
			}

			// A retry with the same key ends in exactly one checkout, unless the first answer was final.
			_, err = b.driver.CreateCheckout(t.Context(), request)
			if test.kind == gateways.KindRejected {
				requireKind(t, err, gateways.KindRejected, 0)

				return
			}

			require.NoError(t, err)
			require.Equal(t, 1, b.stats(t).Checkouts)
		})

		t.Run("refund/"+name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			c := b.paid(t)
			b.Fault(t, `{"operation":"refund",`+test.fault+`}`)

			request := gateways.RefundRequest{Checkout: gateways.CheckoutRef{ID: c.ID}, MerchantReference: uuid.New(), Amount: c.Amount, Currency: "SAR"}
			_, err := b.hasty(t).CreateRefund(t.Context(), request)
			requireKind(t, err, test.kind, test.wait)

			if test.effect {
				require.Eventually(t, func() bool { return b.stats(t).Refunds == 1 }, patient, 10*time.Millisecond)
			} else {
				require.Zero(t, b.stats(t).Refunds)
			}

			_, err = b.driver.CreateRefund(t.Context(), request)
			if test.kind != gateways.KindRejected {
				require.NoError(t, err)
				require.Equal(t, "1150.00", b.stats(t).RefundedAmount.String())
			}
		})

		t.Run("status and cancel/"+name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			c := b.paid(t)

			for _, call := range []func(*sandbox.Driver) error{
				func(d *sandbox.Driver) error {
					_, err := d.ReadCheckout(t.Context(), gateways.CheckoutRef{ID: c.ID})
					return err
				},
				func(d *sandbox.Driver) error {
					_, err := d.ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: c.MerchantReference})
					return err
				},
				func(d *sandbox.Driver) error {
					_, err := d.ReadRefund(t.Context(), gateways.RefundRef{ID: "re_1"})
					return err
				},
				func(d *sandbox.Driver) error {
					_, err := d.ReadRefund(t.Context(), gateways.RefundRef{MerchantReference: uuid.New()})
					return err
				},
			} {
				b.Fault(t, `{"operation":"status",`+test.fault+`}`)
				requireKind(t, call(b.hasty(t)), test.kind, test.wait)
			}

			b.Fault(t, `{"operation":"cancel",`+test.fault+`}`)

			_, err := b.hasty(t).CancelCheckout(t.Context(), gateways.CheckoutRef{ID: c.ID})
			requireKind(t, err, test.kind, test.wait)
		})
	}
}

func requireKind(t *testing.T, err error, kind gateways.ErrorKind, wait time.Duration) {
	t.Helper()

	var e *gateways.Error

	require.ErrorAs(t, err, &e)
	require.Equal(t, kind, e.Kind, err.Error())
	require.Equal(t, wait, e.RetryAfter)
}

func (b *bundle) paid(t *testing.T) gateways.Checkout {
	t.Helper()

	c, err := b.driver.CreateCheckout(t.Context(), gatewaytest.Request())
	require.NoError(t, err)
	b.Press(t, c.ID, "succeed")

	return c
}

func TestFaultsAreFirstInFirstOutPerOperation(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.Fault(t, `{"operation":"create_checkout","mode":"error","times":2}`)
	b.Fault(t, `{"operation":"create_checkout","mode":"reject"}`)
	b.Fault(t, `{"operation":"create_checkout","mode":"error","merchant":"other"}`)

	for _, kind := range []gateways.ErrorKind{gateways.KindUnknown, gateways.KindUnknown, gateways.KindRejected} {
		_, err := b.driver.CreateCheckout(t.Context(), gatewaytest.Request())
		requireKind(t, err, kind, 0)
	}

	_, err := b.driver.CreateCheckout(t.Context(), gatewaytest.Request())
	require.NoError(t, err, "the last fault is another merchant's")

	_, list := b.Do(t, http.MethodGet, "/sandbox/faults", "")
	require.Contains(t, list, "other")

	status, _ := b.Do(t, http.MethodDelete, "/sandbox/faults", "")
	require.Equal(t, http.StatusNoContent, status)

	_, list = b.Do(t, http.MethodGet, "/sandbox/faults", "")
	require.JSONEq(t, `{"data":[]}`, list)
}

func TestFaultsThatMakeNoSense(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for _, body := range []string{
		`{}`, `{"operation":"refund"}`, `{"operation":"create_checkout","mode":"drop"}`, `{"operation":"webhook","mode":"pending"}`,
		`{"operation":"refund","mode":"error","times":0}`, `{"operation":"refund","mode":"error","status":200}`,
		`{"operation":"refund","mode":"reject","status":500}`, `{"operation":"refund","mode":"slow","delay_ms":-1}`,
		`{"operation":"refund","mode":"slow","delay_ms":600000}`, `{"operation":"refund","mode":"pending","outcome":"maybe"}`,
		`{"operation":"refund","mode":"error","merchant":"nobody"}`, `{"operation":"refund","mode":"error","times":"2"}`,
	} {
		status, answer := b.Do(t, http.MethodPost, "/sandbox/faults", body)
		require.Equal(t, http.StatusUnprocessableEntity, status, body)
		require.Contains(t, answer, "invalid_request")
	}
}

func TestPendingRefund(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		fault, decide string
		status        gateways.RefundStatus
		event         models.EventType
		refunded      string
	}{
		"decided to succeed":  {``, "succeed", gateways.RefundSucceeded, models.EventRefundSucceeded, "1150.00"},
		"decided to fail":     {``, "fail", gateways.RefundFailed, models.EventRefundFailed, "0.00"},
		"succeeds by itself":  {`,"delay_ms":50`, "", gateways.RefundSucceeded, models.EventRefundSucceeded, "1150.00"},
		"fails by itself":     {`,"delay_ms":50,"outcome":"fail"`, "", gateways.RefundFailed, models.EventRefundFailed, "0.00"},
		"decided before time": {`,"delay_ms":600000`, "fail", gateways.RefundFailed, models.EventRefundFailed, "0.00"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			c := b.paid(t)
			b.inbox.waitFor(t, 1)
			b.Fault(t, `{"operation":"refund","mode":"pending"`+test.fault+`}`)

			request := gateways.RefundRequest{Checkout: gateways.CheckoutRef{ID: c.ID}, MerchantReference: uuid.New(), Amount: c.Amount, Currency: "SAR"}
			r, err := b.driver.CreateRefund(t.Context(), request)
			require.NoError(t, err)
			require.Equal(t, gateways.RefundPending, r.Status)

			// While pending it counts: another refund does not fit.
			second := request
			second.MerchantReference = uuid.New()

			if test.fault == "" {
				_, err = b.driver.CreateRefund(t.Context(), second)
				requireKind(t, err, gateways.KindRejected, 0)
			}

			if test.decide != "" {
				for range 2 {
					status, answer := b.Do(t, http.MethodPost, "/sandbox/refunds/"+r.ID+"/decide", `{"outcome":"`+test.decide+`"}`)
					require.Equal(t, http.StatusOK, status, answer)
				}
			}

			event := b.inbox.waitFor(t, 2)[1]
			require.Equal(t, test.event, event.Type)
			require.Equal(t, request.MerchantReference, event.MerchantReference)
			require.Equal(t, r.ID, event.RefundID)
			require.Equal(t, c.ID, event.CheckoutID)

			got, err := b.driver.ReadRefund(t.Context(), gateways.RefundRef{MerchantReference: request.MerchantReference})
			require.NoError(t, err)
			require.Equal(t, test.status, got.Status)
			require.Equal(t, test.refunded, b.stats(t).RefundedAmount.String())
		})
	}
}

func TestStatusThatLies(t *testing.T) {
	t.Parallel()

	b := setup(t)
	c := b.paid(t)
	b.Fault(t, `{"operation":"status","mode":"wrong_amount"}`)
	b.Fault(t, `{"operation":"status","mode":"wrong_currency"}`)

	got, err := b.driver.ReadCheckout(t.Context(), gateways.CheckoutRef{ID: c.ID})
	require.NoError(t, err)
	require.Equal(t, "1151.00", got.Amount.String())
	b.givesBack(t, c, "1151.00")

	got, err = b.driver.ReadCheckout(t.Context(), gateways.CheckoutRef{MerchantReference: c.MerchantReference})
	require.NoError(t, err)
	require.Equal(t, "USD", got.Currency)
}

// givesBack refunds what the gateway has said that it took, and not a halala more.
func (b *bundle) givesBack(t *testing.T, c gateways.Checkout, claimed string) {
	t.Helper()

	more := gateways.RefundRequest{
		Checkout: gateways.CheckoutRef{ID: c.ID}, MerchantReference: uuid.New(), Amount: models.MustMoney(claimed).Add(models.Halalas(1)), Currency: c.Currency,
	}
	_, err := b.driver.CreateRefund(t.Context(), more)
	require.Equal(t, gateways.KindRejected, gateways.KindOf(err))

	all := more
	all.MerchantReference, all.Amount = uuid.New(), models.MustMoney(claimed)
	given, err := b.driver.CreateRefund(t.Context(), all)
	require.NoError(t, err)
	require.Equal(t, gateways.RefundSucceeded, given.Status)
}
