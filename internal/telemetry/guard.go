package telemetry

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rihla/models"
)

func (m *Metrics) makeGuardMetrics() {
	calls := []string{"gateway", "calls"}

	m.breakers = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "gateway_breaker_state", Help: "Breaker of a kind of gateway calls: 0 closed, 1 half open, 2 open.",
	}, calls)
	m.callsNotSent = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Name: "gateway_calls_refused_total",
		Help: "Gateway calls that were not sent, by reason: open, paused, busy or rate.",
	}, []string{"gateway", "calls", "reason"})
	m.pauses = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Name: "gateway_pauses_total", Help: "Pauses that a gateway has asked for (429).",
	}, calls)
	m.pausedSeconds = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Name: "gateway_pause_seconds_total", Help: "Sum of the pauses that a gateway has asked for, as they were kept.",
	}, calls)
	m.waits = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Name: "gateway_call_wait_seconds", Help: "Time that a gateway call waited for its turn before it was sent.",
		Buckets: []float64{.001, .01, .05, .1, .2, .4},
	}, calls)
	m.asked = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Name: "status_polls_total", Help: "Status polls of attempts whose webhooks may be lost, by outcome.",
	}, []string{"channel", "outcome"})

	for _, channel := range models.AllChannels() { // there from the start: an alert sees the first one, too
		m.asked.WithLabelValues(string(channel), "news")
	}

	m.silent = prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Name: "webhook_silence_rounds_total", Help: "Rounds of polling that found the channel silent.",
	}, []string{"channel"})
}

// GatewayBreaker says in which state the breaker of a kind of calls is: closed, half_open or open.
func (m *Metrics) GatewayBreaker(account models.MerchantAccount, calls, state string) {
	m.breakers.WithLabelValues(string(account), calls).Set(map[string]float64{"half_open": 1, "open": 2}[state])
}

// GatewayNotSent counts a call that was not sent. The reason is one of a few words.
func (m *Metrics) GatewayNotSent(account models.MerchantAccount, calls, reason string) {
	m.callsNotSent.WithLabelValues(string(account), calls, reason).Inc()
}

// GatewayPaused counts a pause that the gateway asked for.
func (m *Metrics) GatewayPaused(account models.MerchantAccount, calls string, pause time.Duration) {
	m.pauses.WithLabelValues(string(account), calls).Inc()
	m.pausedSeconds.WithLabelValues(string(account), calls).Add(pause.Seconds())
}

// GatewayWaited counts how long a call that was sent had waited for its turn.
func (m *Metrics) GatewayWaited(account models.MerchantAccount, calls string, waited time.Duration) {
	m.waits.WithLabelValues(string(account), calls).Observe(waited.Seconds())
}

// StatusAsked counts a question about an attempt whose webhook may be lost. The outcome is one of a few words.
func (m *Metrics) StatusAsked(channel models.Channel, outcome string) {
	m.asked.WithLabelValues(string(channel), outcome).Inc()
}

// WebhooksSilent counts a round of polling that found the channel silent.
func (m *Metrics) WebhooksSilent(channel models.Channel) {
	m.silent.WithLabelValues(string(channel)).Inc()
}
