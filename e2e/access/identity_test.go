package access_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"rihla/api/gen"
	"rihla/e2e/harness"
	"rihla/internal/auth"
	"rihla/internal/store/db"
	"rihla/internal/store/storetest"
	"rihla/models"
)

const totpPath = "/api/v1/me/totp"

// account is a user of a test's own, signed in.
type account struct {
	*harness.Caller

	user    models.User
	session uuid.UUID
	secret  string // of its second factor
}

// newAccount is another account like the caller's, of a caller without a token one like a customer's.
func (w *world) newAccount(t *testing.T, caller string) account {
	t.Helper()

	if caller == nobody {
		caller = stranger
	}

	u := w.users[caller]
	u.ID, u.Email = models.NewID(), mark()+"@rihla.test"

	_, err := w.Store.Accounts.CreateUser(t.Context(), u)
	require.NoError(t, err)

	var tokens gen.Tokens

	a := w.Anybody().Post("/api/v1/auth/login", object{"email": u.Email, "password": storetest.Password})
	require.Equal(t, http.StatusOK, a.Status, "%s", a.Body)
	require.NoError(t, a.Data(&tokens))

	return account{Caller: w.With(tokens.AccessToken), user: u, session: *tokens.SessionID}
}

// newSelf is the caller of newAccount.
func (w *world) newSelf(t *testing.T, caller string) *harness.Caller {
	t.Helper()

	return w.newAccount(t, caller).Caller
}

// begin begins a second factor.
func (a *account) begin(t *testing.T) {
	t.Helper()

	var made gen.NewSecondFactor

	answer := a.Post(totpPath, object{"password": storetest.Password})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
	require.NoError(t, answer.Data(&made))

	a.secret = made.Secret
}

// code is one of so many time steps later, as each counts once.
func (a *account) code(t *testing.T, later int) string {
	t.Helper()

	code, err := totp.GenerateCode(a.secret, time.Now().Add(time.Duration(later)*30*time.Second))
	require.NoError(t, err)

	return code
}

// enrol gives the account a second factor; this step's code has counted then, and the session is stepped up.
func (a *account) enrol(t *testing.T) {
	t.Helper()
	a.begin(t)

	answer := a.Post(totpPath+"/confirm", object{"code": a.code(t, 0)})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
}

// enrolled is a new account with a second factor.
func (w *world) enrolled(t *testing.T, caller string) account {
	t.Helper()

	a := w.newAccount(t, caller)
	a.enrol(t)

	return a
}

// link is the secret of a mail to an account of the test's own.
func (w *world) link(t *testing.T, purpose models.AccountTokenPurpose) string {
	t.Helper()

	of := w.newAccount(t, stranger).user.ID
	_, err := w.Store.Accounts.SendLink(t.Context(), db.Actor{Operator: "test"}, of, purpose)
	require.NoError(t, err)

	plain, hash := auth.NewRefreshToken()
	// The worker sends the mail, too, at any time: what it has made of the link is overwritten by this, or this by that.
	require.Eventually(t, func() bool {
		return w.Count("SELECT count(*) FROM notifications WHERE user_id = $1 AND data->>'token_id' <> '' AND status = 'SENT'", of) == 1
	}, patience, poll)
	require.NoError(t, w.Store.Accounts.IssueToken(t.Context(), w.id(t, "SELECT id FROM account_tokens WHERE user_id = $1", of), hash))

	return plain
}

