package telemetry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
)

const (
	// nonDeterminism is the SDK's counter of failed workflow tasks, and nonDeterminismReason its reason for a history that this code does
	// not replay. The alert about it needs a series that was 0 before.
	nonDeterminism       = "temporal_workflow_task_execution_failed"
	nonDeterminismReason = "NonDeterminismError"
)

// temporalLabels are those that series of the SDK keep, each with a small, fixed set of values. The client's name is always the same.
var temporalLabels = []string{
	"namespace", "task_queue", "worker_type", "poller_type", "workflow_type", "activity_type", "operation", "status_code", "failure_reason",
	"cause",
}

// requestLabels are those of requests to Temporal, which would have as many series as there are operations times workflows times
// activities.
var requestLabels = []string{"namespace", "operation", "status_code", "cause"}

// temporalBuckets are seconds. An activity may take as long as a gateway, a payment until it has expired.
var temporalBuckets = []float64{.005, .025, .1, .5, 1, 2.5, 5, 10, 30, 120}

// Temporal is what the SDK of Temporal counts in this process: temporal_…, in the names of Prometheus (…_total, …_seconds). A process
// has one, for all its clients and workers.
func (m *Metrics) Temporal() (client.MetricsHandler, error) {
	m.temporalOnce.Do(func() { m.temporal, m.temporalErr = newTemporalHandler(m.registry) })

	return m.temporal, m.temporalErr
}

func newTemporalHandler(registry *prometheus.Registry) (client.MetricsHandler, error) {
	exporter, err := otelprometheus.New(
		otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo(), otelprometheus.WithoutTargetInfo(),
	)
	if err != nil {
		return nil, fmt.Errorf("metrics of Temporal: %w", err)
	}

	provider := metric.NewMeterProvider(metric.WithReader(exporter), metric.WithView(temporalView))

	return opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{
		Meter: provider.Meter("temporal-sdk-go"), UseMonotonicCounters: true,
		OnError: func(error) {}, // an instrument that cannot be made counts nothing: no payment stands still for it
	}), nil
}

func temporalView(i metric.Instrument) (metric.Stream, bool) {
	labels := temporalLabels
	if strings.HasPrefix(i.Name, "temporal_request") || strings.HasPrefix(i.Name, "temporal_long_request") {
		labels = requestLabels
	}

	s := metric.Stream{
		Name: i.Name, Description: i.Description, Unit: i.Unit,
		AttributeFilter: func(label attribute.KeyValue) bool { return slices.Contains(labels, string(label.Key)) },
	}
	if i.Kind == metric.InstrumentKindHistogram {
		s.Aggregation = metric.AggregationExplicitBucketHistogram{Boundaries: temporalBuckets, NoMinMax: true}
	}

	return s, true
}

// Workflows has the counters of failures there from the start for each type of workflow on a task queue: an alert sees the first one, too.
func (m *Metrics) Workflows(namespace, queue string, types []string) error {
	h, err := m.Temporal()
	if err != nil {
		return err
	}

	for _, name := range types {
		h.WithTags(map[string]string{
			"namespace": namespace, "task_queue": queue, "worker_type": "WorkflowWorker", "workflow_type": name, "activity_type": "none",
			"failure_reason": nonDeterminismReason,
		}).Counter(nonDeterminism).Inc(0)
	}

	return nil
}
