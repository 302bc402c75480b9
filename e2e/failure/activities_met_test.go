package failure_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"

	"rihla/activities"
	"rihla/e2e/harness"
)

// activitySet are the activities that have run.
type activitySet struct {
	mu       sync.Mutex
	ran      map[string]bool
	journeys int
}

// add notes all that ran on the stack's queue, on one journey.
func (a *activitySet) add(t *testing.T, s *harness.Stack) {
	t.Helper()

	list, err := s.Temporal.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
		PageSize: 1000, Query: fmt.Sprintf("TaskQueue = '%s'", s.Queue),
	})
	require.NoError(t, err)

	a.mu.Lock()
	defer a.mu.Unlock()

	a.journeys++

	if a.ran == nil {
		a.ran = map[string]bool{}
	}

	for _, w := range list.GetExecutions() {
		events := s.Temporal.GetWorkflowHistory(t.Context(), w.GetExecution().GetWorkflowId(), w.GetExecution().GetRunId(), false,
			enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			require.NoError(t, err)

			if name := activityOf(e); name != "" {
				a.ran[name] = true
			}
		}
	}
}

// activityOf is the activity that an event is about, a regular or a local one.
func activityOf(e *history.HistoryEvent) string {
	if regular := e.GetActivityTaskScheduledEventAttributes(); regular != nil {
		return regular.GetActivityType().GetName()
	}

	for _, p := range e.GetMarkerRecordedEventAttributes().GetDetails()["data"].GetPayloads() {
		_, rest, found := strings.Cut(string(p.GetData()), `"ActivityType":"`)
		if name, _, ok := strings.Cut(rest, `"`); found && ok {
			return name
		}
	}

	return ""
}

// retired are activities that only workflows call which older workers began: no new one comes through them, and kept histories
// replay what they answered.
var retired = map[string]bool{"ReserveRefund": true, "CancelTripBooking": true}

// missing are the service's activities that have not run.
func (a *activitySet) missing() []string {
	var missing []string

	for _, set := range []any{&activities.Payments{}, &activities.Outbox{}, &activities.Sweep{}, &activities.Audit{}, &activities.Polls{}} {
		for m := range reflect.TypeOf(set).Methods() {
			if !a.ran[m.Name] && !retired[m.Name] {
				missing = append(missing, m.Name)
			}
		}
	}

	slices.Sort(missing)

	return missing
}
