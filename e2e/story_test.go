// Package e2e_test drives the running service over HTTP and through the sandbox gateway.
package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// maxHistory is how many events the history of a paid payment may have; the present figure is in docs/decisions/0001.
const maxHistory = 21

func TestPaidPaymentCostsFewHistoryEvents(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	b := s.As(models.RoleEndUser).BookPaid(2)

	id := models.PaymentWorkflowID(b.Payment.TransactionID)
	require.NoError(t, s.Temporal.GetWorkflow(t.Context(), id, "").Get(t.Context(), nil))
	require.LessOrEqual(t, s.History(id), int64(maxHistory))
	t.Logf("%d history events", s.History(id))
}
