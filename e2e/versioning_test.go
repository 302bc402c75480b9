package e2e_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"rihla/e2e/harness"
	"rihla/internal/process"
	"rihla/models"
)

// makeCurrent has a version of the deployment take everything on, as soon as its workers poll; an empty build means workers
// without versions. One call was seen to wait for half a minute without an answer: each has a time of its own.
func makeCurrent(t *testing.T, s *harness.Stack, deployment, build string) {
	t.Helper()

	const oneCall = 5 * time.Second

	require.EventuallyWithT(t, func(c *assert.CollectT) {
		ctx, cancel := context.WithTimeout(t.Context(), oneCall)
		defer cancel()

		_, err := s.Temporal.WorkerDeploymentClient().GetHandle(deployment).
			SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build})
		require.NoError(c, err)
	}, patience, 200*time.Millisecond, build)
}

// ranOn is the version that has taken the workflow on last.
func ranOn(t *testing.T, s *harness.Stack, workflowID string) string {
	t.Helper()

	d, err := s.Temporal.DescribeWorkflow(t.Context(), workflowID, "")
	require.NoError(t, err)

	return d.RawResponse.GetWorkflowExecutionInfo().GetVersioningInfo().GetDeploymentVersion().GetBuildId()
}

// TestNewVersionTakesOver deploys while payments wait: from workers without versions to versioned ones, from one version to
// the next, and all the way back.
func TestNewVersionTakesOver(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer := s.As(models.RoleEndUser)
	deployment := "test-" + strings.ReplaceAll(uuid.NewString(), "-", "")
	version := func(build string) *harness.Process {
		return s.NewWorker(map[string]string{"TEMPORAL_DEPLOYMENT_NAME": deployment, "TEMPORAL_BUILD_ID": build})
	}
	pay := func(b harness.Booking, build string) {
		t.Helper()
		require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
		require.Equal(t, models.BookingConfirmed, customer.Await(b.ID).BookingStatus)

		id := models.PaymentWorkflowID(b.Payment.TransactionID)
		require.NoError(t, s.Temporal.GetWorkflow(t.Context(), id, "").Get(t.Context(), nil))
		require.Equal(t, build, ranOn(t, s, id))
	}

	unversioned := customer.Book(1)
	one := version("build-1")

	// A new version gets nothing until it is made current.
	before := customer.Book(1)
	require.Empty(t, ranOn(t, s, models.PaymentWorkflowID(before.Payment.TransactionID)))
	pay(before, "")

	makeCurrent(t, s, deployment, "build-1")
	s.Worker.Stop()

	first := customer.Book(1)
	require.Equal(t, "build-1", ranOn(t, s, models.PaymentWorkflowID(first.Payment.TransactionID)))
	pay(unversioned, "build-1")

	two := version("build-2")
	pay(customer.Book(1), "build-1")
	makeCurrent(t, s, deployment, "build-2")
	one.Kill()

	second := customer.Book(1)
	require.Equal(t, "build-2", ranOn(t, s, models.PaymentWorkflowID(second.Payment.TransactionID)))
	pay(first, "build-2") // no worker of its own version is left
	pay(second, "build-2")

	// The way back: to workers of the older build, which have to be there again, and to those without versions.
	third, fourth := customer.Book(1), customer.Book(1)
	one = version("build-1")
	makeCurrent(t, s, deployment, "build-1")
	pay(third, "build-1")

	s.Worker.Start()
	makeCurrent(t, s, deployment, "")
	one.Kill()
	two.Kill() // until then it keeps what it has in memory
	pay(fourth, "")

	for _, kind := range []string{"Sweep", "Outbox"} {
		for _, id := range s.AwaitWorkflow(kind, 1) {
			d, err := s.Temporal.DescribeWorkflow(t.Context(), id, "")
			require.NoError(t, err)
			require.NotEqual(t, enumspb.WORKFLOW_EXECUTION_STATUS_FAILED, d.Status)
		}
	}
}

