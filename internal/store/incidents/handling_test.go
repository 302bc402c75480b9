package incidents_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"rihla/internal/store/bookstest"
	"rihla/internal/store/db"
	"rihla/internal/store/incidents"
	"rihla/models"
)

// reported is an incident that is open.
func (b *books) reported(t *testing.T) uuid.UUID {
	t.Helper()

	rule := "trip-seats-" + uuid.NewString()
	require.NoError(t, b.Store.Incidents.ReportDifferences(t.Context(), incidents.Differences{Rule: rule, Count: 1}, time.Now(), "audit/1"))

	for _, i := range b.auditIncidents(t) {
		if i.Details["rule"] == rule {
			return i.ID
		}
	}

	t.Fatal("not reported")

	return uuid.Nil
}

func TestAssignIncident(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, support := b.reported(t), b.As(models.RoleSupportAgent)

	i, err := b.Store.Incidents.AssignIncident(t.Context(), b.Finance, id, &support.UserID)
	require.NoError(t, err)
	require.Equal(t, support.UserID, *i.AssignedTo)
	require.NotEmpty(t, i.AssigneeName)

	again, err := b.Store.Incidents.AssignIncident(t.Context(), b.Finance, id, &support.UserID)
	require.NoError(t, err)
	require.Equal(t, i, again)
	require.Equal(t, 1, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'INCIDENT_ASSIGNED'"), "once for each change")

	other := b.reported(t)
	mine, err := b.Store.Incidents.ListIncidents(t.Context(), incidents.IncidentFilter{AssigneeID: support.UserID, Page: db.Page{PerPage: 100}})
	require.NoError(t, err)
	require.Len(t, mine.Items, 1)
	require.Equal(t, i.AssigneeName, mine.Items[0].AssigneeName)

	read, err := b.Store.Incidents.IncidentByID(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, i, read)

	i, err = b.Store.Incidents.AssignIncident(t.Context(), support, id, nil)
	require.NoError(t, err)
	require.Nil(t, i.AssignedTo)
	require.Equal(t, 2, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'INCIDENT_ASSIGNED'"))

	customer, gone := b.As(models.RoleEndUser), uuid.New()
	for _, nobody := range []uuid.UUID{customer.UserID, gone, uuid.Nil} {
		_, err = b.Store.Incidents.AssignIncident(t.Context(), b.Finance, id, &nobody)
		bookstest.RequireCode(t, models.CodeValidation, err)
	}

	resolved, err := b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, other, "done")
	require.NoError(t, err)
	require.Equal(t, b.Users[models.RoleFinanceAdmin].Name, resolved.ResolverName)

	_, err = b.Store.Incidents.AssignIncident(t.Context(), b.Finance, other, &support.UserID)
	bookstest.RequireCode(t, models.CodeInvalidState, err)
	_, err = b.Store.Incidents.AssignIncident(t.Context(), b.Finance, gone, nil)
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, err = b.Store.Incidents.IncidentByID(t.Context(), gone)
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

func TestAssignees(t *testing.T) {
	t.Parallel()
	b := setup(t)

	b.Exec(t, "UPDATE users SET deleted_at = now() WHERE role = 'SUPPORT_AGENT'")

	all, err := b.Store.Incidents.Assignees(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, all)

	for _, u := range all {
		require.Contains(t, []models.Role{models.RoleFinanceAdmin, models.RoleAdmin, models.RoleSuperAdmin}, u.Role)
		require.Empty(t, u.PasswordHash)
		require.Empty(t, u.Email)
	}

	support := b.As(models.RoleSupportAgent)
	_, err = b.Store.Incidents.AssignIncident(t.Context(), b.Finance, b.reported(t), &support.UserID)
	bookstest.RequireCode(t, models.CodeValidation, err)
}

func TestIncidentNotes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, other := b.reported(t), b.reported(t)

	const people, each = 4, 60

	var all sync.WaitGroup

	for p := range people {
		all.Go(func() {
			for n := range each {
				if _, err := b.Store.Incidents.AddNote(t.Context(), b.Finance, id, fmt.Sprintf("note %d of %d", n, p)); err != nil {
					t.Errorf("note: %v", err)
				}
			}
		})
	}

	all.Wait()

	notes, err := b.Store.Incidents.Notes(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, notes, 200, "the last ones")
	require.Equal(t, people*each, b.Count(t, "SELECT count(*) FROM incident_notes"))
	require.Equal(t, people*each, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'INCIDENT_NOTED' AND entity_id = $1", id))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM audit_log WHERE details::text LIKE '%note 1 of%'"), "words of people stay where they are")

	for i := 1; i < len(notes); i++ {
		require.False(t, notes[i].CreatedAt.Before(notes[i-1].CreatedAt), "oldest first")
	}

	require.NotEmpty(t, notes[0].AuthorName)

	none, err := b.Store.Incidents.Notes(t.Context(), other)
	require.NoError(t, err)
	require.Empty(t, none)

	_, err = b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, other, "done")
	require.NoError(t, err)
	n, err := b.Store.Incidents.AddNote(t.Context(), b.Finance, other, "it came back by mail")
	require.NoError(t, err, "what is resolved can be noted about")
	require.Equal(t, b.Finance.UserID, n.AuthorID)
	require.False(t, n.CreatedAt.IsZero())

	_, err = b.Store.Incidents.AddNote(t.Context(), b.Finance, uuid.New(), "x")
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, err = b.Store.Incidents.Notes(t.Context(), uuid.New())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

// An incident that is opened again is still looked after by the same person.
func TestAnIncidentOpenedAgainKeepsItsAssignee(t *testing.T) {
	t.Parallel()
	b := setup(t)

	i := models.Incident{ID: models.IncidentID(models.IncidentUnknownReference, "x"), Kind: models.IncidentUnknownReference, Message: "m"}
	require.NoError(t, incidents.Open(t.Context(), b.Store.DB, i, map[string]any{"webhook_id": "1"}))

	_, err := b.Store.Incidents.AssignIncident(t.Context(), b.Finance, i.ID, &b.Finance.UserID)
	require.NoError(t, err)
	_, err = b.Store.Incidents.ResolveIncident(t.Context(), b.Finance, i.ID, "done")
	require.NoError(t, err)
	require.NoError(t, incidents.Open(t.Context(), b.Store.DB, i, map[string]any{"webhook_id": "2"}))

	now, err := b.Store.Incidents.IncidentByID(t.Context(), i.ID)
	require.NoError(t, err)
	require.Equal(t, models.IncidentOpen, now.Status)
	require.Equal(t, b.Finance.UserID, *now.AssignedTo)
}
