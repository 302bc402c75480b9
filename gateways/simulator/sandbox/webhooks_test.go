package sandbox_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	sandboxsim "rihla/gateways/simulator/sandbox"
	"rihla/models"
)

func TestWebhooksGoToTheChannelOfTheMethod(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for _, method := range models.PaymentMethods() {
		request := gatewaytest.Request()
		request.Method = method
		c, err := b.driver.CreateCheckout(t.Context(), request)
		require.NoError(t, err)

		before := len(b.inbox.all())
		b.Press(t, c.ID, "succeed")

		event := b.inbox.waitFor(t, before+1)[before]
		require.Equal(t, "/"+method.Channel().Path(), event.path)
		require.Equal(t, models.EventPaymentSucceeded, event.Type)
		require.Equal(t, method, event.Method)
		require.Equal(t, "1150.00", event.Amount.String())
		require.Equal(t, "APPROVED", event.ResultCode)
	}
}

func TestWebhookOfEveryOutcome(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for i, test := range []struct {
		outcome, code string
		event         models.EventType
	}{
		{"succeed", "APPROVED", models.EventPaymentSucceeded},
		{"decline", "DECLINED", models.EventPaymentFailed},
		{"cancel", "CANCELLED", models.EventPaymentFailed},
	} {
		c, err := b.driver.CreateCheckout(t.Context(), gatewaytest.Request())
		require.NoError(t, err)
		b.Press(t, c.ID, test.outcome)
		b.Press(t, c.ID, test.outcome) // once more changes and sends nothing

		event := b.inbox.waitFor(t, i+1)[i]
		require.Equal(t, test.event, event.Type)
		require.Equal(t, test.code, event.ResultCode)
	}

	require.Eventually(t, func() bool { return b.stats(t).WebhooksPending == 0 }, patient, 5*time.Millisecond)
	require.Len(t, b.inbox.all(), 3)
}

func TestWebhooksAreRetriedUntilTheyArrive(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.inbox.refuseNext(3)
	b.paid(t)
	b.inbox.waitFor(t, 1)
	require.Eventually(t, func() bool { return b.stats(t).WebhooksPending == 0 }, patient, 5*time.Millisecond)
	require.Equal(t, 4, b.inbox.attempts())
}

func TestWebhooksSurviveARestart(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.inbox.refuseNext(1_000_000)
	c := b.paid(t)
	require.Eventually(t, func() bool { return b.inbox.attempts() >= 2 }, patient, 5*time.Millisecond)
	b.stop(t)
	require.Empty(t, b.inbox.all())

	b.inbox.refuseNext(0)
	b.start(t, config(b.inbox.URL, b.file))

	event := b.inbox.waitFor(t, 1)[0]
	require.Equal(t, c.MerchantReference, event.MerchantReference)

	got, err := b.driver.ReadCheckout(t.Context(), gateways.CheckoutRef{ID: c.ID})
	require.NoError(t, err)
	require.Equal(t, gateways.CheckoutPaid, got.Status)
}

func TestTimersSurviveARestart(t *testing.T) {
	t.Parallel()

	b := setup(t)
	c := b.paid(t)
	b.inbox.waitFor(t, 1)
	b.Fault(t, `{"operation":"refund","mode":"pending","delay_ms":400}`)

	refund := gateways.RefundRequest{Checkout: gateways.CheckoutRef{ID: c.ID}, MerchantReference: uuid.New(), Amount: c.Amount, Currency: "SAR"}
	_, err := b.driver.CreateRefund(t.Context(), refund)
	require.NoError(t, err)

	request := gatewaytest.Request()
	request.ExpiresAt = time.Now().Add(400 * time.Millisecond)
	_, err = b.driver.CreateCheckout(t.Context(), request)
	require.NoError(t, err)

	b.stop(t)
	b.start(t, config(b.inbox.URL, b.file))

	types := make(map[models.EventType]int)
	for _, event := range b.inbox.waitFor(t, 3) {
		types[event.Type]++
	}

	require.Equal(t, map[models.EventType]int{
		models.EventPaymentSucceeded: 1, models.EventRefundSucceeded: 1, models.EventPaymentExpired: 1,
	}, types)
}

