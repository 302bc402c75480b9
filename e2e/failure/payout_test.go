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

// afterOutage bounds the wait for decisions to have their effect once the orchestrator is back. It was once longer than patience, and
// the cause is not known. The test checks that no decision is lost, not how long it takes.
const afterOutage = 90 * time.Second

// payoutsWithoutOrchestrator decides manual payouts while the orchestrator is away: the decision is kept, and applied
// when it is back, whether or not the refund's workflow still runs.
func payoutsWithoutOrchestrator(t *testing.T, s *harness.Stack) {
	t.Helper()

	finance, admin := s.As(models.RoleFinanceAdmin), s.As(models.RoleAdmin)

	type refund struct {
		ID          uuid.UUID           `json:"id"`
		Status      models.RefundStatus `json:"status"`
		NeedsPayout bool                `json:"needs_payout"`
		Reference   *string             `json:"payout_reference"`
	}

	ask := func() (r refund) {
		t.Helper()

		b := s.As(models.RoleEndUser).BookBilled(1)
		a := finance.Post("/api/v1/admin/bookings/"+b.ID.String()+"/refund", map[string]any{"refund_type": "FULL"})
		require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)
		require.NoError(t, a.Data(&r))

		return r
	}
	confirmed, rejected, orphan := ask(), ask(), ask()
	path := func(r refund, decision string) string {
		return "/api/v1/admin/refunds/" + r.ID.String() + "/" + decision + "-payout"
	}

	// This refund has no workflow any more when it is decided.
	require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), models.RefundWorkflowID(orphan.ID), "", "an operator's mistake"))
	require.NoError(t, s.Components.Temporal.Stop(t.Context()))

	body := map[string]any{"payout_reference": "TRF-1"}
	decisions := map[string]harness.Answer{
		path(confirmed, "confirm"): admin.Post(path(confirmed, "confirm"), body),
		path(rejected, "reject"):   admin.Post(path(rejected, "reject"), map[string]any{"reason": "no"}),
		path(orphan, "confirm"):    admin.Post(path(orphan, "confirm"), body),
	}

	for what, a := range decisions {
		require.Equal(t, http.StatusAccepted, a.Status, "%s: %s", what, a.Body)

		var r refund

		require.NoError(t, a.Data(&r))
		require.Equal(t, models.RefundPending, r.Status)
		require.False(t, r.NeedsPayout, "it is decided")
	}

	a := admin.Post(path(confirmed, "reject"), map[string]any{"reason": "no"})
	require.Equal(t, models.CodeInvalidState, a.Code(), "%s", a.Body)

	require.NoError(t, s.Components.Temporal.Start(t.Context()))

	for r, want := range map[refund]models.RefundStatus{
		confirmed: models.RefundSucceeded, orphan: models.RefundSucceeded, rejected: models.RefundFailed,
	} {
		require.Eventually(t, func() bool {
			return s.Count("SELECT count(*) FROM refunds WHERE id = $1 AND status = $2", r.ID, string(want)) == 1
		}, afterOutage, 20*time.Millisecond, "%s", want)
	}

	a = admin.Post(path(confirmed, "confirm"), body)
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
}
