package telemetry

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"rihla/models"
)

func TestMetrics(t *testing.T) {
	t.Parallel()

	m := NewMetrics(prometheus.NewRegistry())
	m.Request("/api/v1/bookings/:id", http.MethodGet, 200, 3*time.Millisecond)
	m.Request("", "BREW", 404, time.Millisecond)
	m.GatewayCall(models.AccountGatewayA, "create_checkout", "ok", 80*time.Millisecond)
	m.PaymentSettled(models.TransactionPaid, models.GatewayWalletB)
	m.PaymentSettled(models.TransactionPaid, models.GatewayWalletB)
	m.Webhook(models.ChannelBillPayment, "duplicate")
	m.RelayBacklog(7)
	m.RateLimitsShared(true)
	m.GatewayBreaker(models.AccountWalletB, "refund", "open")
	m.GatewayNotSent(models.AccountWalletB, "refund", "open")
	m.GatewayPaused(models.AccountWalletB, "refund", 90*time.Second)
	m.StatusAsked(models.ChannelWalletA, "news")
	m.WebhooksSilent(models.ChannelWalletA)
	m.GatewayWaited(models.AccountWalletB, "refund", 60*time.Millisecond)

	m.Built("1.2.0", "f0fced20c0de")

	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, answer.Code)

	for _, line := range []string{
		`rihla_http_request_duration_seconds_bucket{method="GET",route="/api/v1/bookings/:id",le="0.0025"} 0`,
		`rihla_http_request_duration_seconds_bucket{method="GET",route="/api/v1/bookings/:id",le="0.005"} 1`,
		`rihla_http_request_duration_seconds_count{method="OTHER",route="unmatched"} 1`,
		`rihla_http_requests_total{method="OTHER",route="unmatched",status="404"} 1`,
		`rihla_gateway_call_duration_seconds_count{gateway="gateway_a",operation="create_checkout",outcome="ok"} 1`,
		`rihla_payments_settled_total{gateway="wallet_b",status="PAID"} 2`,
		`rihla_webhooks_total{channel="bill_payment",outcome="duplicate"} 1`,
		`rihla_webhook_relay_backlog 7`, `rihla_rate_limits_shared 1`,
		`rihla_gateway_breaker_state{calls="refund",gateway="wallet_b"} 2`,
		`rihla_gateway_calls_refused_total{calls="refund",gateway="wallet_b",reason="open"} 1`,
		`rihla_gateway_pauses_total{calls="refund",gateway="wallet_b"} 1`,
		`rihla_gateway_pause_seconds_total{calls="refund",gateway="wallet_b"} 90`,
		`rihla_gateway_call_wait_seconds_bucket{calls="refund",gateway="wallet_b",le="0.05"} 0`,
		`rihla_gateway_call_wait_seconds_bucket{calls="refund",gateway="wallet_b",le="0.1"} 1`,
		`rihla_status_polls_total{channel="wallet_a",outcome="news"} 1`, `rihla_webhook_silence_rounds_total{channel="wallet_a"} 1`,
		`rihla_build_info{commit="f0fced20c0de",go="` + runtime.Version() + `",version="1.2.0"} 1`,
		`go_goroutines `,
	} {
		require.Contains(t, answer.Body.String(), line)
	}
}

// TestMetricsStaySmall: what a scrape costs follows from the number of operations, not from all that is asked of them. With the
// status beside each bucket the same requests made eight times as much.
func TestMetricsStaySmall(t *testing.T) {
	t.Parallel()

	const routes = 200

	m := NewMetrics(prometheus.NewRegistry())

	for i := range routes {
		for _, status := range []int{200, 201, 400, 401, 403, 404, 409, 422, 429, 500, 503} {
			m.Request(fmt.Sprintf("/api/v1/admin/some-resources/:id/action-%03d", i), http.MethodPost, status, time.Millisecond)
			m.Request("", fmt.Sprintf("METHOD%d", i), status, time.Millisecond)
		}
	}

	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	require.Less(t, answer.Body.Len(), routes*4_000)
}
