package histories_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
	"rihla/workflows"
)

// TestTripCancellationHistories has a company call trips off: at once, on the word of a second person, and in vain.
func TestTripCancellationHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"TRIP_CANCELLATION_APPROVAL_ABOVE": "200.00"}})

	atOnce := s.For(t)
	atOnce.As(models.RoleEndUser).BookPaid(1)
	atOnce.As(models.RoleEndUser).Book(1)
	atOnce.NewCampaign("100.00", 1)
	askToCallOff(t, atOnce, "115.00")
	replay(t, atOnce, "trip-cancellation-together", models.TripCancellationWorkflowID(atOnce.World.Trip.ID))

	approved := s.For(t)
	approved.As(models.RoleEndUser).BookPaid(2)
	askToCallOff(t, approved, "230.00")
	decideTrip(t, approved, "approve")
	replay(t, approved, "trip-cancellation-together-approved", models.TripCancellationWorkflowID(approved.World.Trip.ID))

	rejected := s.For(t)
	rejected.As(models.RoleEndUser).BookPaid(2)
	askToCallOff(t, rejected, "230.00")
	decideTrip(t, rejected, "reject")
	replay(t, rejected, "trip-cancellation-rejected", models.TripCancellationWorkflowID(rejected.World.Trip.ID))

	paused := s.For(t)
	paused.As(models.RoleEndUser).BookPaid(2)
	askToCallOff(t, paused, "230.00")
	awaitLook(t, paused)

	id := models.TripCancellationWorkflowID(paused.World.Trip.ID)
	require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), id, "", workflows.SignalPause, nil))
	decideTrip(t, paused, "approve")
	require.Eventually(t, func() bool {
		answer, err := s.Temporal.QueryWorkflow(t.Context(), id, "", workflows.QueryProgress)

		var shown workflows.TripCancellationShown

		return err == nil && answer.Get(&shown) == nil && shown.Paused && shown.Bookings == 1
	}, 30*time.Second, 100*time.Millisecond)
	require.NoError(t, s.Temporal.SignalWorkflow(t.Context(), id, "", workflows.SignalResume, nil))
	replay(t, paused, "trip-cancellation-together-paused", id)
}

func askToCallOff(t *testing.T, s *harness.Stack, total string) {
	t.Helper()

	a := s.As(models.RoleProviderAdmin).Post("/api/v1/provider/trips/"+s.World.Trip.ID.String()+"/cancel", map[string]any{
		"reason": "The bus broke down", "expected_refund_total": models.MustMoney(total),
	})
	require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
}

func decideTrip(t *testing.T, s *harness.Stack, decision string) {
	t.Helper()
	awaitLook(t, s)

	a := s.As(models.RoleFinanceAdmin).Post("/api/v1/provider/trips/"+s.World.Trip.ID.String()+"/cancel/"+decision, map[string]any{"note": "Called"})
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
}

// awaitLook waits until the workflow waits for the decision.
func awaitLook(t *testing.T, s *harness.Stack) {
	t.Helper()
	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM trip_cancellations WHERE trip_id = $1 AND looked_at IS NOT NULL", s.World.Trip.ID) == 1
	}, 30*time.Second, 100*time.Millisecond)
}
