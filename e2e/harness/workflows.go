package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
)

// AwaitWorkflow waits until at least n workflows of a type have run on this stack's queue, and returns their ids,
// newest first.
func (s *Stack) AwaitWorkflow(workflowType string, n int) []string {
	s.tb.Helper()

	return s.awaitWorkflows(fmt.Sprintf("WorkflowType = '%s'", workflowType), n)
}

// AwaitWorkflowOf waits until a workflow of a type has run for the booking, and returns the id of the newest.
func (s *Stack) AwaitWorkflowOf(workflowType string, booking uuid.UUID) string {
	s.tb.Helper()

	return s.awaitWorkflows(fmt.Sprintf("WorkflowType = '%s' AND BookingId = '%s'", workflowType, booking), 1)[0]
}

func (s *Stack) awaitWorkflows(query string, n int) []string {
	s.tb.Helper()

	var ids []string

	query += fmt.Sprintf(" AND TaskQueue = '%s'", s.Queue)

	require.Eventually(s.tb, func() bool {
		list, err := s.Temporal.ListWorkflow(context.Background(), &workflowservice.ListWorkflowExecutionsRequest{Query: query})
		if err != nil {
			return false
		}

		ids = ids[:0]
		for _, e := range list.GetExecutions() {
			ids = append(ids, e.GetExecution().GetWorkflowId())
		}

		return len(ids) >= n
	}, startPatience, 100*time.Millisecond, "there are no %d workflows with %s", n, query)

	return ids
}