// TestARampTakesItsShareAndGivesItBack: a version that is ramping gets what begins and what waits; what it has begun goes on
// with the current one when it is called off.
func TestARampTakesItsShareAndGivesItBack(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer := s.As(models.RoleEndUser)
	deployment := "test-" + strings.ReplaceAll(uuid.NewString(), "-", "")

	for _, build := range []string{"build-1", "build-2"} {
		s.NewWorker(map[string]string{"TEMPORAL_DEPLOYMENT_NAME": deployment, "TEMPORAL_BUILD_ID": build})
		makeCurrent(t, s, deployment, build)
	}

	makeCurrent(t, s, deployment, "build-1")
	s.Worker.Stop()

	ramp := func(build string, percentage float32) {
		t.Helper()

		_, err := s.Temporal.WorkerDeploymentClient().GetHandle(deployment).
			SetRampingVersion(t.Context(), client.WorkerDeploymentSetRampingVersionOptions{BuildID: build, Percentage: percentage})
		require.NoError(t, err)
	}
	runsOn := func(build string, b harness.Booking) {
		t.Helper()
		require.Equal(t, build, ranOn(t, s, models.PaymentWorkflowID(b.Payment.TransactionID)))
	}
	pay := func(build string, b harness.Booking) {
		t.Helper()
		require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
		require.Equal(t, models.BookingConfirmed, customer.Await(b.ID).BookingStatus)
		require.NoError(t, s.Temporal.GetWorkflow(t.Context(), models.PaymentWorkflowID(b.Payment.TransactionID), "").Get(t.Context(), nil))
		runsOn(build, b)
	}

	waiting := customer.Book(1)
	runsOn("build-1", waiting)

	ramp("build-2", 100) // all of it, so that it is known who gets what
	begun, paid := customer.Book(1), customer.Book(1)
	runsOn("build-2", begun)
	pay("build-2", paid)
	pay("build-2", waiting)

	ramp("", 0)
	runsOn("build-1", customer.Book(1))
	pay("build-1", begun)
}

// TestVerifyReplaysWhatRuns: `rihla worker verify` replays what runs and what has ended, encrypted or not, and refuses a build that could
// not take a history on, or has not got its type.
func TestVerifyReplaysWhatRuns(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer := s.As(models.RoleEndUser)
	paid, waits := customer.Book(1), customer.Book(1)

	require.NoError(t, s.Pay(*paid.Payment.CheckoutURL, "succeed"))
	customer.Await(paid.ID)
	require.NoError(t, s.Temporal.GetWorkflow(t.Context(), models.PaymentWorkflowID(paid.Payment.TransactionID), "").Get(t.Context(), nil))

	verify := func() string {
		out, err := s.Command("", "worker", "verify")
		if err != nil {
			out += err.Error()
		}

		return out
	}
	found := func(pattern string) {
		t.Helper()

		require.EventuallyWithT(t, func(c *assert.CollectT) { // once Temporal lists it
			require.Regexp(c, pattern, verify())
		}, patience, 200*time.Millisecond)
	}

	found(`(?s)^Workflow .*\nPayment +1 of 1 +([1-9]) of [1-9]\n.*\nGate +0 of 0 +0 of 0\n$`)

	// Another build began this one: it waits where this build reserves the refund.
	s.Worker.Stop()

	other := worker.New(s.Temporal, s.Queue, worker.Options{})
	other.RegisterWorkflowWithOptions(func(ctx workflow.Context) error { return workflow.Sleep(ctx, time.Hour) }, workflow.RegisterOptions{Name: "Refund"})
	require.NoError(t, other.Start())

	start := func(kind string) string {
		t.Helper()

		run, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
			ID: strings.ToLower(kind) + "/" + uuid.NewString(), TaskQueue: s.Queue, WorkflowTaskTimeout: time.Minute,
		}, kind)
		require.NoError(t, err)

		return run.GetID()
	}
	refund := start("Refund")

	found(`(?s)\nRefund ` + refund + `, run \S+, does not replay: .*this build cannot take on all workflows`)
	other.Stop()
	require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), refund, "", "seen"))

	forgotten := start("Forgotten")
	found(`(?s)\n1 workflows of other types are running.*exit status 1$`)
	require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), forgotten, "", "seen"))

	s.Worker.Start()
	require.NoError(t, s.Pay(*waits.Payment.CheckoutURL, "succeed"))
	customer.Await(waits.ID)
}

