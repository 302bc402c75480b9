package limits_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestUnpaidAttempts: an account replaces its attempt so many times within an hour. After that the open attempt can still be paid.
func TestUnpaidAttempts(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"UNPAID_ATTEMPTS_PER_HOUR": "3"}})
	customer := s.As(models.RoleEndUser)
	b := customer.Book(1)
	path := "/api/v1/payments/booking/" + b.ID.String() + "/intent"
	replacement := map[string]any{"payment_method": models.MethodCreditCard, "replace": true}

	for range 2 {
		require.Equal(t, http.StatusCreated, customer.Post(path, replacement).Status)
	}

	for range 3 {
		refused := customer.Post(path, replacement)
		require.Equal(t, http.StatusConflict, refused.Status, "%s", refused.Body)
		require.Equal(t, models.CodeTooManyUnpaidBookings, refused.Code())
	}

	require.Equal(t, models.CodeTooManyUnpaidBookings, customer.Post("/api/v1/bookings", s.BookingRequest(1)).Code())
	require.Len(t, s.GatewayLedger().Checkouts, 3)

	open := customer.Post(path, map[string]any{"payment_method": models.MethodCreditCard})
	require.Equal(t, http.StatusOK, open.Status)

	var answer struct {
		Data struct {
			CheckoutURL string `json:"checkout_url"`
		} `json:"data"`
	}

	require.NoError(t, json.Unmarshal(open.Body, &answer))
	require.NoError(t, s.Pay(answer.Data.CheckoutURL, "succeed"))
	customer.Await(b.ID)
}
