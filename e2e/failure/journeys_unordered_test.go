package failure_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"

	"rihla/e2e/harness"
	"rihla/models"
	"rihla/workflows"
)

// refundWithoutOrder starts a refund's workflow directly, for a refund without an order: no money moves, and operators get an incident.
func refundWithoutOrder(t *testing.T, s *harness.Stack) act {
	t.Helper()

	booking, id := s.As(models.RoleEndUser).BookPaid(1), uuid.New()

	return func(ctx context.Context) (string, error) {
		run, err := s.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: models.RefundWorkflowID(id), TaskQueue: s.Queue},
			workflows.Refund, models.RefundOrder{ID: id})
		if err != nil {
			return "", err
		}

		_ = run.Get(ctx, nil) // how it ends is in the incident

		if n := s.Count("SELECT count(*) FROM incidents WHERE kind = 'REFUND_WITHOUT_ORDER' AND workflow_id = $1", models.RefundWorkflowID(id)); n != 1 {
			return "", fmt.Errorf("%d incidents about the refund without an order", n)
		}

		return booking.ID.String(), nil
	}
}
