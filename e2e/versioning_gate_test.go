package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"rihla/e2e/harness"
	"rihla/internal/codec"
	"rihla/models"
)

// decrypting is a client that reads what workers with the key write.
func decrypting(t *testing.T, s *harness.Stack, key string) client.Client {
	t.Helper()

	keys, err := codec.ParseKeys([]string{key})
	require.NoError(t, err)
	c, err := codec.New(keys)
	require.NoError(t, err)

	o := client.Options{}
	c.Install(&o)

	reads, err := client.NewClientFromExisting(s.Temporal, o)
	require.NoError(t, err)
	t.Cleanup(reads.Close)

	return reads
}

// TestGateOfAVersion: what Temporal's worker controller starts on a version before it gets work ends when that build takes on all that runs,
// and fails when it does not. The controller pins it to the version, and sends no input; histories are encrypted.
func TestGateOfAVersion(t *testing.T) {
	t.Parallel()

	key := codecKey(t, "k1")
	s := harness.Start(t, harness.Options{Env: map[string]string{codecKeys: key}})
	reads := decrypting(t, s, key)
	customer := s.As(models.RoleEndUser)
	deployment := "test/" + strings.ReplaceAll(uuid.NewString(), "-", "") // the controller's form
	waits := customer.Book(1)

	s.NewWorker(map[string]string{"TEMPORAL_DEPLOYMENT_NAME": deployment, "TEMPORAL_WORKER_BUILD_ID": "build-1"})

	gate := func() error {
		t.Helper()

		pinned := &client.PinnedVersioningOverride{Version: worker.WorkerDeploymentVersion{DeploymentName: deployment, BuildID: "build-1"}}

		var run client.WorkflowRun

		require.EventuallyWithT(t, func(c *assert.CollectT) { // once Temporal knows the version
			var err error

			run, err = reads.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
				ID: "test-" + uuid.NewString(), TaskQueue: s.Queue, WorkflowExecutionTimeout: time.Hour, VersioningOverride: pinned,
			}, "Gate")
			require.NoError(c, err)
		}, patience, 200*time.Millisecond)

		var found struct {
			Replayed int64 `json:"replayed"`
		}

		err := run.Get(t.Context(), &found)
		require.Equal(t, "build-1", ranOn(t, s, run.GetID()))

		if err == nil {
			require.Positive(t, found.Replayed)
		}

		return err
	}

	require.NoError(t, gate())

	// Another build began this one: it waits where this build reserves the refund.
	s.Worker.Stop()

	other := worker.New(s.Temporal, s.Queue, worker.Options{})
	other.RegisterWorkflowWithOptions(func(ctx workflow.Context) error { return workflow.Sleep(ctx, time.Hour) }, workflow.RegisterOptions{Name: "Refund"})
	require.NoError(t, other.Start())

	refund, err := s.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: "refund/" + uuid.NewString(), TaskQueue: s.Queue, WorkflowTaskTimeout: time.Minute,
	}, "Refund")
	require.NoError(t, err)
	require.EventuallyWithT(t, func(c *assert.CollectT) { // once Temporal lists it, its timer set
		require.Greater(c, s.History(refund.GetID()), int64(4))
		require.ErrorContains(c, gate(), "Refund "+refund.GetID())
	}, patience, 200*time.Millisecond)

	other.Stop()
	require.NoError(t, s.Temporal.TerminateWorkflow(t.Context(), refund.GetID(), "", "seen"))

	s.Worker.Start()
	require.NoError(t, s.Pay(*waits.Payment.CheckoutURL, "succeed"))
	customer.Await(waits.ID)
}
