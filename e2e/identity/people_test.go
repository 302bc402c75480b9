package identity_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness"
	"rihla/models"
)

// manyPeople: above 1,000 rows about people in an hour the audit log has it, above 5,000 a code is asked for, whatever session or list
// they are read by, and however many at once (rules: privacy.lists).
func manyPeople(t *testing.T, s *harness.Stack) {
	t.Helper()

	p, other := newPerson(t, s, models.RoleSuperAdmin), newPerson(t, s, models.RoleSuperAdmin)
	in := p.signIn(t, s)
	first := s.With(in.AccessToken)
	p.enrol(t, first)

	second := s.With(other.signIn(t, s).AccessToken) // has no second factor
	old := func() {
		change(t, s, "UPDATE sessions SET code_at = now() - interval '11 minutes' WHERE user_id = $1", p.ID)
	}
	have := func(of *person, rows int) {
		hour := time.Now().Truncate(time.Hour)
		for _, h := range []time.Time{hour, hour.Add(time.Hour)} { // should the next one begin meanwhile
			change(t, s, `INSERT INTO people_reads (account_id, hour, rows) VALUES ($1, $2, $3)
				ON CONFLICT (account_id, hour) DO UPDATE SET rows = excluded.rows`, of.ID, h, rows)
		}
	}
	const users, bookings, trips = "/api/v1/admin/users", "/api/v1/admin/bookings", "/api/v1/trips"

	old()
	require.Equal(t, http.StatusOK, first.Get(users+"?per_page=100").Status)
	require.NotZero(t, s.Count("SELECT sum(rows) FROM people_reads WHERE account_id = $1", p.ID))
	require.Zero(t, audited(s, "PEOPLE_READ", p.ID))

	have(p, 1000)
	require.Equal(t, http.StatusOK, first.Get(users).Status)
	require.Equal(t, http.StatusOK, first.Get(users+"/"+other.ID.String()).Status)
	require.Equal(t, 1, audited(s, "PEOPLE_READ", p.ID))

	have(p, 4990)

	let := 0

	var (
		sending sync.WaitGroup
		mu      sync.Mutex
	)

	for range 8 {
		sending.Go(func() {
			a, err := first.Do(http.MethodGet, users+"?per_page=10", nil, nil)
			if err != nil || a.Status != http.StatusOK && a.Status != http.StatusForbidden {
				t.Error(a.Status, err)
			}

			mu.Lock()
			defer mu.Unlock()

			if a.Status == http.StatusOK {
				let++
			}
		})
	}

	sending.Wait()
	require.LessOrEqual(t, let, 1, "10 rows were left for all of them")

	have(p, 5000)

	for _, path := range []string{users, bookings, users + "/" + other.ID.String(), "/api/v1/admin/refunds"} {
		refused(t, http.StatusForbidden, models.CodeStepUpRequired, first.Get(path))
	}

	patched, err := first.Do(http.MethodPatch, users+"/"+other.ID.String(), object{}, nil)
	require.NoError(t, err)
	refused(t, http.StatusForbidden, models.CodeStepUpRequired, patched)
	require.Equal(t, http.StatusOK, first.Get(trips).Status, "no people")
	require.Equal(t, http.StatusOK, first.Get("/api/v1/admin/providers").Status, "companies")
	require.Equal(t, http.StatusOK, first.Get(mePath).Status, "the own account")

	require.Equal(t, http.StatusOK, first.Post("/api/v1/auth/step-up", object{"code": p.code(t)}).Status)
	require.Equal(t, http.StatusOK, first.Get(users).Status)

	have(other, 9000)
	require.Equal(t, http.StatusOK, second.Get(users).Status, "without a second factor")
	require.Equal(t, 1, audited(s, "PEOPLE_READ", other.ID))
}
