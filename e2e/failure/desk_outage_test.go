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

// deskWithoutOrchestrator: what customers, staff and a company decide while Temporal is away is kept and answered, and carried out when it
// is back.
func deskWithoutOrchestrator(t *testing.T, s *harness.Stack) {
	t.Helper()

	customer, finance, company := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin), s.As(models.RoleProviderAdmin)
	one, two, all := customer.BookPaid(2), customer.BookPaid(2), customer.BookPaid(1)

	s.World.Trip = s.NewTrip("Called off during an outage", 10)
	calledOff := customer.BookPaid(1)

	ask := func(b harness.Booking) uuid.UUID {
		t.Helper()

		a := customer.Post("/api/v1/bookings/"+b.ID.String()+"/cancellation-requests", map[string]any{"reason": "We are ill"})
		require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)

		var asked struct {
			ID uuid.UUID `json:"id"`
		}

		require.NoError(t, a.Data(&asked))

		return asked.ID
	}
	before := ask(one)
	trip := "/api/v1/provider/trips/" + s.World.Trip.ID.String()

	var preview struct {
		RefundTotal models.Money `json:"refund_total"`
	}

	require.NoError(t, company.Get(trip+"/cancel-preview").Data(&preview))
	require.NoError(t, s.Components.Temporal.Stop(t.Context()))

	during := ask(two)

	for _, id := range []uuid.UUID{before, during} {
		a := finance.Post("/api/v1/admin/cancellation-requests/"+id.String()+"/approve", map[string]any{})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	}

	a := finance.Post("/api/v1/admin/bookings/"+all.ID.String()+"/cancel",
		map[string]any{"refund": models.CancelInFull, "cause": models.RefundCustomerCancelled, "reason": "We are ill"})
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)

	a = company.Post(trip+"/cancel", map[string]any{"reason": "The road is closed", "expected_refund_total": preview.RefundTotal})
	require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)

	require.NoError(t, s.Components.Temporal.Start(t.Context()))

	for what, b := range map[string]harness.Booking{
		"asked before": one, "asked during the outage": two, "cancelled by staff": all, "called off": calledOff,
	} {
		require.Eventually(t, func() bool {
			return s.Count(`SELECT count(*) FROM refunds AS r JOIN bookings AS b ON b.id = r.booking_id
				WHERE b.id = $1 AND b.status = 'CANCELLED' AND r.status = 'SUCCEEDED'`, b.ID) == 1
		}, afterOutage, 50*time.Millisecond, what)
	}
}
