package telemetry

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// TestTemporal: names and labels of what the SDK counts, as docs/operations.md has them; ids that come as labels do not get out.
func TestTemporal(t *testing.T) {
	t.Parallel()

	m := NewMetrics(prometheus.NewRegistry())
	require.NoError(t, m.Workflows("default", "payments", []string{"Payment", "Refund"}))

	h, err := m.Temporal()
	require.NoError(t, err)

	_, err = m.Temporal()
	require.NoError(t, err, "one for all clients of a process")

	h = h.WithTags(map[string]string{
		"namespace": "default", "client_name": "temporal_go", "task_queue": "payments", "workflow_type": "Payment", "activity_type": "none",
		"worker_type": "WorkflowWorker", "workflow_id": "payment/1234",
	})
	h.Timer("temporal_workflow_task_schedule_to_start_latency").Record(30 * time.Millisecond)
	h.Gauge("temporal_worker_task_slots_available").Update(7)
	h.WithTags(map[string]string{"operation": "StartWorkflowExecution", "status_code": "UNAVAILABLE"}).
		Counter("temporal_request_failure").Inc(3)
	h.WithTags(map[string]string{"failure_reason": "NonDeterminismError"}).Counter("temporal_workflow_task_execution_failed").Inc(1)

	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))

	var lines []string

	for line := range strings.Lines(answer.Body.String()) {
		if strings.HasPrefix(line, "temporal_") && !strings.Contains(line, "le=") {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
			lines = append(lines, name+"} "+value)
		}
	}

	const of = `namespace="default",task_queue="payments",worker_type="WorkflowWorker",workflow_type=`

	require.ElementsMatch(t, []string{
		`temporal_workflow_task_schedule_to_start_latency_seconds_sum{activity_type="none",` + of + `"Payment"} 0.03`,
		`temporal_workflow_task_schedule_to_start_latency_seconds_count{activity_type="none",` + of + `"Payment"} 1`,
		`temporal_worker_task_slots_available{activity_type="none",` + of + `"Payment"} 7`,
		`temporal_request_failure_total{namespace="default",operation="StartWorkflowExecution",status_code="UNAVAILABLE"} 3`,
		`temporal_workflow_task_execution_failed_total{activity_type="none",failure_reason="NonDeterminismError",` + of + `"Payment"} 1`,
		`temporal_workflow_task_execution_failed_total{activity_type="none",failure_reason="NonDeterminismError",` + of + `"Refund"} 0`,
	}, lines)
}
