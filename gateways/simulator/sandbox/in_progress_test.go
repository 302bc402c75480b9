package sandbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/gateways"
)

// While a request runs, another one with its key is answered 409 and has no effect; afterwards it gets the first one's answer.
func TestRequestInProgress(t *testing.T) {
	t.Parallel()

	b := setup(t)
	c := b.paid(t)
	b.Fault(t, `{"operation":"refund","mode":"slow","delay_ms":700}`)

	request := gateways.RefundRequest{Checkout: gateways.CheckoutRef{ID: c.ID}, MerchantReference: uuid.New(), Amount: c.Amount, Currency: "SAR"}

	_, err := b.hasty(t).CreateRefund(t.Context(), request) // its caller leaves after 250 ms
	require.Equal(t, gateways.KindUnknown, gateways.KindOf(err))

	_, err = b.driver.CreateRefund(t.Context(), request)
	require.Equal(t, gateways.KindInProgress, gateways.KindOf(err), "%v", err)

	_, err = b.driver.ReadRefund(t.Context(), gateways.RefundRef{MerchantReference: request.MerchantReference})
	require.Equal(t, gateways.KindNotFound, gateways.KindOf(err), "it is not made yet")

	require.Eventually(t, func() bool {
		_, err = b.driver.CreateRefund(t.Context(), request)

		return err == nil
	}, patient, 20*time.Millisecond)
	require.Equal(t, 1, b.stats(t).Refunds)
}

func TestConflictHasItsEffectLater(t *testing.T) {
	t.Parallel()

	b := setup(t)
	body := checkoutBody(uuid.NewString(), "10.00")
	b.Fault(t, `{"operation":"create_checkout","mode":"conflict","delay_ms":300}`)

	status, answer := b.Do(t, http.MethodPost, "/v1/checkouts", body, "Idempotency-Key", "a")
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, answer, `"request_in_progress"`)
	require.Zero(t, b.stats(t).Checkouts)

	require.Eventually(t, func() bool { return b.stats(t).Checkouts == 1 }, patient, 20*time.Millisecond)
	require.Eventually(t, func() bool {
		status, _ = b.Do(t, http.MethodPost, "/v1/checkouts", body, "Idempotency-Key", "a")

		return status == http.StatusCreated
	}, patient, 20*time.Millisecond)
	require.Equal(t, 1, b.stats(t).Checkouts)
}
