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

// approvalsWithoutOrchestrator decides about refunds over the limit while the orchestrator is away: the decision is kept, and taken up
// when it is back, whether or not the refund's workflow still runs, or has ever been started.
func approvalsWithoutOrchestrator(t *testing.T, s *harness.Stack) {
	t.Helper()

	s.World.Trip = s.NewTripAt("6000.00")
	finance, admin := s.As(models.RoleFinanceAdmin), s.As(models.RoleAdmin)

	type refund struct {
		ID            uuid.UUID           `json:"id"`
		Status        models.RefundStatus `json:"status"`
		NeedsApproval bool                `json:"needs_approval"`
	}

	ask := func(b harness.Booking) (r refund) {
		t.Helper()

		a := finance.Post("/api/v1/admin/bookings/"+b.ID.String()+"/refund", map[string]any{"refund_type": "FULL"})
		require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
		require.NoError(t, a.Data(&r))
		require.True(t, r.NeedsApproval)

		return r
	}
	booked := func() harness.Booking { return s.As(models.RoleEndUser).BookPaid(1) }
	approved, rejected, orphan, unstarted := ask(booked()), ask(booked()), ask(booked()), booked()

	// This refund has no workflow any more when it is decided.
	require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), models.RefundWorkflowID(orphan.ID), "", "an operator's mistake"))
	require.NoError(t, s.Components.Temporal.Stop(t.Context()))

	never := ask(unstarted)

	decide := func(r refund, decision string, body any) {
		t.Helper()

		a := admin.Post("/api/v1/admin/refunds/"+r.ID.String()+"/"+decision, body)
		require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)

		var now refund

		require.NoError(t, a.Data(&now))
		require.Equal(t, models.RefundPending, now.Status)
		require.False(t, now.NeedsApproval, "it is decided")
	}
	decide(approved, "approve", map[string]any{})
	decide(rejected, "reject", map[string]any{"note": "no"})
	decide(orphan, "approve", map[string]any{"note": "compared"})
	decide(never, "approve", map[string]any{})

	a := admin.Post("/api/v1/admin/refunds/"+approved.ID.String()+"/reject", map[string]any{"note": "no"})
	require.Equal(t, models.CodeInvalidState, a.Code(), "%s", a.Body)

	require.NoError(t, s.Components.Temporal.Start(t.Context()))

	for r, want := range map[refund]models.RefundStatus{
		approved: models.RefundSucceeded, orphan: models.RefundSucceeded, never: models.RefundSucceeded, rejected: models.RefundFailed,
	} {
		require.Eventually(t, func() bool {
			return s.Count("SELECT count(*) FROM refunds WHERE id = $1 AND status = $2", r.ID, string(want)) == 1
		}, afterOutage, 20*time.Millisecond, "%s", want)
	}

	a = admin.Post("/api/v1/admin/refunds/"+approved.ID.String()+"/approve", map[string]any{})
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
}
