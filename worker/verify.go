package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"golang.org/x/sync/errgroup"

	"rihla/workflows"
)

// VerifyOptions say which histories are replayed.
type VerifyOptions struct {
	Namespace string
	Queue     string                  // of the workflows
	Data      converter.DataConverter // as the workers have it; nil: the SDK's
	Failures  converter.FailureConverter
	Since     time.Time // how far back runs that have ended are looked at
	Limit     int       // of runs of one type, of those that run and of those that have ended
}

// Verified is what replaying them has shown.
type Verified struct {
	Types  []VerifiedType
	Failed []FailedReplay
	// Unknown is how many running workflows are of types that this build does not have.
	Unknown int64
}

// VerifiedType is how many runs of a type were replayed, of how many there are.
type VerifiedType struct {
	Name                                 string
	Running, Ended, AllRunning, AllEnded int64
}

// FailedReplay is a run that this build cannot take on.
type FailedReplay struct {
	Type, WorkflowID, RunID string
	Err                     error
}

// OK reports that this build can take on all that were looked at.
func (v Verified) OK() bool { return len(v.Failed) == 0 && v.Unknown == 0 }

// What is replayed unless a command says otherwise: all that ran within a day, so that every kind of schedule is among it.
const (
	VerifySince = 24 * time.Hour
	VerifyLimit = 1000
)

// replaysAtOnce is how many histories are read and replayed at once.
const replaysAtOnce = 4

// Verify replays the histories of running and recent workflows with the workflows of this build. It changes nothing. Its error says that it
// could not look; what it found is in Verified.
func Verify(ctx context.Context, c client.Client, o VerifyOptions) (Verified, error) {
	var out Verified

	names := workflows.Names()

	for _, name := range names {
		of, failed, err := verifyType(ctx, c, o, name)
		if err != nil {
			return out, fmt.Errorf("%s: %w", name, err)
		}

		out.Types = append(out.Types, of)
		out.Failed = append(out.Failed, failed...)
	}

	unknown, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Namespace: o.Namespace,
		Query: fmt.Sprintf("TaskQueue = '%s' AND ExecutionStatus = 'Running' AND WorkflowType NOT IN ('%s')",
			o.Queue, strings.Join(names, "', '")),
	})
	if err != nil {
		return out, fmt.Errorf("count workflows of other types: %w", err)
	}

	out.Unknown = unknown.GetCount()

	return out, nil
}

// verifyType replays the runs of one type.
func verifyType(ctx context.Context, c client.Client, o VerifyOptions, name string) (VerifiedType, []FailedReplay, error) {
	of := VerifiedType{Name: name}
	running := fmt.Sprintf("TaskQueue = '%s' AND WorkflowType = '%s' AND ExecutionStatus = 'Running'", o.Queue, name)
	ended := fmt.Sprintf("TaskQueue = '%s' AND WorkflowType = '%s' AND CloseTime > '%s'",
		o.Queue, name, o.Since.UTC().Format(time.RFC3339Nano))

	var failed []FailedReplay

	for _, part := range []struct {
		query  string
		n, all *int64
	}{{running, &of.Running, &of.AllRunning}, {ended, &of.Ended, &of.AllEnded}} {
		all, err := c.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: o.Namespace, Query: part.query})
		if err != nil {
			return of, nil, fmt.Errorf("count: %w", err)
		}

		runs, err := listRuns(ctx, c, o, part.query)
		if err != nil {
			return of, nil, fmt.Errorf("list: %w", err)
		}

		bad, err := replayAll(ctx, c, o, name, runs)
		if err != nil {
			return of, nil, err
		}

		*part.n, *part.all = int64(len(runs)), max(all.GetCount(), int64(len(runs)))
		failed = append(failed, bad...)
	}

	return of, failed, nil
}

// listRuns lists at most o.Limit runs, the newest first as Temporal gives them.
func listRuns(ctx context.Context, c client.Client, o VerifyOptions, query string) ([]*commonpb.WorkflowExecution, error) {
	var (
		runs []*commonpb.WorkflowExecution
		page []byte
	)

	for {
		found, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: o.Namespace, Query: query, NextPageToken: page,
		})
		if err != nil {
			return nil, err
		}

		for _, e := range found.GetExecutions() {
			if runs = append(runs, e.GetExecution()); len(runs) == o.Limit {
				return runs, nil
			}
		}

		if page = found.GetNextPageToken(); len(page) == 0 {
			return runs, nil
		}
	}
}

// replayAll replays runs side by side and returns those that do not replay.
func replayAll(
	ctx context.Context, c client.Client, o VerifyOptions, name string, runs []*commonpb.WorkflowExecution,
) ([]FailedReplay, error) {
	var (
		mu     sync.Mutex
		failed []FailedReplay
	)

	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(replaysAtOnce)

	for _, run := range runs {
		all.Go(func() error {
			history, err := readHistory(ctx, c, run)
			if err != nil || history == nil {
				return err
			}

			if err := replay(o, run, history); err != nil {
				mu.Lock()
				defer mu.Unlock()

				failed = append(failed, FailedReplay{name, run.GetWorkflowId(), run.GetRunId(), err})
			}

			return nil
		})
	}

	err := all.Wait()

	return failed, err
}

// readHistory reads the history of a run; nil when Temporal has deleted it meanwhile.
func readHistory(ctx context.Context, c client.Client, run *commonpb.WorkflowExecution) (*historypb.History, error) {
	history := &historypb.History{}

	events := c.GetWorkflowHistory(ctx, run.GetWorkflowId(), run.GetRunId(), false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()

		if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
			return nil, nil //nolint:nilnil // there is nothing left to replay
		}

		if err != nil {
			return nil, fmt.Errorf("read the history of %s: %w", run.GetWorkflowId(), err)
		}

		history.Events = append(history.Events, e)
	}

	return history, nil
}

// untouched is how many events a run has that no worker has taken up: it was started, and its first task is due.
const untouched = 2

func replay(o VerifyOptions, run *commonpb.WorkflowExecution, history *historypb.History) error {
	if len(history.GetEvents()) <= untouched {
		return nil
	}

	// On a busy machine a second is no deadlock; workflowcheck looks for code that blocks.
	replayer, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
		DataConverter: o.Data, FailureConverter: o.Failures, DisableDeadlockDetection: true,
	})
	if err != nil {
		return err
	}

	workflows.Register(replayer)

	return replayer.ReplayWorkflowHistoryWithOptions(log.NewStructuredLogger(slog.New(slog.DiscardHandler)), history,
		worker.ReplayWorkflowHistoryOptions{OriginalExecution: workflow.Execution{ID: run.GetWorkflowId(), RunID: run.GetRunId()}})
}
