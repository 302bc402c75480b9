package telemetry

import (
	"context"
	"math"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"rihla/models"
)

// Unfinished are the counts of overdue work and of open incidents from one reading of the database.
type Unfinished struct {
	Overdue   map[string]int
	Incidents map[string]int // open ones, by kind
	// Unsealed is how long the oldest entry of the audit log has waited for a seal, and Seal the number of the newest one.
	Unsealed time.Duration
	Seal     int64
	Oldest   map[string]time.Duration // age of what is not finished, by kind
	Suspense map[Held]models.Money
	WAL      WALArchive
}

// WALArchive is db.WALArchive.
type WALArchive struct {
	On     bool
	Behind time.Duration
	Failed int64
}

// Held is where money in suspense is.
type Held struct {
	Account  models.MerchantAccount
	Currency string
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
		oldest: prometheus.NewDesc("rihla_oldest_seconds",
			"Age of the oldest that is not finished, by kind; the same number from every API process.", []string{"what"}, nil),
		suspense: prometheus.NewDesc("rihla_suspense_amount",
			"Money in suspense that was not given back; the same number from every API process.", []string{"account", "currency"}, nil),
		walBehind: prometheus.NewDesc("rihla_wal_archive_behind_seconds",
			"Time since the last archived segment of PostgreSQL's log while a complete one waits; missing while archive_mode is off.", nil, nil),
		walFailed: prometheus.NewDesc("rihla_wal_archive_failures_total",
			"How often archive_command has failed; missing while archive_mode is off.", nil, nil),
	})
}

type books struct {
	read               func(context.Context) (Unfinished, error)
	overdue, incidents *prometheus.Desc
	unsealed, seal     *prometheus.Desc
	oldest, suspense   *prometheus.Desc

	walBehind, walFailed *prometheus.Desc

	mu   sync.Mutex
	last Unfinished
	at   time.Time
}

// Describe implements prometheus.Collector.
func (b *books) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		b.overdue, b.incidents, b.unsealed, b.seal, b.oldest, b.suspense, b.walBehind, b.walFailed,
	} {
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

	for what, age := range b.last.Oldest {
		to <- prometheus.MustNewConstMetric(b.oldest, prometheus.GaugeValue, age.Seconds(), what)
	}

	for of, amount := range b.last.Suspense {
		to <- prometheus.MustNewConstMetric(b.suspense, prometheus.GaugeValue, float64(amount.Halalas())/halalasPerRiyal,
			string(of.Account), of.Currency)
	}

	if wal := b.last.WAL; wal.On {
		to <- prometheus.MustNewConstMetric(b.walBehind, prometheus.GaugeValue, wal.Behind.Seconds())

		to <- prometheus.MustNewConstMetric(b.walFailed, prometheus.CounterValue, float64(wal.Failed))
	}
}

// WatchBackup shows the age of a file that the backup touches when it has succeeded; of no path, nothing. A file that is missing is
// older than all.
func (m *Metrics) WatchBackup(path string) {
	if path == "" {
		return
	}

	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "backup_age_seconds", Help: "Time since the last backup, by the file of BACKUP_STAMP_FILE.",
	}, func() float64 {
		stamp, err := os.Stat(path)
		if err != nil {
			return math.Inf(1)
		}

		return time.Since(stamp.ModTime()).Seconds()
	}))
}
