package invariants

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.temporal.io/api/workflowservice/v1"
)

var aboutProcesses = []Invariant{
	{
		"processes-live", "API and workers end only when killed or asked to stop",
		func(_ context.Context, s *Evidence) ([]string, error) { return s.Env.Exits(), nil },
	},
	{"no-panic", "no process has panicked", panics},
	{"workflows-end", "no workflow failed, and only those of campaigns and open incidents still run", workflows},
	{"campaign-has-its-dates", "every paid campaign has the workflow that ends it", campaigns},
	{"incident-is-shown", "every open incident has a workflow, and no resolved one has", reviews},
}

// panicWords are how Go's runtime, the API and Temporal's SDK, which catches what workflows and activities panic with, write
// of a panic.
var panicWords = []string{"panic:", "fatal error:", "goroutine 1 [", "Activity panic", "Workflow panic"}

// deadlock is what the SDK says of workflow code that has not yielded for a second, which it then runs again. It goes by the
// clock on the wall: a worker that was frozen in the middle of such code cannot help it.
const deadlock = "TMPRL1101"

func panics(_ context.Context, s *Evidence) ([]string, error) {
	logs, err := filepath.Glob(filepath.Join(s.Env.LogDir(), "*.log*"))
	if err != nil {
		return nil, err
	}

	var found []string

	for _, name := range logs {
		text, err := os.ReadFile(name) //nolint:gosec // our own logs
		if err != nil {
			return nil, err
		}

		for _, line := range panicLines(text, s.Env.WasFrozen(name)) {
			found = append(found, filepath.Base(name)+": "+line)
		}
	}

	return found, nil
}

// panicLines are the first line with each word of a panic.
func panicLines(log []byte, wasFrozen bool) (found []string) {
	for _, word := range panicWords {
		for line := range bytes.Lines(log) {
			at := bytes.Index(line, []byte(word))
			if at < 0 || wasFrozen && bytes.Contains(line, []byte(deadlock)) {
				continue
			}

			found = append(found, string(line[at:min(len(line), at+500)]))

			break
		}
	}

	return found
}

// running are the workflows that come to their end by themselves, and soon.
const running = `ExecutionStatus = 'Running' AND WorkflowType IN (
	'Payment', 'Refund', 'LatePayment', 'Reconcile', 'Outbox', 'PollStatus', 'TripCancellation')`

// A sweep that met an outage fails, and the next one does its work: after the outage none may fail.
const (
	failed      = `ExecutionStatus IN ('Failed', 'TimedOut', 'Terminated', 'Canceled') AND WorkflowType != 'Sweep'`
	failedSweep = `ExecutionStatus IN ('Failed', 'TimedOut', 'Terminated', 'Canceled') AND WorkflowType = 'Sweep' AND StartTime > '%s'`
)

func workflows(ctx context.Context, s *Evidence) ([]string, error) {
	found, err := listWorkflows(ctx, s, failed)
	if err != nil {
		return nil, err
	}

	sweeps, err := listWorkflows(ctx, s, fmt.Sprintf(failedSweep, s.Run.Healed.UTC().Format(time.RFC3339Nano)))
	if err != nil {
		return nil, err
	}

	still, err := stillRunning(ctx, s)

	return slices.Concat(found, sweeps, still), err
}

// stillRunning are the workflows that do not end. One may have begun after WaitIdle, when a worker looks whether
// there is something to do: it ends within seconds.
func stillRunning(ctx context.Context, s *Evidence) ([]string, error) {
	for until := time.Now().Add(idlePatience); ; {
		still, err := listWorkflows(ctx, s, running)
		if err != nil || len(still) == 0 || time.Now().After(until) || !pause(ctx) {
			return still, err
		}
	}
}

// pause reports false when ctx ended meanwhile.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(100 * time.Millisecond):
		return true
	}
}

func campaigns(ctx context.Context, s *Evidence) ([]string, error) {
	paid, err := texts(ctx, s.Env.DB, "SELECT id FROM ad_campaigns WHERE status IN ('ACTIVE', 'SCHEDULED')")
	if err != nil {
		return nil, err
	}

	var found []string

	for _, id := range paid {
		if status := statusOf(ctx, s, "campaign/"+id); status != "Running" {
			found = append(found, fmt.Sprintf("the workflow of campaign %s is %s", id, status))
		}
	}

	return found, nil
}

// reviews come with the first sweep after an incident was opened.
func reviews(ctx context.Context, s *Evidence) ([]string, error) {
	for until := time.Now().Add(idlePatience); ; {
		open, err := texts(ctx, s.Env.DB, "SELECT id FROM incidents WHERE status = 'OPEN'")
		if err != nil {
			return nil, err
		}

		found, err := listWorkflows(ctx, s, "ExecutionStatus = 'Running' AND WorkflowType = 'Review'")
		if err != nil || len(found) == len(open) {
			found = nil
		}

		for _, id := range open {
			if status := statusOf(ctx, s, "review/"+id); status != "Running" {
				found = append(found, fmt.Sprintf("the workflow of incident %s is %s", id, status))
			}
		}

		if err != nil || len(found) == 0 || time.Now().After(until) || !pause(ctx) {
			return found, err
		}
	}
}

// statusOf is how a workflow's newest run is, or why that is not known.
func statusOf(ctx context.Context, s *Evidence, id string) string {
	d, err := s.Env.Temporal.DescribeWorkflow(ctx, id, "")
	if err != nil {
		return "not to be found: " + err.Error()
	}

	return d.Status.String()
}

// listWorkflows names the workflows that a visibility query finds.
func listWorkflows(ctx context.Context, s *Evidence, query string) ([]string, error) {
	answer, err := s.Env.Temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query})
	if err != nil {
		return nil, err
	}

	var names []string

	for _, e := range answer.GetExecutions() {
		names = append(names, fmt.Sprintf("workflow %s (%s) is %s since %s", e.GetExecution().GetWorkflowId(), e.GetType().GetName(),
			e.GetStatus(), e.GetStartTime().AsTime().Format("15:04:05.000")))
	}

	return names, nil
}