// TestPromoteAndRollback: a version takes over by a ramp that is watched, and gives the work back when it fails a task; the version before
// takes over again at once.
func TestPromoteAndRollback(t *testing.T) {
	t.Parallel()

	s := harness.Start(t, harness.Options{})
	customer := s.As(models.RoleEndUser)
	deployment := "test-" + strings.ReplaceAll(uuid.NewString(), "-", "")
	deployed := func(build string) map[string]string {
		return map[string]string{"TEMPORAL_DEPLOYMENT_NAME": deployment, "TEMPORAL_BUILD_ID": build}
	}
	onBuild := func(build string) {
		t.Helper()

		b := customer.Book(1)
		require.Equal(t, build, ranOn(t, s, models.PaymentWorkflowID(b.Payment.TransactionID)))
		require.NoError(t, s.Pay(*b.Payment.CheckoutURL, "succeed"))
		customer.Await(b.ID)
	}

	text, err := s.Command("", "worker", "promote")
	require.Error(t, err)
	require.Contains(t, text, "TEMPORAL_BUILD_ID is missing")

	one := s.NewWorker(deployed("build-1"))
	two := s.NewWorker(deployed("build-2"))

	// A version whose workers fail: it is given everything, and gives it back.
	bad := worker.New(s.Temporal, s.Queue, worker.Options{DeploymentOptions: worker.DeploymentOptions{
		UseVersioning: true, Version: worker.WorkerDeploymentVersion{DeploymentName: deployment, BuildID: "bad"},
		DefaultVersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
	}})
	bad.RegisterWorkflowWithOptions(func(workflow.Context) error { panic("of a bad build") }, workflow.RegisterOptions{Name: "Payment"})
	require.NoError(t, bad.Start())
	t.Cleanup(bad.Stop)

	handle := s.Temporal.WorkerDeploymentClient().GetHandle(deployment)
	require.EventuallyWithT(t, func(c *assert.CollectT) { // Temporal has heard of all three
		for _, build := range []string{"build-1", "build-2", "bad"} {
			_, err := handle.DescribeVersion(t.Context(), client.WorkerDeploymentDescribeVersionOptions{BuildID: build})
			require.NoError(c, err)
		}
	}, patience, 200*time.Millisecond)

	promoted := make(chan string, 1)

	go func() {
		settings := maps.Clone(one.Settings)
		maps.Copy(settings, deployed("bad"))

		text, err := s.CommandOf(&harness.Process{Program: &process.Program{Settings: settings}}, "worker", "promote", "--ramp", "100", "--watch", "2m")
		promoted <- text + fmt.Sprint(err)
	}()

	require.EventuallyWithT(t, func(c *assert.CollectT) {
		d, err := handle.Describe(t.Context(), client.WorkerDeploymentDescribeOptions{})
		require.NoError(c, err)
		require.InDelta(c, 100, d.Info.RoutingConfig.RampingVersionPercentage, 0)
	}, patience, 200*time.Millisecond)

	failing, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: "payment/" + uuid.NewString(), TaskQueue: s.Queue, WorkflowTaskTimeout: time.Second,
	}, "Payment")
	require.NoError(t, err)

	said := <-promoted
	require.Regexp(t, `(`+failing.GetID()+`|sweep/\S+) cannot go on`, said, "a sweep begins by itself, and it has none either")
	require.Contains(t, said, "bad gets no more work")
	require.Contains(t, said, "exit status 1")
	_ = failing.Get(t.Context(), nil) // the version before takes it on, and cannot read what it was not given
	onBuild("")

	// Versions that do their work, and the way back.
	for _, step := range []struct {
		process *harness.Process
		build   string
		args    []string
	}{
		{one, "build-1", []string{"promote", "--ramp", "50", "--watch", "3s"}},
		{two, "build-2", []string{"promote", "--ramp", "0"}},
		{one, "build-1", []string{"rollback"}},
	} {
		text, err := s.CommandOf(step.process, append([]string{"worker"}, step.args...)...)
		require.NoError(t, err, text)
		require.Contains(t, text, step.build+" is current")
		onBuild(step.build)
	}

	text, err = s.CommandOf(one, "worker", "rollback")
	require.NoError(t, err, text)
	require.Contains(t, text, "is current already")

	// A ramp begun by Temporal's command line: going back ends it.
	_, err = handle.SetRampingVersion(t.Context(), client.WorkerDeploymentSetRampingVersionOptions{BuildID: "build-2", Percentage: 100})
	require.NoError(t, err)

	text, err = s.CommandOf(one, "worker", "rollback")
	require.NoError(t, err, text)
	require.Contains(t, text, "build-2 gets no more work")
	onBuild("build-1")
	s.Worker.Stop()
}
