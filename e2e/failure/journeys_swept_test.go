package failure_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"rihla/e2e/harness"
	"rihla/models"
	"rihla/workflows"
)

// sweepOrphan leaves an attempt without its workflow, as an operator does who terminates it: the sweep finds it.
func sweepOrphan(t *testing.T, s *harness.Stack) act {
	t.Helper()

	b := s.As(models.RoleEndUser).Book(1)
	require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), models.PaymentWorkflowID(b.Payment.TransactionID), "", "test"))

	_, err := s.DB.ExecContext(t.Context(), `UPDATE payment_transactions SET expires_at = now() - interval '1 hour' WHERE booking_id = $1`, b.ID)
	require.NoError(t, err)

	sweeps := s.Temporal.ScheduleClient().GetHandle(t.Context(), models.SweepScheduleID(s.Queue))

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
	closeIncidents(t, s)

	return func(ctx context.Context) (string, error) {
		run, err := startAudit(ctx, s, workflows.AuditOptions{})
		if err != nil {
			return "", err
		}

		return b.ID.String(), run.Get(ctx, nil)
	}
}

// auditInVain has the books audited while they cannot be read.
func auditInVain(t *testing.T, s *harness.Stack) act {
	t.Helper()

	b := s.As(models.RoleEndUser).BookPaid(1)

	closeIncidents(t, s)

	return func(ctx context.Context) (string, error) {
		run, err := startAudit(ctx, s, workflows.AuditOptions{Tries: 1})
		if err != nil {
			return "", err
		}

		if run.Get(ctx, nil) == nil {
			return "", errors.New("the audit has gone through")
		}

		return b.ID.String(), nil
	}
}

// closeIncidents resolves those that earlier runs of the same way have left.
func closeIncidents(t *testing.T, s *harness.Stack) {
	t.Helper()

	_, err := s.DB.ExecContext(t.Context(), "UPDATE incidents SET status = 'RESOLVED', resolved_at = now() WHERE status = 'OPEN'")
	require.NoError(t, err)
}

func startAudit(ctx context.Context, s *harness.Stack, o workflows.AuditOptions) (client.WorkflowRun, error) {
	return s.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: "audit/" + uuid.NewString(), TaskQueue: s.Queue, WorkflowTaskTimeout: workflows.TaskTimeout,
	}, workflows.Audit, o)
}

// paySecretly pays, the webhook is lost, and the gateway refuses to say how the payment stands until there is an incident.
func paySecretly(t *testing.T, s *harness.Stack) act {
	t.Helper()

	b := s.As(models.RoleEndUser).Book(1)

	fault(s, "webhook", "drop", 1)
	noAnswers(s)
	require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))

	return func(ctx context.Context) (string, error) {
		defer s.ClearFaults()

		return b.ID.String(), awaitCount(ctx, s, "SELECT count(*) FROM incidents WHERE kind = 'GATEWAY_OUTAGE' AND booking_id = $1", b.ID)
	}
}
