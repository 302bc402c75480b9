package failure_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"rihla/activities"
	"rihla/e2e/harness"
	"rihla/models"
	"rihla/worker"
	"rihla/workflows"
)

// sweepOrphan leaves an attempt without its workflow, as an operator does who terminates it: the sweep finds it.
func sweepOrphan(t *testing.T, s *harness.Stack) act {
	t.Helper()

	b := s.As(models.RoleEndUser).Book(1)
	require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), workflows.PaymentID(b.Payment.TransactionID), "", "test"))

	_, err := s.DB.ExecContext(t.Context(), `UPDATE payment_transactions SET expires_at = now() - interval '1 hour' WHERE booking_id = $1`, b.ID)
	require.NoError(t, err)

	sweeps := s.Temporal.ScheduleClient().GetHandle(t.Context(), worker.SweepScheduleID(s.Queue))

	return func(ctx context.Context) (string, error) {
		for {
			if err := sweeps.Trigger(ctx, client.ScheduleTriggerOptions{}); err != nil {
				return "", err
			}

			wait, stop := context.WithTimeout(ctx, retryPause*5)
			err := awaitCount(wait, s, "SELECT count(*) FROM payment_transactions WHERE booking_id = $1 AND status = 'FAILED'", b.ID)

			stop()

			if err == nil || ctx.Err() != nil {
				return b.ID.String(), err
			}
		}
	}
}

// payCancelledUnheard pays at the gateway for a booking that was cancelled, and the webhook is lost: the gateway is asked.
func payCancelledUnheard(t *testing.T, s *harness.Stack) act {
	t.Helper()
	fault(s, "webhook", "drop", 1)

	return payCancelled(t, s)
}

// auditWrongBooks has the books audited that are wrong by one seat. Incidents of earlier audits are closed before.
func auditWrongBooks(t *testing.T, s *harness.Stack) act {
	t.Helper()

	b := s.As(models.RoleEndUser).BookPaid(1)

	_, err := s.DB.ExecContext(t.Context(), "UPDATE trips SET seats_taken = seats_taken + 1 WHERE id = $1", s.World.Trip.ID)
	require.NoError(t, err)
	_, err = s.DB.ExecContext(t.Context(), "UPDATE incidents SET status = 'RESOLVED', resolved_at = now() WHERE status = 'OPEN'")
	require.NoError(t, err)

	return func(ctx context.Context) (string, error) {
		run, err := s.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: "audit/" + uuid.NewString(), TaskQueue: s.Queue, WorkflowTaskTimeout: workflows.TaskTimeout,
		}, workflows.Audit)
		if err != nil {
			return "", err
		}

		var found activities.Audited

		return b.ID.String(), run.Get(ctx, &found)
	}
}
