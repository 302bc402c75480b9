package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"rihla/internal/process"
)

// The reference of a payment is the least that Temporal can do of its shape: a workflow that is started with an update, runs one
// regular and one local activity that do nothing, and waits for a signal in between. It has no database and no API.
const (
	referenceOpened = "opened"
	referencePaid   = "paid"
	referenceTime   = 30 * time.Second
	referenceReady  = "reference worker polls"
)

func referenceWorkflow(ctx workflow.Context) error {
	opened := false

	err := workflow.SetUpdateHandler(ctx, referenceOpened, func(ctx workflow.Context) error {
		return workflow.Await(ctx, func() bool { return opened })
	})
	if err != nil {
		return err
	}

	regular := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: referenceTime})
	if err := workflow.ExecuteActivity(regular, referenceActivity).Get(ctx, nil); err != nil {
		return err
	}

	opened = true

	workflow.GetSignalChannel(ctx, referencePaid).Receive(ctx, nil)

	local := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{StartToCloseTimeout: referenceTime})

	return workflow.ExecuteLocalActivity(local, referenceActivity).Get(ctx, nil)
}

func referenceActivity(context.Context) error { return nil }

// newReferenceWorker is a process of its own, so that its CPU can be told from that of the load.
func newReferenceWorker() *cobra.Command {
	var address, queue string

	c := &cobra.Command{
		Use: "reference-worker", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := dialQuietly(address)
			if err != nil {
				return err
			}
			defer c.Close()

			w := worker.New(c, queue, worker.Options{DisableRegistrationAliasing: true})
			w.RegisterWorkflow(referenceWorkflow)
			w.RegisterActivity(referenceActivity)

			if err := w.Start(); err != nil {
				return err
			}
			defer w.Stop()

			fmt.Fprintln(cmd.OutOrStdout(), referenceReady)
			<-cmd.Context().Done()

			return nil
		},
	}
	c.Flags().StringVar(&address, "address", "", "of Temporal")
	c.Flags().StringVar(&queue, "queue", "", "its task queue")

	return c
}

func dialQuietly(address string) (client.Client, error) {
	return client.Dial(client.Options{HostPort: address, Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))})
}

// reference is the reference on a stage.
type reference struct {
	temporal client.Client
	queue    string
	worker   *process.Program
}

func (s *stage) startReference(ctx context.Context) (*reference, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}

	r := &reference{temporal: s.temporal, queue: "reference-" + uuid.NewString()}
	r.worker = &process.Program{
		Command: process.Command{
			Name: "reference worker", Path: self, Orphan: syscall.SIGKILL, Log: filepath.Join(s.dir, "logs", "reference.log"),
			Args: []string{"reference-worker", "--address", s.stack.TemporalAddress, "--queue", r.queue},
		},
		Settings: map[string]string{"PATH": os.Getenv("PATH"), "HOME": s.dir}, ReadyLine: referenceReady,
	}

	if err := r.worker.Start(); err != nil {
		return nil, err
	}

	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()

	return r, r.worker.Await(ctx)
}

// run takes one of them from the update to its end.
func (r *reference) run(ctx context.Context) error {
	id := "reference-" + uuid.NewString()
	start := r.temporal.NewWithStartWorkflowOperation(client.StartWorkflowOptions{
		ID: id, TaskQueue: r.queue, WorkflowIDConflictPolicy: useExisting,
	}, referenceWorkflow)

	opened, err := r.temporal.UpdateWithStartWorkflow(ctx, client.UpdateWithStartWorkflowOptions{
		StartWorkflowOperation: start,
		UpdateOptions: client.UpdateWorkflowOptions{
			UpdateName: referenceOpened, UpdateID: referenceOpened, WaitForStage: client.WorkflowUpdateStageCompleted,
		},
	})
	if err != nil {
		return err
	}

	if err := opened.Get(ctx, nil); err != nil {
		return err
	}

	if err := r.temporal.SignalWorkflow(ctx, id, "", referencePaid, nil); err != nil {
		return err
	}

	return r.temporal.GetWorkflow(ctx, id, "").Get(ctx, nil)
}
