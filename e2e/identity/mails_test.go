package identity_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/api/gen"
	"rihla/e2e/harness"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// reset: a link sets a new password once, ends what is open, and stays in no row and in no log.
func reset(t *testing.T, s *harness.Stack) {
	t.Helper()

	p := newPerson(t, s, models.RoleEndUser)
	in := p.signIn(t, s)

	require.Equal(t, http.StatusAccepted, s.Anybody().Post("/api/v1/auth/forgot-password", object{"email": strings.ToUpper(p.Email)}).Status)

	secret := link(t, s, p.Email, "reset-password", 1)

	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, setPassword(s, secret, "qwertyuiop"))
	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, setPassword(s, strings.Repeat("A", 43), nextPass))
	require.Equal(t, http.StatusNoContent, setPassword(s, secret, nextPass).Status)
	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, setPassword(s, secret, nextPass))

	refused(t, http.StatusUnauthorized, models.CodeUnauthenticated, s.With(in.AccessToken).Get(mePath))
	refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, p.login(s))
	require.Equal(t, http.StatusOK, s.Anybody().Post(loginPath, object{"email": p.Email, "password": nextPass}).Status)

	require.Equal(t, 1, audited(s, "PASSWORD_RESET", p.ID))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM notifications WHERE kind = 'PASSWORD_CHANGED' AND user_id = $1", p.ID))

	for _, table := range []string{"notifications", "account_tokens", "audit_log"} {
		require.Equal(t, 0, s.Count("SELECT count(*) FROM "+table+" AS r WHERE position($1 in r::text) > 0", secret), table)
	}

	for name, log := range s.Logs() {
		require.NotContains(t, log, secret, name)
	}

	// Of many that ask beside each other one has a mail sent; the next one is for a quarter of an hour later. A link that is too old is none.
	for range 8 {
		require.Equal(t, http.StatusAccepted, s.Anybody().Post("/api/v1/auth/forgot-password", object{"email": p.Email}).Status)
	}

	next := link(t, s, p.Email, "reset-password", 2)
	change(t, s, "UPDATE account_tokens SET expires_at = now() WHERE user_id = $1 AND used_at IS NULL", p.ID)
	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, setPassword(s, next, nextPass))
	require.Equal(t, 2, s.Count("SELECT count(*) FROM notifications WHERE kind = 'RESET_PASSWORD' AND user_id = $1", p.ID))

	change(t, s, "UPDATE account_tokens SET created_at = created_at - interval '15 minutes' WHERE user_id = $1", p.ID)
	require.Equal(t, http.StatusAccepted, s.Anybody().Post("/api/v1/auth/forgot-password", object{"email": p.Email}).Status)
	require.Equal(t, http.StatusNoContent, setPassword(s, link(t, s, p.Email, "reset-password", 3), nextPass).Status)
}

// verification: who registers proves the address by the link of a mail, and it proves that address alone.
func verification(t *testing.T, s *harness.Stack) {
	t.Helper()

	p := &person{User: models.User{Email: "new." + models.NewID().String() + "@rihla.test"}}
	body := object{"name": "Fresh Customer", "email": p.Email, "phone": "+966512345678", "password": storetest.Password}
	require.Equal(t, http.StatusCreated, s.Anybody().Post("/api/v1/auth/register", body).Status)

	me := s.With(p.signIn(t, s).AccessToken)
	require.False(t, data[gen.OwnAccount](t, http.StatusOK, me.Get(mePath)).EmailVerified)
	require.Equal(t, http.StatusCreated, me.Post("/api/v1/bookings", s.BookingRequest(1)).Status, "it books unverified")

	verify := func(secret string) harness.Answer {
		return s.Anybody().Post("/api/v1/auth/verify-email", object{"token": secret})
	}
	first := link(t, s, p.Email, "verify-email", 1)

	require.Equal(t, http.StatusAccepted, me.Post(mePath+"/verify-email", nil).Status)
	link(t, s, p.Email, "verify-email", 2)

	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, setPassword(s, first, nextPass))

	// A wrong password uses up no link, and a session of the account proves as much as the right one.
	refused(t, http.StatusUnprocessableEntity, models.CodeValidation,
		s.Anybody().Post("/api/v1/auth/verify-email", object{"token": first, "password": "not-the-password"}))
	require.Equal(t, http.StatusNoContent, me.Post("/api/v1/auth/verify-email", object{"token": first}).Status)
	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, verify(first))
	require.True(t, data[gen.OwnAccount](t, http.StatusOK, me.Get(mePath)).EmailVerified)

	// For a verified address nothing more is sent.
	require.Equal(t, http.StatusAccepted, me.Post(mePath+"/verify-email", nil).Status)

	own := data[gen.OwnAccount](t, http.StatusOK, me.Get(mePath))
	require.Equal(t, 2, s.Count("SELECT count(*) FROM account_tokens WHERE user_id = $1", own.ID))

	// Its owner gets a mail when the address is registered again, once a day.
	for range 2 {
		refused(t, http.StatusConflict, models.CodeEmailAlreadyExists, s.Anybody().Post("/api/v1/auth/register", body))
	}

	require.Equal(t, 1, s.Count("SELECT count(*) FROM notifications WHERE kind = 'ALREADY_REGISTERED' AND user_id = $1", own.ID))
}

