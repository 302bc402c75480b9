package histories_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestCancellationHistories has customers ask for the cancellation of what they have paid: approved, withdrawn, and undecided.
func TestCancellationHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer, finance := s.As(models.RoleEndUser), s.As(models.RoleFinanceAdmin)

	ask := func(b harness.Booking) (id uuid.UUID, path string) {
		t.Helper()

		path = "/api/v1/bookings/" + b.ID.String() + "/cancellation-requests"
		a := customer.Post(path, map[string]any{"reason": "We cannot come"})
		require.Equal(t, http.StatusCreated, a.Status, "%s", a.Body)

		var r struct {
			ID uuid.UUID `json:"id"`
		}

		require.NoError(t, a.Data(&r))

		return r.ID, path
	}

	approved, _ := ask(customer.BookPaid(2))
	require.Equal(t, http.StatusOK, finance.Post("/api/v1/admin/cancellation-requests/"+approved.String()+"/approve", map[string]any{}).Status)
	replay(t, s, "cancellation-approved", models.CancellationWorkflowID(approved))

	withdrawn, path := ask(customer.BookPaid(1))
	require.Equal(t, http.StatusOK, customer.Post(path+"/"+withdrawn.String()+"/withdraw", nil).Status)
	replay(t, s, "cancellation-withdrawn", models.CancellationWorkflowID(withdrawn))

	waiting, _ := ask(customer.BookPaid(1))
	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM cancellation_requests WHERE id = $1 AND looked_at IS NOT NULL", waiting) == 1
	}, 30*time.Second, 50*time.Millisecond)
	replayRunning(t, s, "cancellation-waiting", models.CancellationWorkflowID(waiting))
}
