package histories_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestReviewHistories: an incident is a workflow for as long as it is open. NeedsReview finds it, and does not any more when
// it is resolved.
func TestReviewHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer := s.As(models.RoleEndUser)

	fault(s, "webhook", "wrong_amount", 1)

	b := customer.Book(1)
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
	require.Equal(t, models.TransactionFailed, customer.Await(b.ID).PaymentStatus)

	awaitReviews(t, s, b.ID, 1)

	shown := s.AwaitWorkflow("Review", 1)[0]

	a := s.As(models.RoleFinanceAdmin).Post("/api/v1/admin/incidents/"+shown[len("review/"):]+"/resolve", map[string]string{"note": "Asked the gateway"})
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)

	awaitReviews(t, s, b.ID, 0)
	replay(t, s, "review-resolved", shown)
}

// awaitReviews waits until n workflows are found by the query of the operations guide.
func awaitReviews(t *testing.T, s *harness.Stack, booking uuid.UUID, n int64) {
	t.Helper()

	query := fmt.Sprintf("NeedsReview=true AND ExecutionStatus='Running' AND BookingId='%s'", booking)

	require.Eventually(t, func() bool {
		found, err := s.Temporal.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Query: query})

		return err == nil && found.GetCount() == n
	}, time.Minute, 200*time.Millisecond, "%s finds not %d", query, n)
}
