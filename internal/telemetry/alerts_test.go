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
	metricName = regexp.MustCompile(`\b(?:rihla|go|process)_[a-z_]+`)
	labelName  = regexp.MustCompile(`\b([a-z_]+)(?:=~|!~|!=|=)"|by \(([a-z_]+)\)`)
	page       = regexp.MustCompile(`^docs/(runbook/[a-z-]+\.md)$`)
)

// used is a registry in which everything has been counted once: names of metrics, with the labels that they have.
func used(t *testing.T) map[string]map[string]bool {
	t.Helper()

	m := NewMetrics(prometheus.NewRegistry())
	m.WatchBooks(func(context.Context) (Unfinished, error) {
		return Unfinished{Overdue: map[string]int{"refunds": 1}, Incidents: map[string]int{"LATE_PAYMENT": 2}}, nil
	})
	m.Request("/", http.MethodGet, 200, time.Millisecond)
	m.GatewayCall(models.AccountGatewayA, "refund", "ok", time.Millisecond)
	m.PaymentSettled(models.TransactionPaid, models.GatewayA)
	m.RefundOrdered(models.RoleFinanceAdmin, models.MustMoney("1.00"))
	m.Webhook(models.ChannelGatewayA, "stored")
	m.GatewayBreaker(models.AccountGatewayA, "refund", "open")
	m.WebhooksSilent(models.ChannelGatewayA)
	m.StatusAsked(models.ChannelGatewayA, "news")
	m.AdmissionState(models.GatewayA, func() (limit, inflight int) { return 1, 1 })
	m.AdmissionRefused(models.GatewayA)
	m.WatchPool("api", &sql.DB{})

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

// TestAlertsAskForWhatThereIs: every metric and label in the alert rules is one that the service shows, every alert has a page of State,
// Cause and Action, to which the operations guide leads as well, and every metric of the service stands in that guide.
func TestAlertsAskForWhatThereIs(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../../docs/alerts.yml")
	require.NoError(t, err)

	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}

	require.NoError(t, yaml.Unmarshal(text, &file))

	guide, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)

	names := used(t)

	for _, group := range file.Groups {
		require.NotEmpty(t, group.Rules)

		for _, rule := range group.Rules {
			metrics := metricName.FindAllString(rule.Expr, -1)
			require.True(t, len(metrics) > 0 || strings.Contains(rule.Expr, "up{"), rule.Alert)
			require.Contains(t, []string{"page", "ticket"}, rule.Labels["severity"], rule.Alert)
			require.NotEmpty(t, rule.For, rule.Alert)
			require.NotEmpty(t, rule.Annotations["summary"], rule.Alert)
			require.Equal(t, strings.Count(rule.Expr, "("), strings.Count(rule.Expr, ")"), rule.Alert)

			known := map[string]bool{"job": true}

			for _, name := range metrics {
				require.Contains(t, names, name, rule.Alert)

				for label := range names[name] {
					known[label] = true
				}
			}

			for _, label := range labelName.FindAllStringSubmatch(rule.Expr, -1) {
				require.True(t, known[label[1]+label[2]], "%s: no metric of it has the label %s", rule.Alert, label[0])
			}

			requirePage(t, string(guide), rule.Alert, rule.Annotations["runbook"])
		}
	}

	for name := range names {
		if strings.HasPrefix(name, "rihla_") {
			base := regexp.MustCompile(`_(bucket|count|sum)$`).ReplaceAllString(name, "")
			require.Contains(t, string(guide), "`"+base+"`", "the operations guide does not explain it")
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
