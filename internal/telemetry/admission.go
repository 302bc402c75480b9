package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"rihla/models"
)

// AdmissionState shows what read returns of the payments of a gateway that are under way to their checkouts: how many may be, and are.
func (m *Metrics) AdmissionState(gateway models.Gateway, read func() (limit, inflight int)) {
	class := prometheus.Labels{"class": string(gateway)}

	m.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "admission_limit", ConstLabels: class,
			Help: "How many payments of the class this process lets be under way to their checkouts at once.",
		}, func() float64 {
			limit, _ := read()

			return float64(limit)
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "admission_inflight", ConstLabels: class,
			Help: "How many payments of the class are under way to their checkouts.",
		}, func() float64 {
			_, inflight := read()

			return float64(inflight)
		}),
	)
	m.notAdmitted.WithLabelValues(string(gateway)) // there from the start: an alert sees the first one, too
}

// AdmissionRefused counts a payment that was answered 503 because too many were under way.
func (m *Metrics) AdmissionRefused(gateway models.Gateway) {
	m.notAdmitted.WithLabelValues(string(gateway)).Inc()
}
