package telemetry

import (
	"database/sql"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.temporal.io/sdk/client"

	"rihla/models"
)

// Metrics is what the service counts. Every label has a small, fixed set of values.
type Metrics struct {
	registry        *prometheus.Registry
	requests        *prometheus.CounterVec
	requestTimes    *prometheus.HistogramVec
	gatewayCalls    *prometheus.HistogramVec
	paymentsSettled *prometheus.CounterVec
	webhooks        *prometheus.CounterVec
	relayBacklog    prometheus.Gauge
	limitsShared    prometheus.Gauge
	breakers        *prometheus.GaugeVec
	callsNotSent    *prometheus.CounterVec
	pauses          *prometheus.CounterVec
	pausedSeconds   *prometheus.CounterVec
	waits           *prometheus.HistogramVec
	asked           *prometheus.CounterVec
	silent          *prometheus.CounterVec
	notAdmitted     *prometheus.CounterVec
	refundsOrdered  *prometheus.CounterVec
	refundOrders    *prometheus.CounterVec
	webhookSettled  *prometheus.HistogramVec

	temporalOnce sync.Once
	temporal     client.MetricsHandler
	temporalErr  error
}

const namespace = "rihla"

// halalasPerRiyal is 1 SAR.
const halalasPerRiyal = 100

// NewMetrics registers the service's metrics, and those of the Go runtime and the process, with registry. It panics when
// they are registered there already.
func NewMetrics(registry *prometheus.Registry) *Metrics {
	m := &Metrics{
		registry: registry,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "http_requests_total", Help: "API requests answered.",
		}, []string{"route", "method", "status"}),
		// Without the status, which would multiply its series by all answers of an operation.
		requestTimes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "http_request_duration_seconds", Help: "Time to answer an API request.",
			Buckets: []float64{.0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 30},
		}, []string{"route", "method"}),
		gatewayCalls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "gateway_call_duration_seconds", Help: "Time that a call to a payment gateway took.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2, 4, 8},
		}, []string{"gateway", "operation", "outcome"}),
		paymentsSettled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "payments_settled_total", Help: "Payment attempts that reached a final state.",
		}, []string{"status", "gateway"}),
		webhooks: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "webhooks_total", Help: "Webhooks received, by outcome.",
		}, []string{"channel", "outcome"}),
		relayBacklog: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Name: "webhook_relay_backlog",
			Help: "Webhook events in this process's memory that wait to be handed to their workflow; rihla_overdue counts those in the database.",
		}),
		limitsShared: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Name: "rate_limits_shared", Help: "1 while rate limits are counted in Redis, 0 while this process counts alone.",
		}),
		notAdmitted: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: namespace, Name: "admission_refused_total",
			Help: "Payments that were answered 503 at once, because as many as can be answered in time were under way.",
		}, []string{"class"}),
	}

	m.refundsOrdered = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Name: "refunds_ordered_total", Help: "Amount in SAR of the refunds that persons have ordered, by their role.",
	}, []string{"role"})

	m.refundOrders = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Name: "refund_orders_total", Help: "Refunds that persons have ordered, by their role.",
	}, []string{"role"})
	m.webhookSettled = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Name: "webhook_settle_seconds", Help: "Time from the receipt of a webhook to the payment's PAID.",
		Buckets: []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
	}, []string{"gateway"})

	for _, role := range models.Roles() { // there from the start: an alert sees the first one, too
		m.refundsOrdered.WithLabelValues(string(role))
		m.refundOrders.WithLabelValues(string(role))
	}

	for _, channel := range models.AllChannels() {
		m.webhooks.WithLabelValues(string(channel), "unreadable")
	}

	m.makeGuardMetrics()

	registry.MustRegister(
		m.requests, m.requestTimes, m.gatewayCalls, m.paymentsSettled, m.webhooks, m.relayBacklog, m.limitsShared,
		m.breakers, m.callsNotSent, m.pauses, m.pausedSeconds, m.waits, m.asked, m.silent, m.notAdmitted, m.refundsOrdered,
		m.refundOrders, m.webhookSettled,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)

	return m
}

// Built says what this process is built from, rihla_build_info: two releases beside each other are told apart by it.
func (m *Metrics) Built(version, commit string) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info", Help: "1, with what the process is built from.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit, "go": runtime.Version()},
	}, func() float64 { return 1 }))
}

// WatchPool shows the figures of a part's database pool, go_sql_…: connections in use, and how long was waited for one.
func (m *Metrics) WatchPool(part string, pool *sql.DB) {
	m.registry.MustRegister(collectors.NewDBStatsCollector(pool, part))
}

// Handler serves the metrics in the Prometheus text format, for /metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{CoalesceGather: true})
}

// Request counts an answered request. The route is its pattern, such as /api/v1/bookings/:id, never the path with ids;
// empty when no route matched.
func (m *Metrics) Request(route, method string, status int, took time.Duration) {
	if route == "" {
		route = "unmatched"
	}

	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
	default:
		method = "OTHER" // the caller chooses the method's name, and must not choose how many series there are
	}

	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	m.requestTimes.WithLabelValues(route, method).Observe(took.Seconds())
}

// GatewayCall counts one call to a gateway. The outcome is one of a few words, such as ok, rejected, unknown.
func (m *Metrics) GatewayCall(account models.MerchantAccount, operation, outcome string, took time.Duration) {
	m.gatewayCalls.WithLabelValues(string(account), operation, outcome).Observe(took.Seconds())
}

// PaymentSettled counts a payment attempt that reached status.
func (m *Metrics) PaymentSettled(status models.TransactionStatus, gateway models.Gateway) {
	m.paymentsSettled.WithLabelValues(string(status), string(gateway)).Inc()
}

// WebhookSettled counts a payment that became PAID this long after its webhook was received.
func (m *Metrics) WebhookSettled(gateway models.Gateway, took time.Duration) {
	m.webhookSettled.WithLabelValues(string(gateway)).Observe(took.Seconds())
}

// RefundOrdered counts a refund that a person has ordered, and its amount in SAR.
func (m *Metrics) RefundOrdered(role models.Role, amount models.Money) {
	m.refundOrders.WithLabelValues(string(role)).Inc()
	m.refundsOrdered.WithLabelValues(string(role)).Add(float64(amount.Halalas()) / halalasPerRiyal)
}

// Webhook counts a webhook on channel. The outcome is one of a few words, such as stored, duplicate, refused.
func (m *Metrics) Webhook(channel models.Channel, outcome string) {
	m.webhooks.WithLabelValues(string(channel), outcome).Inc()
}

// RelayBacklog says how many events wait in memory to be handed to their workflow.
func (m *Metrics) RelayBacklog(events int) { m.relayBacklog.Set(float64(events)) }

// RateLimitsShared says whether rate limits are counted in Redis, or by this process alone.
func (m *Metrics) RateLimitsShared(shared bool) {
	if shared {
		m.limitsShared.Set(1)
	} else {
		m.limitsShared.Set(0)
	}
}
