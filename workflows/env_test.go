package workflows_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"rihla/activities"
	"rihla/models"
	"rihla/workflows"
)

// The activities by which mocks are named.
var (
	acts  = &activities.Payments{}
	posts = &activities.Outbox{}
	sweep = &activities.Sweep{}
)

// began is the time at which every workflow starts; the real one, because the SDK measures local activities by it.
var began = time.Now().UTC().Truncate(time.Second)

// world runs one workflow against activities that are mocked, in a time that passes as fast as nothing happens.
type world struct {
	*testsuite.TestWorkflowEnvironment

	t       *testing.T
	upserts atomic.Pointer[temporal.SearchAttributes]    // the last that the workflow has set
	atOnce  func(uuid.UUID) (models.RefundResult, error) // what the first try of a refund comes to; nil: nothing
}

func newWorld(t *testing.T) *world {
	t.Helper()

	return newWorldWith(t, workflows.Refund)
}

// newWorldWith has another workflow in place of Refund.
func newWorldWith(t *testing.T, refund any) *world {
	t.Helper()

	var suite testsuite.WorkflowTestSuite

	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	w := &world{TestWorkflowEnvironment: suite.NewTestWorkflowEnvironment(), t: t}
	w.SetStartTime(began)
	w.SetTestTimeout(time.Minute)
	// The SDK's second is not enough when the tests of all packages run at once.
	w.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: 30 * time.Second})
	w.RegisterActivity(acts)
	w.RegisterActivity(posts)
	w.RegisterActivity(sweep)
	w.RegisterWorkflow(workflows.Campaign)
	w.RegisterWorkflowWithOptions(refund, workflow.RegisterOptions{Name: "Refund"})
	w.OnUpsertTypedSearchAttributes(mock.MatchedBy(func(sa temporal.SearchAttributes) bool {
		w.upserts.Store(&sa)

		return true
	})).Return(nil).Maybe()
	w.OnActivity(acts.TryRefund, mock.Anything, mock.Anything, mock.Anything).Return(
		func(_ context.Context, id uuid.UUID, _ models.Gateway) (models.RefundResult, error) {
			if w.atOnce == nil {
				return models.RefundResult{}, errDown
			}

			return w.atOnce(id)
		}).Maybe()
	t.Cleanup(func() { w.AssertExpectations(t) })

	return w
}

// paymentStatus and needsReview are what operators can search for.
func (w *world) paymentStatus() string {
	sa := w.upserts.Load()
	if sa == nil {
		return ""
	}

	v, _ := sa.GetKeyword(temporal.NewSearchAttributeKeyKeyword("PaymentStatus"))

	return v
}

func (w *world) needsReview() bool {
	sa := w.upserts.Load()
	if sa == nil {
		return false
	}

	v, _ := sa.GetBool(temporal.NewSearchAttributeKeyBool("NeedsReview"))

	return v
}

// at runs fn when so much time has passed.
func (w *world) at(after time.Duration, fn func()) { w.RegisterDelayedCallback(fn, after) }

// event says that a webhook is stored.
func (w *world) event() { w.SignalWorkflow(workflows.SignalEvent, uuid.New()) }

// answer is what came of an update.
type answer[T any] struct {
	done  bool
	at    time.Time
	value T
	err   error
}

// update sends an update whose id is its name, as the client does, and collects the answer.
func update[T any](w *world, name string) *answer[T] {
	a := &answer[T]{}
	w.UpdateWorkflow(name, name+uuid.NewString(), &testsuite.TestUpdateCallback{
		OnAccept: func() {},
		OnReject: func(err error) { w.t.Errorf("update %s rejected: %v", name, err) },
		OnComplete: func(v any, err error) {
			a.done, a.at, a.err = true, w.Now(), err
			if err == nil {
				a.value = v.(T)
			}
		},
	})

	return a
}

// requireDone checks that the workflow has completed without an error, and gives its result.
func requireDone[T any](w *world) T {
	w.t.Helper()
	require.True(w.t, w.IsWorkflowCompleted())
	require.NoError(w.t, w.GetWorkflowError())

	var out T

	require.NoError(w.t, w.GetWorkflowResult(&out))

	return out
}

// domainError is a refusal as it leaves an activity.
func domainError(code models.Code) error {
	return temporal.NewApplicationErrorWithOptions("No.", string(code), temporal.ApplicationErrorOptions{
		NonRetryable: true, Details: []any{map[string][]string{"amount": {"is too much"}}},
	})
}

func requireType(t *testing.T, want models.Code, err error) {
	t.Helper()

	e, ok := errors.AsType[*temporal.ApplicationError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, string(want), e.Type())
	require.True(t, e.NonRetryable())
}

var errDown = errors.New("connection refused")

// failing gives up with errDown n times, then does it.
func failing[A, R any](n int32, do func(A) (R, error)) (func(context.Context, A) (R, error), *atomic.Int32) {
	calls := &atomic.Int32{}

	return func(_ context.Context, a A) (R, error) {
		if calls.Add(1) <= n {
			var none R

			return none, errDown
		}

		return do(a)
	}, calls
}

// alreadyStarted lets the start of a child fail because it runs already.
func (w *world) alreadyStarted(child, arg any) {
	w.OnWorkflow(child, mock.Anything, arg).Return(nil, testsuite.ErrMockStartChildWorkflowFailed).Once()
}
