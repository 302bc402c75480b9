package workflows_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/models"
	"rihla/workflows"
)

func TestReviewLastsUntilTheIncidentIsResolved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)

	const weeks = 21 * 24 * time.Hour

	w.at(weeks, func() { w.SignalWorkflow(workflows.SignalResolved, nil) })

	w.ExecuteWorkflow(workflows.Review, models.ShownIncident{ID: uuid.New(), Kind: models.IncidentAmountMismatch})
	require.True(t, w.IsWorkflowCompleted())
	require.NoError(t, w.GetWorkflowError())
	require.WithinDuration(t, began.Add(weeks), w.Now(), time.Second)
}
