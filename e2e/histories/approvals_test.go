package histories_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestApprovalHistories has refunds over the limit approved, rejected, and not decided in time.
func TestApprovalHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"REFUND_APPROVAL_ABOVE": "5.00", "REFUND_APPROVAL_WAIT": "8s"}})
	customer, finance, admin := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin), s.As(models.RoleAdmin)

	ask := func(b harness.Booking) uuid.UUID {
		t.Helper()

		a := finance.Post("/api/v1/admin/bookings/"+b.ID.String()+"/refund", map[string]any{"refund_type": "FULL"})
		require.Equal(t, http.StatusAccepted, a.Status, "%s", a.Body)

		var r struct {
			ID uuid.UUID `json:"id"`
		}

		require.NoError(t, a.Data(&r))

		return r.ID
	}
	decide := func(refund uuid.UUID, decision string, body map[string]any) {
		t.Helper()

		a := admin.Post("/api/v1/admin/refunds/"+refund.String()+"/"+decision, body)
		require.Contains(t, []int{http.StatusOK, http.StatusAccepted}, a.Status, "%s", a.Body)
	}

	expires := ask(customer.BookPaid(1))

	approved := ask(customer.BookPaid(1))
	decide(approved, "approve", map[string]any{"note": "Customer"})
	replay(t, s, "refund-at-once-approved", models.RefundWorkflowID(approved))

	rejected := ask(customer.BookPaid(1))
	decide(rejected, "reject", map[string]any{"note": "Customer"})
	replay(t, s, "refund-approval-rejected", models.RefundWorkflowID(rejected))

	byHand := ask(customer.BookBilled(1))
	decide(byHand, "approve", map[string]any{})
	decide(byHand, "confirm-payout", map[string]any{"payout_reference": "TRF-1"})
	replay(t, s, "refund-approved-by-hand", models.RefundWorkflowID(byHand))

	replay(t, s, "refund-approval-expired", models.RefundWorkflowID(expires))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM refund_approvals WHERE refund_id = $1 AND decision = 'EXPIRED'", expires))
}
