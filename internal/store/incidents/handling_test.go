package incidents_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
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

	for assigned, want := range map[bool]uuid.UUID{true: id, false: other} {
		some, err := b.Store.Incidents.ListIncidents(t.Context(), incidents.IncidentFilter{Assigned: &assigned, Page: db.Page{PerPage: 100}})
		require.NoError(t, err)
		require.Len(t, some.Items, 1)
		require.Equal(t, want, some.Items[0].ID)
	}

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

	support, incident := b.As(models.RoleSupportAgent), b.reported(t)

	for _, c := range []struct {
		name, sql string
		may       bool
	}{
		{"as they are", "UPDATE users SET name = name WHERE id = $1", true},
		{"removed", "UPDATE users SET deleted_at = now() WHERE id = $1", false},
		{"locked", "UPDATE users SET deleted_at = NULL, locked_at = now() WHERE id = $1", false},
		{"invited", "UPDATE users SET locked_at = NULL, password_hash = '' WHERE id = $1", false},
		{
			"signed on without a password",
			"INSERT INTO sessions (id, user_id, expires_at) VALUES (gen_random_uuid(), $1, now() + interval '1 hour')", true,
		},
	} {
		b.Exec(t, c.sql, support.UserID)

		all, err := b.Store.Incidents.Assignees(t.Context())
		require.NoError(t, err)
		require.Equal(t, c.may, slices.ContainsFunc(all, func(u models.User) bool { return u.ID == support.UserID }), c.name)

		for _, u := range all {
			require.Contains(t, []models.Role{models.RoleSupportAgent, models.RoleFinanceAdmin, models.RoleAdmin, models.RoleSuperAdmin}, u.Role)
			require.Empty(t, u.PasswordHash)
			require.Empty(t, u.Email)
		}

		_, err = b.Store.Incidents.AssignIncident(t.Context(), b.Finance, incident, &support.UserID)
		if c.may {
			require.NoError(t, err, c.name)

			continue
		}

		bookstest.RequireCode(t, models.CodeValidation, err)
	}
}

func TestIncidentNotes(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id, other := b.reported(t), b.reported(t)

	const people, each, most = 4, 60, 200

	var (
		all     sync.WaitGroup
		refused atomic.Int64
	)

	for p := range people {
		all.Go(func() {
			for n := range each {
				_, err := b.Store.Incidents.AddNote(t.Context(), b.Finance, incidents.NewNote{IncidentID: id, Words: fmt.Sprintf("note %d of %d", n, p)})

				switch {
				case models.CodeOf(err) == models.CodeInvalidState:
					refused.Add(1)
				case err != nil:
					t.Errorf("note: %v", err)
				}
			}
		})
	}

	all.Wait()

	notes, err := b.Store.Incidents.Notes(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, notes, most, "all that there are")
	require.EqualValues(t, people*each-most, refused.Load())
	require.Equal(t, most, b.Count(t, "SELECT count(*) FROM audit_log WHERE action = 'INCIDENT_NOTED' AND entity_id = $1", id))
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
	n, err := b.Store.Incidents.AddNote(t.Context(), b.Finance, incidents.NewNote{IncidentID: other, Words: "it came back by mail"})
	require.NoError(t, err, "what is resolved can be noted about")
	require.Equal(t, b.Finance.UserID, n.AuthorID)
	require.False(t, n.CreatedAt.IsZero())

	_, err = b.Store.Incidents.AddNote(t.Context(), b.Finance, incidents.NewNote{IncidentID: uuid.New(), Words: "x"})
	bookstest.RequireCode(t, models.CodeNotFound, err)
	_, err = b.Store.Incidents.Notes(t.Context(), uuid.New())
	bookstest.RequireCode(t, models.CodeNotFound, err)
}

// An incident that is opened again is still looked after by the same person.
func TestAnIncidentOpenedAgainKeepsItsAssignee(t *testing.T) {
	t.Parallel()
	b := setup(t)

	i := models.Incident{ID: models.IncidentID(models.IncidentUnknownReference, "x"), Kind: models.IncidentUnknownReference, IncidentText: models.IncidentSays("incident.unknown_reference")}
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

// A note is kept with the answer to its request: a request that is repeated is answered, and one that has lost its key notes nothing.
func TestNoteUnderAKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	id := b.reported(t)

	add := func(claim uuid.UUID) error {
		_, err := b.Store.Incidents.AddNote(t.Context(), b.Finance, incidents.NewNote{
			IncidentID: id, Words: "a letter came",
			Once: db.Once[models.IncidentNote]{Claim: claim, Answer: func(n models.IncidentNote) (db.Answer, error) {
				return db.Answer{Status: 201, Location: "/notes", Body: []byte(n.ID.String())}, nil
			}},
		})

		return err
	}

	bookstest.RequireCode(t, models.CodeIdempotencyKeyInProcess, add(uuid.New()))
	require.Zero(t, b.Count(t, "SELECT count(*) FROM incident_notes"))

	key := b.Key()
	claim, err := b.Store.DB.ClaimKey(t.Context(), key, time.Minute)
	require.NoError(t, err)
	require.NoError(t, add(claim.ID))

	again, err := b.Store.DB.ClaimKey(t.Context(), key, time.Minute)
	require.NoError(t, err)
	require.Equal(t, 201, again.Answer.Status)
	require.Equal(t, "/notes", again.Answer.Location)

	notes, err := b.Store.Incidents.Notes(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, notes, 1)
	require.Equal(t, notes[0].ID.String(), string(again.Answer.Body))
}
