package incidents

import "context"

type workflowKey struct{}

// InWorkflow names the workflow that a step is taken by, for the incidents that it opens: their reader looks there first.
func InWorkflow(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, workflowKey{}, id)
}

// WorkflowOr is the workflow of InWorkflow, or the one that is usual for the step.
func WorkflowOr(ctx context.Context, usual string) string {
	if id, ok := ctx.Value(workflowKey{}).(string); ok && id != "" {
		return id
	}

	return usual
}
