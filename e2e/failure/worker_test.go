package failure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// rows counts everything that a booking or an attempt would leave behind.
const rows = `SELECT (SELECT count(*) FROM bookings) + (SELECT count(*) FROM payment_transactions) +
	(SELECT sum(seats_taken) FROM trips)`

// TestNoWorker: Temporal takes the payment, and no worker runs. The customer gets an error soon, nothing is left, and
// the workflow that starts after all does nothing.
func TestNoWorker(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: inLife()})
	customer := s.As(models.RoleEndUser)
	declined := bookDeclined(t, s, customer)
	before, checkouts := s.Count(rows), len(s.GatewayLedger().Checkouts)
	same := uuid.NewString()

	s.Worker.Kill()
	refusedForNow(t, customer, "/api/v1/bookings", s.BookingRequest(1), same)
	refusedForNow(t, customer, intentPath(declined.ID), map[string]any{"payment_method": models.MethodWalletB}, uuid.NewString())
	require.Equal(t, before, s.Count(rows))

	s.Worker.Start()

	// Both have started: that of the declined attempt is the third. The one for an attempt goes on, as nothing but time
	// was against it; the one for a booking that is gone ends.
	ids := s.AwaitWorkflow("Payment", 3)
	require.Len(t, ids, 3)
	require.NoError(t, s.Temporal.GetWorkflow(t.Context(), ids[1], "").Get(t.Context(), nil))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM bookings"))
	require.LessOrEqual(t, len(s.GatewayLedger().Checkouts), checkouts+1)

	// The customer's next try is the same request, and finds what it needs.
	var b harness.Booking

	a, err := customer.Do(http.MethodPost, "/api/v1/bookings", s.BookingRequest(1), map[string]string{"Idempotency-Key": same})
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)
	require.NoError(t, a.Data(&b))
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionPaid, customer.Await(b.ID).PaymentStatus)
	awaitBooks(t, s)
}

// bookDeclined makes a booking whose first attempt has failed, and that can be paid again.
func bookDeclined(t *testing.T, s *harness.Stack, customer *harness.Caller) harness.Booking {
	t.Helper()

	b := customer.Book(1)
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "decline"))
	require.Equal(t, models.TransactionFailed, customer.Await(b.ID).PaymentStatus)

	return b
}

func intentPath(booking uuid.UUID) string {
	return "/api/v1/payments/booking/" + booking.String() + "/intent"
}

// refusedForNow sends a request and expects a refusal with Retry-After, within the time that a person waits.
func refusedForNow(t *testing.T, customer *harness.Caller, path string, body any, key string) {
	t.Helper()

	began := time.Now()

	a, err := customer.Do(http.MethodPost, path, body, map[string]string{"Idempotency-Key": key})
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, a.Status, "%s: %s", path, a.Body)
	require.Equal(t, models.CodeServiceUnavailable, a.Code())
	require.NotEmpty(t, a.Header.Get("Retry-After"))
	require.Less(t, time.Since(began), 10*time.Second)
}
