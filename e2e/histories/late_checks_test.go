package histories_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestLateChecksHistories: more attempts have ended than the gateway's rate allows to ask about in one round. The poll goes on until
// all of them were asked about.
func TestLateChecksHistories(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{Env: map[string]string{"GATEWAY_A_RATE": "2"}})
	customer := s.As(models.RoleEndUser)

	for range 9 {
		b := customer.Book(1)
		customer.Post("/api/v1/bookings/"+b.ID.String()+"/cancel", nil)
	}

	_, err := s.DB.ExecContext(t.Context(), "UPDATE payment_transactions SET check_at = now() WHERE status = 'FAILED'")
	require.NoError(t, err)

	ids := s.AwaitWorkflow("PollStatus", 1)

	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM payment_transactions WHERE check_at <= now() + interval '1 minute'") == 0
	}, time.Minute, 100*time.Millisecond)
	replay(t, s, "poll-status-at-the-gateways-rate", ids[0])
}