func TestWebhookFaults(t *testing.T) {
	t.Parallel()

	settled := func(t *testing.T, b *bundle) {
		t.Helper()
		require.Eventually(t, func() bool { return b.stats(t).WebhooksPending == 0 }, patient, 5*time.Millisecond)
	}

	for name, test := range map[string]func(*testing.T, *bundle){
		"drop": func(t *testing.T, b *bundle) {
			t.Helper()
			b.paid(t)
			settled(t, b)
			require.Empty(t, b.inbox.all())
			require.Equal(t, 1, b.stats(t).WebhooksDropped)
		},
		"duplicate": func(t *testing.T, b *bundle) {
			t.Helper()
			b.paid(t)
			settled(t, b)

			events := b.inbox.waitFor(t, 2)
			require.Len(t, events, 2)
			require.Equal(t, events[0].Event, events[1].Event)
		},
		"reorder": func(t *testing.T, b *bundle) {
			t.Helper()
			first := b.paid(t)

			require.Eventually(t, func() bool { return faultsLeft(t, b) == 0 }, patient, 5*time.Millisecond)

			second := b.paid(t)
			events := b.inbox.waitFor(t, 2)
			require.Equal(t, second.MerchantReference, events[0].MerchantReference)
			require.Equal(t, first.MerchantReference, events[1].MerchantReference)
		},
		"wrong_amount": func(t *testing.T, b *bundle) {
			t.Helper()
			b.inbox.refuseNext(2) // the lie stays the same over retries
			c := b.paid(t)
			require.Equal(t, "1151.00", b.inbox.waitFor(t, 1)[0].Amount.String())
			b.givesBack(t, c, "1151.00")
		},
		"wrong_currency": func(t *testing.T, b *bundle) {
			t.Helper()
			b.paid(t)
			require.Equal(t, "USD", b.inbox.waitFor(t, 1)[0].Currency)
		},
		"error": func(t *testing.T, b *bundle) {
			t.Helper()
			b.paid(t)
			b.inbox.waitFor(t, 1)
		},
		"timeout_after_effect": func(t *testing.T, b *bundle) {
			t.Helper()
			b.paid(t)
			settled(t, b)

			events := b.inbox.waitFor(t, 2)
			require.Equal(t, events[0].ID, events[1].ID)
		},
		"slow": func(t *testing.T, b *bundle) {
			t.Helper()
			start := time.Now()
			b.paid(t)
			b.inbox.waitFor(t, 1)
			require.GreaterOrEqual(t, time.Since(start), 200*time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			delay := ""

			if name == "slow" {
				delay = `,"delay_ms":200`
			}

			b.Fault(t, `{"operation":"webhook","mode":"`+name+`"`+delay+`}`)
			test(t, b)
		})
	}
}

func TestReorderedWebhookArrivesWithoutANextOne(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.Fault(t, `{"operation":"webhook","mode":"reorder","delay_ms":50}`)
	b.paid(t)
	b.inbox.waitFor(t, 1)
}

func TestRotatedSecretSignsWithBoth(t *testing.T) {
	t.Parallel()

	b := setup(t, func(cfg *sandboxsim.Config) {
		for method, c := range cfg.Merchants[0].Channels {
			c.Secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=," + secret
			cfg.Merchants[0].Channels[method] = c
		}
	})
	b.paid(t)
	b.inbox.waitFor(t, 1)
}

func faultsLeft(t *testing.T, b *bundle) int {
	t.Helper()

	_, list := b.Do(t, http.MethodGet, "/sandbox/faults", "")

	return strings.Count(list, "operation")
}

// That a customer has paid by another method than was asked for comes on the channel of the one that was asked for.
func TestPaidByAnotherMethod(t *testing.T) {
	t.Parallel()

	b := setup(t)
	checkout, ref := b.Opened(t)
	b.PayBy(t, checkout.ID, models.MethodBillPayment)

	event := b.inbox.waitFor(t, 1)[0]
	require.Equal(t, "/"+models.ChannelGatewayA.Path(), event.path)
	require.Equal(t, models.MethodBillPayment, event.Method)

	paid, err := b.driver.ReadCheckout(t.Context(), ref)
	require.NoError(t, err)
	require.Equal(t, models.MethodBillPayment, paid.Method)

	status, answer := b.Do(t, http.MethodPost, "/pay/"+checkout.ID, `{"outcome":"succeed","payment_method":"shells"}`)
	require.Equal(t, http.StatusUnprocessableEntity, status, answer)
}
