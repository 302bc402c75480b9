package activities_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/activities"
	"rihla/internal/audit"
	"rihla/internal/store/db"
	"rihla/internal/store/incidents"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// books is a company whose books can be tampered with, and an audit of them.
func books(t *testing.T) (w storetest.World, a *activities.Audit, exec func(string, ...any), incidentsX func() []models.Incident) {
	t.Helper()

	s, conn := storetest.Open(t, models.DefaultPolicies())
	w, a = storetest.Fixture(t, s), &activities.Audit{Store: s, Now: time.Now}

	exec = func(query string, args ...any) {
		t.Helper()

		_, err := conn.ExecContext(t.Context(), query, args...)
		require.NoError(t, err)
	}
	incidentsX = func() []models.Incident {
		t.Helper()

		list, err := s.Incidents.ListIncidents(t.Context(), incidents.IncidentFilter{
			Kind: models.IncidentAuditDifference, Page: db.Page{PerPage: 10},
		})
		require.NoError(t, err)

		return list.Items
	}

	return w, a, exec, incidentsX
}

func TestAuditKeepsOneOpenIncidentPerRule(t *testing.T) {
	t.Parallel()

	w, a, exec, incidents := books(t)

	out, err := a.AuditBooks(t.Context())
	require.NoError(t, err)
	require.Zero(t, out.Differences)
	require.Empty(t, out.Unseen)
	require.Equal(t, len(audit.Rules()), out.Rules)

	exec("UPDATE trips SET seats_taken = 3 WHERE id = $1", w.Trip.ID)

	for range 2 {
		out, err = a.AuditBooks(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, out.Differences)
		require.Equal(t, 1, out.Incidents)
		require.Len(t, incidents(), 1)
	}

	require.Contains(t, incidents()[0].Message, "trip-seats")
	require.Contains(t, incidents()[0].Details["examples"], "trip-seats: trip "+w.Trip.ID.String()+": 3 of 40 taken, bookings hold 0")

	_, err = a.Store.Incidents.ResolveIncident(t.Context(), db.Actor{UserID: w.Users[models.RoleAdmin].ID, Role: models.RoleAdmin}, incidents()[0].ID, "")
	require.NoError(t, err)
	_, err = a.AuditBooks(t.Context())
	require.NoError(t, err)
	require.Len(t, incidents(), 2)
}

// A rule that cannot be looked at is no rule that holds: there is an incident about it, and about what the others found.
func TestAuditTellsWhatItCouldNotLookAt(t *testing.T) {
	t.Parallel()

	_, a, exec, incidents := books(t)
	exec("ALTER TABLE report_days RENAME gross_amount TO gross; UPDATE trips SET seats_taken = 3")

	for range 2 {
		out, err := a.AuditBooks(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"report-days"}, out.Unseen)
		require.Equal(t, len(audit.Rules())-1, out.Rules)
		require.Equal(t, 1, out.Differences)

		all := incidents()
		require.Len(t, all, 2)
		require.Equal(t, "The audit could not check report-days. Their state is unknown. Fix the cause in the details; the next audit checks again.", all[0].Message)
		require.Contains(t, all[0].Details["error"], "gross_amount")
		require.Contains(t, all[1].Message, "trip-seats")
	}
}

// Nothing can be read at all: the orchestrator tries again, and in the end has that said.
func TestAuditOfNothing(t *testing.T) {
	t.Parallel()

	_, a, _, incidents := books(t)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := a.AuditBooks(ctx)
	require.ErrorContains(t, err, "audit the books")
	require.Empty(t, incidents())

	require.NoError(t, a.ReportUnaudited(t.Context(), "away: somebody@rihla.test"))
	require.Len(t, incidents(), 1)
	require.Contains(t, incidents()[0].Message, "could not check the books")
	require.Equal(t, "away: [redacted]", incidents()[0].Details["error"])
}
