package identity_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/api/gen"
	"rihla/e2e/harness"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// managedAccounts: another role, a lock, a reset and a removal end what is open at once.
func managedAccounts(t *testing.T, s *harness.Stack) {
	t.Helper()

	boss := newPerson(t, s, models.RoleSuperAdmin)
	admin := s.With(boss.signIn(t, s).AccessToken)

	manage := func(p *person, method, path string, body any) harness.Answer {
		a, err := admin.Do(method, usersPath+"/"+p.ID.String()+path, body, nil)
		require.NoError(t, err)

		return a
	}

	for name, step := range map[string]struct {
		method, path string
		body         any
		want         int
		login        int // with the password, afterwards
	}{
		"role":   {http.MethodPatch, "", object{"role": models.RoleSupportAgent}, http.StatusOK, http.StatusOK},
		"lock":   {http.MethodPost, "/lock", nil, http.StatusOK, http.StatusForbidden},
		"remove": {http.MethodDelete, "", nil, http.StatusNoContent, http.StatusUnauthorized},
	} {
		p := newPerson(t, s, models.RoleFinanceAdmin)
		in := p.signIn(t, s)
		require.Equal(t, step.want, manage(p, step.method, step.path, step.body).Status, name)
		refused(t, http.StatusUnauthorized, models.CodeUnauthenticated, s.With(in.AccessToken).Get(mePath))
		refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, s.Anybody().Post(refreshPath, object{"refresh_token": in.RefreshToken}))
		require.Equal(t, step.login, p.login(s).Status, name)
	}

	p := newPerson(t, s, models.RoleFinanceAdmin)
	in := p.signIn(t, s)
	require.Equal(t, http.StatusOK, manage(p, http.MethodPatch, "", object{"name": "Other Name"}).Status)
	require.Equal(t, http.StatusOK, s.With(in.AccessToken).Get(mePath).Status, "a name ends nothing")

	require.Equal(t, gen.AccountState("LOCKED"), data[gen.Account](t, http.StatusOK, manage(p, http.MethodPost, "/lock", nil)).State)
	require.Equal(t, gen.AccountState("ACTIVE"), data[gen.Account](t, http.StatusOK, manage(p, http.MethodPost, "/unlock", nil)).State)
	p.enrol(t, s.With(p.signIn(t, s).AccessToken))
	require.Equal(t, http.StatusOK, manage(p, http.MethodPost, "/reset-second-factor", nil).Status)
	refused(t, http.StatusConflict, models.CodeInvalidState, manage(p, http.MethodPost, "/reset-second-factor", nil))
	// Who has got hold of the password does not enrol before the owner: it has ended, too.
	refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, p.login(s))
	require.Equal(t, http.StatusNoContent, setPassword(s, link(t, s, p.Email, "reset-password", 1), nextPass).Status)
	require.NotEmpty(t, data[gen.Tokens](t, http.StatusOK, s.Anybody().Post(loginPath, object{"email": p.Email, "password": nextPass})).AccessToken)

	// What a customer or a company has done stays theirs.
	customer := newPerson(t, s, models.RoleEndUser)
	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, manage(customer, http.MethodPatch, "", object{"role": models.RoleAdmin}))
	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, manage(p, http.MethodPatch, "", object{"role": models.RoleEndUser}))
	refused(t, http.StatusForbidden, models.CodeForbidden, manage(boss, http.MethodPost, "/lock", nil))

	twoBosses(t, s)
}

