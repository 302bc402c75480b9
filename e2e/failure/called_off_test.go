package failure_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestACalledOffTripSurvivesKills calls a trip off of which 40 bookings are paid, three of them cancelled in part, and five are not, while
// worker and API are killed three times and the gateway refuses two refunds for good.
func TestACalledOffTripSurvivesKills(t *testing.T) {
	t.Parallel()

	const paid, parted, open, refused = 40, 3, 5, 2

	s := harness.Start(t, harness.Options{Env: inLife(map[string]string{
		"TRIP_CANCELLATION_APPROVAL_ABOVE": "0", "TRIP_CANCELLATION_RATE": "10",
	})})
	s.World.Trip = s.NewTrip("Called off", paid+parted+open)
	customer, finance, company := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin), s.As(models.RoleProviderAdmin)
	path := "/api/v1/provider/trips/" + s.World.Trip.ID.String()

	for i := range paid {
		if i >= parted {
			customer.BookPaid(1)

			continue
		}

		b := customer.BookPaid(2)

		a := finance.Post("/api/v1/admin/bookings/"+b.ID.String()+"/cancel", map[string]any{
			"refund": "AMOUNT", "amount": 15.01, "passenger_ids": []any{b.Passengers[0].ID},
		})
		require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	}

	for range open {
		customer.Book(1)
	}

	require.Eventually(t, func() bool { return s.Count("SELECT count(*) FROM refunds WHERE status = 'SUCCEEDED'") == parted }, patience, 100*time.Millisecond)

	var totals tripTotals

	a := company.Get(path + "/cancel-preview")
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	require.NoError(t, a.Data(&totals))
	require.Equal(t, s.World.Trip.PricePerSeat.Times(paid).String(), totals.Refunds.String())

	before := len(s.GatewayLedger().Refunds)

	s.Fault(map[string]any{"operation": "refund", "mode": "reject", "times": refused})

	a = company.Post(path+"/cancel", map[string]any{"reason": "The bus broke down", "expected_refund_total": totals.Refunds})
	require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)

	const cancelled = "SELECT count(*) FROM bookings WHERE trip_id = $1 AND status = 'CANCELLED'"

	for i, killed := range [][]*harness.Process{{s.Worker}, {s.API, s.Worker}, {s.Worker}} {
		killedAt(t, s, func() bool { return s.Count(cancelled, s.World.Trip.ID) > 14*i }, killed)
	}

	type progress struct {
		Status    models.TripCancellationStatus `json:"status"`
		Bookings  int                           `json:"bookings"`
		Cancelled int                           `json:"cancelled"`
		Succeeded int                           `json:"refunds_succeeded"`
		Pending   int                           `json:"refunds_pending"`
		Failed    int                           `json:"refunds_failed"`
		ByHand    int                           `json:"refunds_by_hand"`
		Refunded  models.Money                  `json:"refunded_total"`
	}

	var now progress

	require.Eventually(t, func() bool {
		a := company.Get(path + "/cancellation")

		return a.Status == http.StatusOK && a.Data(&now) == nil && now.Status == models.TripCancellationDone && now.Pending == 0
	}, 2*patience, 100*time.Millisecond)

	back := totals.Refunds.Sub(s.World.Trip.PricePerSeat.Times(refused))
	require.Equal(t, paid, now.Cancelled)
	require.Equal(t, paid-refused, now.Succeeded)
	require.Equal(t, refused, now.Failed)
	require.Equal(t, refused, now.ByHand)
	require.Equal(t, back.String(), now.Refunded.String())
	require.Zero(t, s.Count("SELECT seats_taken FROM trips WHERE id = $1", s.World.Trip.ID))
	require.Equal(t, refused, s.Count("SELECT count(*) FROM incidents WHERE kind = 'REFUND_FAILED' AND status = 'OPEN'"))
	require.Len(t, s.GatewayLedger().Refunds, before+paid-refused, "the gateway has made each once")
	require.Equal(t, paid+open, s.Count(`SELECT count(*) FROM notifications WHERE kind = 'BOOKING_CANCELLED' AND channel = 'EMAIL'
		AND data ->> 'trip_cancelled' = 'true'`), "each customer hears of it once")
	require.Equal(t, paid+open, s.Count(`SELECT count(DISTINCT data ->> 'booking_id') FROM notifications WHERE kind = 'BOOKING_CANCELLED'
		AND data ->> 'trip_cancelled' = 'true'`))
}

// killedAt kills processes at a moment, and starts them again as a supervisor would.
func killedAt(t *testing.T, s *harness.Stack, moment func() bool, killed []*harness.Process) {
	t.Helper()
	require.Eventually(t, moment, patience, time.Millisecond)

	for _, p := range killed {
		p.Kill()
	}

	t.Logf("killed with %d refunds at the gateway", len(s.GatewayLedger().Refunds))

	for _, p := range killed {
		p.Start()
	}
}
