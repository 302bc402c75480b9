package telemetry

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"rihla/models"
)

var (
	metricName = regexp.MustCompile(`\b(?:rihla|go|process|temporal)_[a-z_]+`)
	labelName  = regexp.MustCompile(`\b([a-z_]+)(?:=~|!~|!=|=)"|by \(([a-z_]+)\)`)
	page       = regexp.MustCompile(`^docs/(runbook/[a-z-]+\.md)$`)
)

// used is a registry in which everything has been counted once: names of metrics, with the labels that they have.
func used(t *testing.T) map[string]map[string]bool {
	t.Helper()

	m := NewMetrics(prometheus.NewRegistry())
	m.WatchBooks(func(context.Context) (Unfinished, error) {
		return Unfinished{
			Overdue: map[string]int{"refunds": 1}, Incidents: map[string]int{"LATE_PAYMENT": 2},
			Oldest: map[string]time.Duration{"refunds": time.Minute}, WAL: WALArchive{On: true, Behind: time.Second},
			Suspense: map[Held]models.Money{{models.AccountGatewayA, models.Currency}: models.MustMoney("1.50")},
		}, nil
	})
	m.WatchBackup("alerts_test.go")
	m.Request("/", http.MethodGet, 200, time.Millisecond)
	m.GatewayCall(models.AccountGatewayA, "refund", "ok", time.Millisecond)
	m.PaymentSettled(models.TransactionPaid, models.GatewayA)
	m.WebhookSettled(models.GatewayA, time.Second)
	m.RefundOrdered(models.RoleFinanceAdmin, models.MustMoney("1.00"))
	m.Webhook(models.ChannelGatewayA, "stored")
	m.GatewayBreaker(models.AccountGatewayA, "refund", "open")
	m.WebhooksSilent(models.ChannelGatewayA)
	m.StatusAsked(models.ChannelGatewayA, "news")
	m.AdmissionState(models.GatewayA, func() (limit, inflight int) { return 1, 1 })
	m.AdmissionRefused(models.GatewayA)
	m.WatchPool("api", &sql.DB{})
	useTemporal(t, m)

	families, err := m.registry.Gather()
	require.NoError(t, err)

	names := map[string]map[string]bool{}

	for _, family := range families {
		labels := map[string]bool{"le": true, "job": true}
		for _, label := range family.GetMetric()[0].GetLabel() {
			labels[label.GetName()] = true
		}

		for _, suffix := range []string{"", "_bucket", "_count", "_sum"} {
			names[family.GetName()+suffix] = labels
		}
	}

	return names
}

// useTemporal counts once what alerts ask for of the SDK of Temporal.
func useTemporal(t *testing.T, m *Metrics) {
	t.Helper()

	require.NoError(t, m.Workflows("default", "payments", []string{"Payment"}))

	h, err := m.Temporal()
	require.NoError(t, err)

	h = h.WithTags(map[string]string{
		"namespace": "default", "task_queue": "payments", "worker_type": "ActivityWorker", "poller_type": "activity_task",
		"workflow_type": "Payment", "activity_type": "SettlePayment", "operation": "PollActivityTaskQueue", "status_code": "UNAVAILABLE",
	})
	h.Gauge("temporal_worker_task_slots_available").Update(1)
	h.Timer("temporal_workflow_task_schedule_to_start_latency").Record(time.Second)
	h.Timer("temporal_activity_schedule_to_start_latency").Record(time.Second)
}

type rule struct {
	Record, Alert, Expr, For string
	Labels, Annotations      map[string]string
}

// rules are those of docs/alerts.yml.
func rules(t *testing.T) (all []rule) {
	t.Helper()

	text, err := os.ReadFile("../../docs/alerts.yml")
	require.NoError(t, err)

	var file struct{ Groups []struct{ Rules []rule } }

	require.NoError(t, yaml.Unmarshal(text, &file))

	for _, group := range file.Groups {
		require.NotEmpty(t, group.Rules)

		all = append(all, group.Rules...)
	}

	return all
}

// TestAlertsAskForWhatThereIs: every metric and label in the alert rules is one that the service shows, every alert has a page of State,
// Cause and Action, to which the operations guide leads as well, and every metric of the service stands in that guide.
func TestAlertsAskForWhatThereIs(t *testing.T) {
	t.Parallel()

	guide, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)

	names := used(t)

	for _, rule := range rules(t) {
		requireKnown(t, names, rule)

		if rule.Record != "" {
			continue
		}

		require.Contains(t, []string{"page", "ticket", "none"}, rule.Labels["severity"], rule.Alert)
		require.NotEmpty(t, rule.For, rule.Alert)
		require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
		requirePage(t, string(guide), rule.Alert, rule.Annotations["runbook"])
	}

	for name := range names {
		if strings.HasPrefix(name, "rihla_") {
			base := regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(name, "")
			require.Contains(t, string(guide), "`"+base+"`", "the operations guide does not explain it")
		}
	}
}

