package histories_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"rihla/e2e/harness"
	"rihla/models"
)

// TestBacklogHistories: more messages than one deliverer sends in its time. Several share what is left.
func TestBacklogHistories(t *testing.T) {
	t.Parallel()

	company := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(1500 * time.Millisecond):
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(company.Close)

	s := harness.Start(t, harness.Options{Env: map[string]string{
		"SMS_DRIVER": "http", "SMS_URL": company.URL, "SMS_API_KEY": "histories-test-sms-api-key",
		"SMS_CONCURRENCY": "1", "MAIL_CONCURRENCY": "1", // a deliverer has as many messages at hand as it sends at once, twice
	}})
	customer := s.As(models.RoleEndUser)

	const payments = 8

	checkouts := make([]string, payments)
	for i := range checkouts {
		// The messages to one address would be one deliverer's.
		checkouts[i] = *customer.BookFor(fmt.Sprintf("+9665000001%02d", i)).Payment.CheckoutURL
	}

	for _, checkout := range checkouts {
		require.NoError(t, s.Pay(checkout, "succeed"))
	}

	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM notifications WHERE channel = 'SMS' AND status = 'SENT'") == payments
	}, time.Minute, 100*time.Millisecond)

	run := sharedOutbox(t, s)
	require.NotNil(t, run, "one deliverer was enough")
	replayRun(t, s, "outbox-splits-a-backlog", run)
}

// sharedOutbox is a run of the outbox in which several deliverers had a part; nil for none.
func sharedOutbox(t *testing.T, s *harness.Stack) *commonpb.WorkflowExecution {
	t.Helper()

	s.AwaitWorkflow("Outbox", 1)

	runs, err := s.Temporal.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
		Query: fmt.Sprintf("WorkflowType = 'Outbox' AND TaskQueue = '%s'", s.Queue),
	})
	require.NoError(t, err)

	for _, run := range runs.GetExecutions() {
		id := run.GetExecution()
		// It ends some seconds after its last message.
		require.NoError(t, s.Temporal.GetWorkflow(t.Context(), id.GetWorkflowId(), id.GetRunId()).Get(t.Context(), nil))

		events := s.Temporal.GetWorkflowHistory(t.Context(), id.GetWorkflowId(), id.GetRunId(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			require.NoError(t, err)

			if e.GetActivityTaskScheduledEventAttributes().GetActivityType().GetName() == "DeliverPart" {
				return id
			}
		}
	}

	return nil
}