// twoBosses: of two administrators that remove each other concurrently one stays.
func twoBosses(t *testing.T, s *harness.Stack) {
	t.Helper()

	for range 3 {
		pair := []*person{newPerson(t, s, models.RoleSuperAdmin), newPerson(t, s, models.RoleSuperAdmin)}
		callers := []*harness.Caller{s.With(pair[0].signIn(t, s).AccessToken), s.With(pair[1].signIn(t, s).AccessToken)}

		var removing sync.WaitGroup
		for i, c := range callers {
			removing.Go(func() {
				if _, err := c.Do(http.MethodDelete, usersPath+"/"+pair[1-i].ID.String(), nil, nil); err != nil {
					t.Error(err)
				}
			})
		}

		removing.Wait()
		require.Equal(t, 1, s.Count("SELECT count(*) FROM users WHERE id IN ($1, $2) AND deleted_at IS NULL", pair[0].ID, pair[1].ID))
	}
}

// invitation makes an account that has no password before its owner has set one.
func invitation(t *testing.T, s *harness.Stack) {
	t.Helper()

	admin := s.With(newPerson(t, s, models.RoleSuperAdmin).signIn(t, s).AccessToken)
	p := &person{User: models.User{Email: "invited." + models.NewID().String() + "@rihla.test"}}
	body := object{"name": "New Finance", "email": p.Email, "phone": "+966500000009", "role": models.RoleFinanceAdmin, "locale": "en"}

	made := data[gen.Account](t, http.StatusCreated, admin.Post(usersPath, body))
	require.Equal(t, gen.AccountState("INVITED"), made.State)
	refused(t, http.StatusConflict, models.CodeEmailAlreadyExists, admin.Post(usersPath, body))
	refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, s.Anybody().Post(loginPath, object{"email": p.Email, "password": "x"}))

	body["email"], body["role"] = "x"+p.Email, models.RoleEndUser
	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, admin.Post(usersPath, body))

	secret := link(t, s, p.Email, "invitation", 1)
	require.Equal(t, http.StatusNoContent, setPassword(s, secret, nextPass).Status)
	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, setPassword(s, secret, nextPass))

	in := data[gen.Tokens](t, http.StatusOK, s.Anybody().Post(loginPath, object{"email": p.Email, "password": nextPass}))
	own := data[gen.OwnAccount](t, http.StatusOK, s.With(in.AccessToken).Get(mePath))
	require.True(t, own.EmailVerified)
	require.Equal(t, models.RoleFinanceAdmin, own.Role)
	refused(t, http.StatusConflict, models.CodeInvalidState, admin.Post(usersPath+"/"+made.ID.String()+"/invitation", nil))
	require.Equal(t, 1, audited(s, "USER_INVITED", made.ID))
	require.Equal(t, 1, audited(s, "INVITATION_ACCEPTED", made.ID))
}

func setPassword(s *harness.Stack, secret, password string) harness.Answer {
	return s.Anybody().Post("/api/v1/auth/reset-password", object{"token": secret, "password": password})
}

// commandLine: an operator takes a second factor away.
func commandLine(t *testing.T, s *harness.Stack) {
	t.Helper()

	p := newPerson(t, s, models.RoleSuperAdmin)
	in := p.signIn(t, s)

	out, err := s.Command("", "user", "reset-second-factor", "--email", p.Email)
	require.Error(t, err, out)

	p.enrol(t, s.With(in.AccessToken))
	out, err = s.Command("", "user", "reset-second-factor", "--email", p.Email)
	require.NoError(t, err, out)
	require.Contains(t, out, p.ID.String())
	refused(t, http.StatusUnauthorized, models.CodeUnauthenticated, s.With(in.AccessToken).Get(mePath))
	refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, p.login(s))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM notifications WHERE kind = 'RESET_PASSWORD' AND user_id = $1", p.ID))
	require.Equal(t, 1, s.Count(`SELECT count(*) FROM audit_log WHERE action = 'SECOND_FACTOR_REMOVED' AND entity_id = $1 AND operator <> ''`, p.ID))

	created, err := s.Command(storetest.Password+"\n", "user", "create", "--email", "op."+p.Email, "--name", "By Operator", "--role", "ADMIN")
	require.NoError(t, err, created)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM users WHERE email = $1 AND email_verified_at IS NOT NULL", "op."+p.Email))
}