// aboutIdentity makes the requests about sessions, second factors and accounts.
func (w *world) aboutIdentity(t *testing.T, c cell) (request, bool) {
	t.Helper()

	if _, about := map[string]bool{
		"ListUsers": true, "InviteUser": true, "GetUser": true, "ReplaceUser": true, "PatchUser": true, "LockUser": true, "UnlockUser": true,
		"InviteUserAgain": true, "ResetUserSecondFactor": true, "RemoveUser": true,
	}[c.operation]; about {
		return w.aboutAccount(t, c), true
	}

	if c.caller == nobody && c.want == http.StatusUnauthorized {
		switch c.operation {
		case "StepUp", "ListSessions", "EndSessions", "EndSession", "SendVerification", "BeginSecondFactor", "ConfirmSecondFactor",
			"RemoveSecondFactor", "StepUpBySignOn":
			return request{ids: map[bool][]string{true: kept(c, uuid.New())}[c.operation == "EndSession"]}, true
		}
	}

	switch c.operation {
	case "LoginTOTP":
		return w.secondLogin(t, c), true
	case "ForgotPassword":
		return request{body: object{"email": mark() + "@rihla.test"}}, true
	case "VerifyEmail":
		// The password is that of the link's account: in a session of another one the link alone is not enough.
		return request{body: object{"token": w.link(t, models.TokenVerifyEmail), "password": storetest.Password}}, true
	case "ResetPassword":
		return request{body: object{"token": w.link(t, models.TokenResetPassword), "password": "long-enough-password"}}, true
	case "StepUpBySignOn":
		return request{body: object{"return_to": "/console"}}, true // there is no identity provider, and nothing is made
	case "SendVerification", "EndSessions":
		return request{caller: w.newSelf(t, c.caller)}, true
	case "EndSession":
		return w.aboutSession(t, c), true
	case "BeginSecondFactor":
		return request{caller: w.newSelf(t, c.caller), body: object{"password": storetest.Password}}, true
	case "ConfirmSecondFactor":
		a := w.newAccount(t, c.caller)
		a.begin(t)

		return request{caller: a.Caller, body: object{"code": a.code(t, 0)}}, true
	case "RemoveSecondFactor":
		return request{caller: w.enrolled(t, c.caller).Caller}, true
	case "StepUp":
		a := w.enrolled(t, c.caller)

		return request{caller: a.Caller, body: object{"code": a.code(t, 1)}}, true
	default:
		return request{}, false
	}
}

// secondLogin is a log-in that waits for its code.
func (w *world) secondLogin(t *testing.T, c cell) request {
	t.Helper()

	a := w.enrolled(t, c.caller)

	var asked gen.SecondFactorNeeded

	answer := w.Anybody().Post("/api/v1/auth/login", object{"email": a.user.Email, "password": storetest.Password})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
	require.NoError(t, answer.Data(&asked))
	require.True(t, asked.MfaRequired)

	return request{body: object{"mfa_token": asked.MfaToken, "code": a.code(t, 1)}}
}

func (w *world) aboutSession(t *testing.T, c cell) request {
	t.Helper()

	switch c.kind {
	case "own":
		a := w.newAccount(t, c.caller)

		return request{ids: []string{a.session.String()}, caller: a.Caller}
	case "foreign":
		return request{ids: []string{w.id(t, "SELECT id FROM sessions WHERE user_id = $1 LIMIT 1", w.users[stranger].ID).String()}}
	default:
		return request{ids: kept(c, uuid.Nil)}
	}
}

// aboutAccount makes the requests about an account of the platform's people: one of the request's own where it is changed.
func (w *world) aboutAccount(t *testing.T, c cell) request {
	t.Helper()

	r := request{}

	switch c.operation {
	case "ListUsers":
		return r
	case "InviteUser":
		return request{body: object{"name": "Somebody", "email": mark() + "@rihla.test", "phone": "+966500000009", "role": models.RoleAdmin}}
	case "ReplaceUser":
		r.body = object{"name": "Somebody", "phone": "+966500000009", "role": models.RoleAdmin, "locale": "en"}
	case "PatchUser":
		r.body = object{"role": models.RoleFinanceAdmin}
	}

	switch {
	case c.kind == "self":
		r.ids = kept(c, w.users[c.caller].ID)
	case c.kind == "deleted":
		r.ids = kept(c, w.deleted["account"])
	case c.want >= http.StatusBadRequest || c.kind != "there":
		r.ids = kept(c, w.users["SUPPORT_AGENT"].ID)
	default:
		r.ids = kept(c, w.newManaged(t, c.operation))
	}

	return r
}

// newManaged is an account that the operation can be called for.
func (w *world) newManaged(t *testing.T, operation string) uuid.UUID {
	t.Helper()

	u := w.users["SUPPORT_AGENT"]
	u.ID, u.Email = models.NewID(), mark()+"@rihla.test"

	if operation == "InviteUserAgain" {
		u.PasswordHash = ""
	}

	_, err := w.Store.Accounts.CreateUser(t.Context(), u)
	require.NoError(t, err)

	if operation == "ResetUserSecondFactor" {
		w.exec(t, "UPDATE users SET second_factor_at = now() WHERE id = $1", u.ID)
	}

	return u.ID
}