// strangersAccount: an address that a stranger has registered becomes its owner's, by the link of the mail alone.
func strangersAccount(t *testing.T, s *harness.Stack) {
	t.Helper()

	const verifyPath = "/api/v1/auth/verify-email"

	for _, proof := range []object{nil, {"password": storetest.Password}} {
		p := &person{User: models.User{Email: "victim." + models.NewID().String() + "@rihla.test"}}
		require.Equal(t, http.StatusCreated, s.Anybody().Post("/api/v1/auth/register", object{
			"name": "Fresh Customer", "email": p.Email, "phone": "+966512345678", "password": storetest.Password,
		}).Status)

		theirs := p.signIn(t, s)
		body := object{"token": link(t, s, p.Email, "verify-email", 1)}
		maps.Copy(body, proof)
		require.Equal(t, http.StatusNoContent, s.Anybody().Post(verifyPath, body).Status)

		if proof != nil {
			require.True(t, data[gen.OwnAccount](t, http.StatusOK, s.With(theirs.AccessToken).Get(mePath)).EmailVerified)

			continue
		}

		refused(t, http.StatusUnauthorized, models.CodeUnauthenticated, s.With(theirs.AccessToken).Get(mePath))
		refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, p.login(s))
		require.Equal(t, http.StatusNoContent, setPassword(s, link(t, s, p.Email, "reset-password", 1), nextPass).Status)
		require.Equal(t, http.StatusOK, s.Anybody().Post(loginPath, object{"email": p.Email, "password": nextPass}).Status)
	}
}

// anothersLink: the link of one account, used in the session of another, asks for the password: it acts on the account of the link alone,
// and takes nothing from it for a stranger's.
func anothersLink(t *testing.T, s *harness.Stack) {
	t.Helper()

	const verifyPath = "/api/v1/auth/verify-email"

	register := func() *person {
		p := &person{User: models.User{Email: "two." + models.NewID().String() + "@rihla.test"}}
		require.Equal(t, http.StatusCreated, s.Anybody().Post("/api/v1/auth/register", object{
			"name": "Two Accounts", "email": p.Email, "phone": "+966512345678", "password": storetest.Password,
		}).Status)

		return p
	}
	verified := func(token string) bool {
		return data[gen.OwnAccount](t, http.StatusOK, s.With(token).Get(mePath)).EmailVerified
	}

	a, b := register(), register()
	inA, inB := a.signIn(t, s).AccessToken, b.signIn(t, s).AccessToken
	secret := link(t, s, b.Email, "verify-email", 1)

	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, s.With(inA).Post(verifyPath, object{"token": secret}))
	require.False(t, verified(inA))
	require.False(t, verified(inB), "and it is still in its session")

	require.Equal(t, http.StatusNoContent, s.With(inA).Post(verifyPath, object{"token": secret, "password": storetest.Password}).Status)
	require.False(t, verified(inA), "the link's account alone")
	require.True(t, verified(inB))

	// Without a session the link is a proof by itself; the session of another account stays all the same.
	c := register()
	inC := c.signIn(t, s).AccessToken
	secret = link(t, s, c.Email, "verify-email", 1)
	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, s.With(inA).Post(verifyPath, object{"token": secret}))
	require.Equal(t, http.StatusNoContent, s.Anybody().Post(verifyPath, object{"token": secret}).Status)
	refused(t, http.StatusUnauthorized, models.CodeUnauthenticated, s.With(inC).Get(mePath))
	require.False(t, verified(inA))

	// A session that is over is none.
	d := register()
	secret = link(t, s, d.Email, "verify-email", 1)
	change(t, s, "UPDATE sessions SET ended_at = now() WHERE user_id = (SELECT id FROM users WHERE email = $1)", a.Email)
	require.Equal(t, http.StatusNoContent, s.With(inA).Post(verifyPath, object{"token": secret}).Status)
}

// enumeration: neither the answer to a forgotten password nor that to a wrong one tells whether there is an account, of whichever kind.
func enumeration(t *testing.T, s *harness.Stack) {
	t.Helper()

	withFactor, plain, locked := newPerson(t, s, models.RoleEndUser), newPerson(t, s, models.RoleEndUser), newPerson(t, s, models.RoleEndUser)
	withFactor.enrol(t, s.With(withFactor.signIn(t, s).AccessToken))
	change(t, s, "UPDATE users SET locked_at = now() WHERE id = $1", locked.ID)

	same := func(path string, body func(email string) object) {
		unknown := s.Anybody().Post(path, body("nobody."+plain.Email))

		for _, p := range []*person{withFactor, plain, locked} {
			a := s.Anybody().Post(path, body(p.Email))
			require.Equal(t, unknown.Status, a.Status, path)
			require.Equal(t, string(unknown.Body), string(a.Body), path)

			for _, name := range []string{"Content-Type", "Content-Length", "Set-Cookie", "Retry-After"} {
				require.Equal(t, unknown.Header.Get(name), a.Header.Get(name), path)
			}
		}
	}

	same(loginPath, func(email string) object { return object{"email": email, "password": "not-the-password"} })
	same("/api/v1/auth/forgot-password", func(email string) object { return object{"email": email} })
	require.Eventually(t, func() bool {
		return s.Count("SELECT count(*) FROM notifications WHERE kind = 'RESET_PASSWORD' AND user_id IN ($1, $2)", plain.ID, withFactor.ID) == 2
	}, patience, poll)
	require.Equal(t, 0, s.Count("SELECT count(*) FROM account_tokens WHERE user_id = $1", locked.ID), "a locked account gets no link")

	// The token of a log-in that waits for its code names no account.
	first, rest := "A", withFactor.challenge(t, s)
	if rest[:1] == first {
		first = "B"
	}

	one, other := answer(s, strings.Repeat("B", 43), "123456"), answer(s, first+rest[1:], "123456")
	require.Equal(t, string(one.Body), string(other.Body))
}