// requireKnown checks that a rule asks for metrics and labels that there are.
func requireKnown(t *testing.T, names map[string]map[string]bool, r rule) {
	t.Helper()

	metrics, name := metricName.FindAllString(r.Expr, -1), r.Record+r.Alert
	require.True(t, len(metrics) > 0 || strings.Contains(r.Expr, "up{") || strings.Contains(r.Expr, "rihla:burn:") || r.Expr == "vector(1)", name)
	require.Equal(t, strings.Count(r.Expr, "("), strings.Count(r.Expr, ")"), name)

	known := map[string]bool{"job": true}

	for _, metric := range metrics {
		require.Contains(t, names, metric, name)

		for label := range names[metric] {
			known[label] = true
		}
	}

	for _, label := range labelName.FindAllStringSubmatch(r.Expr, -1) {
		require.True(t, known[label[1]+label[2]], "%s: no metric of it has the label %s", name, label[0])
	}
}

// TestEveryAlertIsTested: alerts.test.yml, which promtool runs, has a case in which each alert fires and a later one in which it has ended.
func TestEveryAlertIsTested(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../../docs/alerts.test.yml")
	require.NoError(t, err)

	var file struct {
		RuleFiles []string `yaml:"rule_files"`
		Tests     []struct {
			Cases []struct {
				At     string `yaml:"eval_time"`
				Alert  string `yaml:"alertname"`
				Alerts []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}

	require.NoError(t, yaml.Unmarshal(text, &file))
	require.Equal(t, []string{"alerts.yml"}, file.RuleFiles)

	fired, ended := map[string]bool{}, map[string]bool{"RihlaWatchdog": true} // which never ends

	for _, test := range file.Tests {
		fires := map[string]time.Duration{}

		for _, c := range test.Cases {
			at, err := time.ParseDuration(c.At)
			require.NoError(t, err)

			if len(c.Alerts) > 0 {
				fires[c.Alert], fired[c.Alert] = at, true
			} else if since, ok := fires[c.Alert]; ok && at > since {
				ended[c.Alert] = true
			}
		}
	}

	for _, rule := range rules(t) {
		if rule.Alert != "" {
			require.True(t, fired[rule.Alert], "no case in which %s fires", rule.Alert)
			require.True(t, ended[rule.Alert], "no case in which %s has ended", rule.Alert)
		}
	}
}

// requirePage checks that an alert links to a page of the runbook about it, and that the guide has a row which links to the same.
func requirePage(t *testing.T, guide, alert, link string) {
	t.Helper()

	to := page.FindStringSubmatch(link)
	require.NotNil(t, to, "%s: %s", alert, link)

	text, err := os.ReadFile("../../" + link)
	require.NoError(t, err, alert)
	require.Contains(t, string(text), "`"+alert+"`", "%s does not name it", link)
	require.Regexp(t, `(?s)^# .+\n## State\n.+\n## Cause\n.+\n## Action\n.+`, string(text), link)
	require.Regexp(t, "(?m)^\\|.*`"+alert+"`.*\\("+to[1]+"\\)", guide, "the operations guide does not lead to it")
}

// Books are read at most every ten seconds, and what cannot be read is not there.
func TestWatchBooks(t *testing.T) {
	t.Parallel()

	m := NewMetrics(prometheus.NewRegistry())
	reads, away := 0, errors.New("the database is away")

	var fails error

	m.WatchBooks(func(context.Context) (Unfinished, error) {
		reads++

		return Unfinished{Overdue: map[string]int{"refunds": 3}}, fails
	})

	count := func() (found int) {
		families, err := m.registry.Gather()
		require.NoError(t, err)

		for _, family := range families {
			if family.GetName() == "rihla_overdue" {
				require.InDelta(t, 3, family.GetMetric()[0].GetGauge().GetValue(), 0)
				found++
			}
		}

		return found
	}

	fails = away
	require.Zero(t, count())

	fails = nil
	require.Equal(t, 1, count())
	require.Equal(t, 1, count())
	require.Equal(t, 2, reads)
}
