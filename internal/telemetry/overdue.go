package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Unfinished are the counts of overdue work and of open incidents from one reading of the database.
type Unfinished struct {
	Overdue   map[string]int
	Incidents map[string]int // open ones, by kind
	// Unsealed is how long the oldest entry of the audit log has waited for a seal, and Seal the number of the newest one.
	Unsealed time.Duration
	Seal     int64
}

const (
	readBooksAtMost  = 2 * time.Second  // of a scrape
	readBooksAtLeast = 10 * time.Second // apart, however many ask
)

// WatchBooks shows what read returns, at most every 10 seconds. While it cannot be read there are no such metrics: an
// old number would be taken for a good one.
func (m *Metrics) WatchBooks(read func(context.Context) (Unfinished, error)) {
	m.registry.MustRegister(&books{
		read: read,
		overdue: prometheus.NewDesc("rihla_overdue",
			"Overdue work by kind; the same number from every API process.", []string{"what"}, nil),
		incidents: prometheus.NewDesc("rihla_incidents_open",
			"Incidents that wait for people, by kind; the same number from every API process.", []string{"kind"}, nil),
		unsealed: prometheus.NewDesc("rihla_audit_unsealed_seconds",
			"Age of the oldest entry of the audit log without a seal; the same number from every API process.", nil, nil),
		seal: prometheus.NewDesc("rihla_audit_seal",
			"Number of the newest seal of the audit log, which never falls; the same number from every API process.", nil, nil),
	})
}

type books struct {
	read               func(context.Context) (Unfinished, error)
	overdue, incidents *prometheus.Desc
	unsealed, seal     *prometheus.Desc

	mu   sync.Mutex
	last Unfinished
	at   time.Time
}

// Describe implements prometheus.Collector.
func (b *books) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{b.overdue, b.incidents, b.unsealed, b.seal} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (b *books) Collect(to chan<- prometheus.Metric) {
	b.mu.Lock()
	defer b.mu.Unlock()

	if time.Since(b.at) >= readBooksAtLeast {
		ctx, cancel := context.WithTimeout(context.Background(), readBooksAtMost)
		defer cancel()

		read, err := b.read(ctx)
		if b.last, b.at = read, time.Now(); err != nil {
			b.last, b.at = Unfinished{}, time.Time{}
		}
	}

	if !b.at.IsZero() {
		to <- prometheus.MustNewConstMetric(b.unsealed, prometheus.GaugeValue, b.last.Unsealed.Seconds())

		to <- prometheus.MustNewConstMetric(b.seal, prometheus.GaugeValue, float64(b.last.Seal))
	}

	for what, n := range b.last.Overdue {
		to <- prometheus.MustNewConstMetric(b.overdue, prometheus.GaugeValue, float64(n), what)
	}

	for kind, n := range b.last.Incidents {
		to <- prometheus.MustNewConstMetric(b.incidents, prometheus.GaugeValue, float64(n), kind)
	}
}
