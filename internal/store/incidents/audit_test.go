package incidents_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/store/db"
	"rihla/internal/store/incidents"
	"rihla/models"
)

func (b *books) auditIncidents(t *testing.T) []models.Incident {
	t.Helper()

	list, err := b.Store.Incidents.ListIncidents(t.Context(), incidents.IncidentFilter{Kind: models.IncidentAuditDifference, Page: db.Page{PerPage: 100}})
	require.NoError(t, err)

	return list.Items
}

// A difference that is found every night is one incident per rule, until it is resolved.
func TestReportDifferences(t *testing.T) {
	t.Parallel()
	b := setup(t)

	night := time.Date(2026, time.March, 1, 0, 30, 0, 0, time.UTC)
	report := func(rule string, count int, seen time.Time) {
		t.Helper()
		require.NoError(t, b.Store.Incidents.ReportDifferences(t.Context(),
			incidents.Differences{Rule: rule, Says: "It holds.", Count: count, Examples: []string{fmt.Sprint("example ", count)}}, seen, "audit/"+seen.Format("0102")))
	}

	report("trip-seats", 1, night)
	report("trip-seats", 2, night.AddDate(0, 0, 1))
	report("record-vat", 3, night)

	all := b.auditIncidents(t)
	require.Len(t, all, 2)
	require.Equal(t, "The audit found 2 differences against the rule trip-seats.", all[1].Message)
	require.Equal(t, "audit/0302", all[1].WorkflowID)
	require.Equal(t, "trip-seats", all[1].Details["rule"])
	require.Equal(t, "It holds.", all[1].Details["says"])
	require.Equal(t, "2", fmt.Sprint(all[1].Details["differences"]))
	require.Equal(t, []any{"example 2"}, all[1].Details["examples"])
	require.Equal(t, "2026-03-02T00:30:00Z", all[1].Details["last_seen"])

	_, err := b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, all[1].ID, "looked into")
	require.NoError(t, err)

	report("trip-seats", 4, night.AddDate(0, 0, 2))
	report("trip-seats", 5, night.AddDate(0, 0, 3))

	again := b.auditIncidents(t)
	require.Len(t, again, 3)
	require.Contains(t, again[0].Message, "5 differences")
	require.Equal(t, models.IncidentResolved, again[2].Status)
	require.Equal(t, all[1].Message, again[2].Message, "what was resolved stays as it was")
}

func TestReportUnseen(t *testing.T) {
	t.Parallel()
	b := setup(t)

	require.NoError(t, b.Store.Incidents.ReportUnseen(t.Context(), []string{"trip-seats", "clawback"}, "no such column", time.Now(), "audit/1"))
	require.NoError(t, b.Store.Incidents.ReportDifferences(t.Context(), incidents.Differences{Rule: "trip-seats", Count: 1}, time.Now(), "audit/1"))

	all := b.auditIncidents(t)
	require.Len(t, all, 2)
	require.Equal(t, "The audit could not check trip-seats, clawback. Their state is unknown. Fix the cause in the details; the next audit checks again.", all[1].Message)
	require.Equal(t, "no such column", all[1].Details["error"])

	require.NoError(t, b.Store.Incidents.ReportUnseen(t.Context(), nil, "away", time.Now(), "audit/2"))

	all = b.auditIncidents(t)
	require.Len(t, all, 2)
	require.Equal(t, "The audit could not check the books. Their state is unknown. Fix the cause in the details; the next audit checks again.", all[1].Message)
}

// Two audits at once, while a person resolves what they report, leave one open incident per rule.
func TestReportDifferencesAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)

	const writers, rounds = 8, 10

	var all sync.WaitGroup

	for range writers {
		all.Go(func() {
			for n := range rounds {
				err := b.Store.Incidents.ReportDifferences(t.Context(), incidents.Differences{Rule: "trip-seats", Count: n + 1}, time.Now(), "audit/1")
				if err != nil {
					t.Errorf("report: %v", err)
				}
			}
		})
	}

	all.Go(func() {
		for range rounds {
			list, err := b.Store.Incidents.ListIncidents(t.Context(), incidents.IncidentFilter{Status: models.IncidentOpen, Page: db.Page{PerPage: 10}})
			if err != nil || len(list.Items) > 1 {
				t.Errorf("%d open incidents, %v", len(list.Items), err)
			}

			for _, i := range list.Items {
				_, err := b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, i.ID, "")
				if e, ok := errors.AsType[*models.Error](err); err != nil && (!ok || e.Code != models.CodeInvalidState) {
					t.Errorf("resolve: %v", err)
				}
			}
		}
	})

	all.Wait()
	require.NoError(t, b.Store.Incidents.ReportDifferences(t.Context(), incidents.Differences{Rule: "trip-seats", Count: 1}, time.Now(), "audit/1"))
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM incidents WHERE status = 'OPEN'"))
	require.Positive(t, b.Count(t, "SELECT count(*) FROM incidents"))
}
