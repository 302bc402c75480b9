package harness

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
)

// AwaitWorkflow waits until at least n workflows of a type have run on this stack's queue, and returns their ids,
// newest first.
func (s *Stack) AwaitWorkflow(workflowType string, n int) []string {
	s.tb.Helper()

	var ids []string

	query := fmt.Sprintf("WorkflowType = '%s' AND TaskQueue = '%s'", workflowType, s.Queue)

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
	}, startPatience, 100*time.Millisecond, "no %d workflows of type %s", n, workflowType)

	return ids
}
