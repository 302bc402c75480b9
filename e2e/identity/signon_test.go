package identity_test

import (
	"context"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/api/gen"
	"rihla/e2e/harness"
	"rihla/e2e/harness/sources"
	"rihla/e2e/rig"
	"rihla/internal/store/storetest"
	"rihla/models"
)

const (
	startPath    = "/api/v1/auth/oidc/start"
	callbackPath = "/api/v1/auth/oidc/callback"
	signOnCookie = "__Host-rihla_oidc"
	clientID     = "rihla-console"
	clientSecret = "a-secret-of-tests"
	theirs       = "verysecure"
)

// buildProvider builds an identity provider that is not ours (tools/identity: zitadel/oidc).
var buildProvider = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "rihla-identity-")
	if err != nil {
		return "", err
	}

	source := filepath.Join("..", "..", "tools", "identity")
	if err := sources.Note(context.Background(), source, "."); err != nil {
		return "", err
	}

	binary := filepath.Join(dir, "identity")
	build := exec.CommandContext(context.Background(), "go", "build", "-o", binary, ".")
	build.Dir = source
	build.Stderr = os.Stderr

	return binary, build.Run()
})

// provider runs one with these users, whose ids are their names there.
func provider(t *testing.T, address, callback string, users map[string]object) {
	t.Helper()

	binary, err := buildProvider()
	require.NoError(t, err)

	text, err := json.Marshal(users)
	require.NoError(t, err)

	file := filepath.Join(t.TempDir(), "users.json")
	require.NoError(t, os.WriteFile(file, text, 0o600))

	ctx, stop := context.WithCancel(context.Background())
	program := exec.CommandContext(ctx, binary, "-listen", address, "-users", file, "-client", clientID, "-secret", clientSecret, "-callback", callback)
	require.NoError(t, program.Start())
	t.Cleanup(func() {
		stop()

		_ = program.Wait()
	})

	require.Eventually(t, func() bool {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = c.Close()
		}

		return err == nil
	}, patience, poll)
}

// visit is a request of the browser to the identity provider; the answer has where it is sent next.
func visit(t *testing.T, method, address string, form url.Values) (status int, location string) {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	require.NoError(t, err)

	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}

	a, err := rig.Send(r)
	require.NoError(t, err)

	return a.Status, a.Header.Get("Location")
}

// attempts are the names of the cookies of sign-ons that the browser keeps.
func attempts(b *browser) []string {
	return slices.DeleteFunc(slices.Collect(maps.Keys(b.jar)), func(name string) bool { return !strings.HasPrefix(name, signOnCookie) })
}

// signOn begins in the browser, logs the user in at the provider, and returns the way back, with the code.
func signOn(t *testing.T, b *browser, issuer, user, query string) string {
	t.Helper()

	a := b.do(t, http.MethodGet, startPath+query, nil)
	require.Equal(t, http.StatusSeeOther, a.Status, "%s", a.Body)

	asked := queryOf(t, a.Header.Get("Location"))
	require.Equal(t, "S256", asked.Get("code_challenge_method"))
	require.Len(t, asked.Get("code_challenge"), 43)
	require.NotEmpty(t, asked.Get("state"))
	require.NotEmpty(t, asked.Get("nonce"))

	return signIn(t, b, a.Header.Get("Location"), issuer, user)
}

// signIn logs the user in at an address of the provider, and returns the way back.
func signIn(t *testing.T, b *browser, address, issuer, user string) string {
	t.Helper()

	status, next := visit(t, http.MethodGet, address, nil)
	require.Equal(t, http.StatusFound, status)

	login := url.Values{"username": {user}, "password": {theirs}, "id": {queryOf(t, next).Get("authRequestID")}}
	status, next = visit(t, http.MethodPost, issuer+"/login/username", login)
	require.Equal(t, http.StatusFound, status, "the provider does not know %s", user)

	if strings.HasPrefix(next, "/") {
		next = issuer + next
	}

	status, next = visit(t, http.MethodGet, next, nil)
	require.Equal(t, http.StatusFound, status)
	require.True(t, strings.HasPrefix(next, b.s.URL+callbackPath+"?"), next)

	return strings.TrimPrefix(next, b.s.URL)
}

// comeBack is the browser's way back; it returns where it goes from there.
func comeBack(t *testing.T, b *browser, path string) string {
	t.Helper()

	// The browser says that another site has sent it here, and so it is.
	a := b.with(map[string]string{"Sec-Fetch-Site": "cross-site"}).do(t, http.MethodGet, path, nil)
	require.Equal(t, http.StatusSeeOther, a.Status, "%s", a.Body)

	return a.Header.Get("Location")
}

// TestSingleSignOn logs in at an identity provider that is not ours, which begins to answer after the service.
func TestSingleSignOn(t *testing.T) {
	t.Parallel()

	address, err := rig.FreeAddress(t.Context())
	require.NoError(t, err)

	issuer := "http://" + address
	s := harness.Start(t, harness.Options{Env: map[string]string{
		"OIDC_ISSUER": issuer, "OIDC_CLIENT_ID": clientID, "OIDC_CLIENT_SECRET": clientSecret, "TOTP_ROLES": "FINANCE_ADMIN",
		"OIDC_ROLES": "SUPPORT_AGENT,FINANCE_ADMIN,ADMIN",
	}})

	refused(t, http.StatusServiceUnavailable, models.CodeServiceUnavailable, newBrowser(s).do(t, http.MethodGet, startPath, nil))

	people := map[string]*person{
		"support": newPerson(t, s, models.RoleSupportAgent), "unverified": newPerson(t, s, models.RoleSupportAgent),
		"two-factors": newPerson(t, s, models.RoleFinanceAdmin), "one-factor": newPerson(t, s, models.RoleFinanceAdmin),
		"steps-up": newPerson(t, s, models.RoleFinanceAdmin), "enrolled": newPerson(t, s, models.RoleAdmin), "super": newPerson(t, s, models.RoleSuperAdmin), "locked": newPerson(t, s, models.RoleAdmin),
	}
	users := map[string]object{"stranger": {"ID": "stranger", "Username": "stranger", "Password": theirs, "Email": "no@rihla.test", "EmailVerified": true}}

	for name, p := range people {
		users[name] = object{"ID": name, "Username": name, "Password": theirs, "Email": p.Email, "EmailVerified": name != "unverified"}
	}

	provider(t, address, s.URL+callbackPath, users)
	people["enrolled"].enrol(t, s.With(people["enrolled"].signIn(t, s).AccessToken))
	change(t, s, "UPDATE users SET locked_at = now() WHERE id = $1", people["locked"].ID)

	require.True(t, data[gen.SingleSignOn](t, http.StatusOK, s.Anybody().Get("/api/v1/auth/oidc")).Enabled)
	require.Eventually(t, func() bool { // a second after it was away it is asked again
		return newBrowser(s).do(t, http.MethodGet, startPath, nil).Status == http.StatusSeeOther
	}, patience, poll)

	t.Run("signed on", func(t *testing.T) {
		t.Parallel()

		b := newBrowser(s)
		require.Equal(t, "/console/refunds?page=2", comeBack(t, b, signOn(t, b, issuer, "support", "?return_to=/console/refunds%3Fpage%3D2")))
		require.Equal(t, people["support"].Email, data[gen.OwnAccount](t, http.StatusOK, b.do(t, http.MethodGet, mePath, nil)).Email)
		require.Empty(t, attempts(b), "an attempt is for once")

		for _, name := range []string{accessCookie, refreshCookie} {
			require.True(t, b.jar[name].HttpOnly && b.jar[name].Secure)
			require.Equal(t, http.SameSiteStrictMode, b.jar[name].SameSite)
		}

		require.Equal(t, http.StatusOK, b.with(bySession).do(t, http.MethodPost, refreshPath, object{}).Status)
	})

	t.Run("state, nonce and verifier belong to the browser", func(t *testing.T) {
		t.Parallel()

		const invalid = "/console/sign-in?error=INVALID_STATE"

		mine, other := newBrowser(s), newBrowser(s)
		back := signOn(t, mine, issuer, "support", "")

		// The way back of another browser, in one that waits for none, or for another one.
		require.Equal(t, invalid, comeBack(t, newBrowser(s), back))
		signOn(t, other, issuer, "support", "")
		require.Equal(t, invalid, comeBack(t, other, back))

		// The code of one attempt with the state of another: the provider wants the verifier of the first.
		third := newBrowser(s)
		swapped := queryOf(t, signOn(t, third, issuer, "support", ""))
		swapped.Set("code", queryOf(t, back).Get("code"))
		require.Equal(t, "/console/sign-in?error=INVALID_CREDENTIALS", comeBack(t, third, callbackPath+"?"+swapped.Encode()))
		require.NotContains(t, third.jar, accessCookie)

		// A code counts once, and an attempt does.
		again := newBrowser(s)
		once := signOn(t, again, issuer, "support", "")
		kept := *again.jar[attempts(again)[0]]
		require.Equal(t, "/console", comeBack(t, again, once))
		require.Equal(t, invalid, comeBack(t, again, once))

		replayed := newBrowser(s)
		replayed.jar[kept.Name] = &kept
		require.Equal(t, "/console/sign-in?error=INVALID_CREDENTIALS", comeBack(t, replayed, once))
	})

	t.Run("tabs", func(t *testing.T) {
		t.Parallel()

		b := newBrowser(s)
		first, second := signOn(t, b, issuer, "support", "?return_to=/console/a"), signOn(t, b, issuer, "support", "?return_to=/console/b")
		require.Equal(t, "/console/a", comeBack(t, b, first))
		require.Equal(t, "/console/b", comeBack(t, b, second))
		require.Empty(t, attempts(b))

		// The oldest give way.
		oldest := signOn(t, b, issuer, "support", "")
		for range 9 {
			require.Equal(t, http.StatusSeeOther, b.do(t, http.MethodGet, startPath, nil).Status)
		}

		require.Len(t, attempts(b), 5)

		newest := signOn(t, b, issuer, "support", "")
		require.Equal(t, "/console/sign-in?error=INVALID_STATE", comeBack(t, b, oldest))
		require.Equal(t, "/console", comeBack(t, b, newest))
	})

	t.Run("reasons", func(t *testing.T) {
		t.Parallel()

		b := newBrowser(s)
		a := b.do(t, http.MethodGet, startPath, nil)
		state := queryOf(t, a.Header.Get("Location")).Get("state")
		require.Equal(t, "/console/sign-in?error=INVALID_CREDENTIALS",
			comeBack(t, b, callbackPath+"?error=access_denied&state="+url.QueryEscape(state)))
		require.Equal(t, 1, s.Count("SELECT count(*) FROM audit_log WHERE action = 'LOGIN_FAILED' AND entity_id IS NULL"+
			" AND details->>'reason' = 'authorization endpoint: access_denied'"+
			" AND details->'reason_text'->>'key' = 'sign_on.authorization_endpoint'"))

		// A browser that does it again and again fills no log.
		for range 5 {
			a := b.do(t, http.MethodGet, startPath, nil)
			state := queryOf(t, a.Header.Get("Location")).Get("state")
			comeBack(t, b, callbackPath+"?error=access_denied&state="+url.QueryEscape(state))
		}

		require.LessOrEqual(t, s.Count("SELECT count(*) FROM audit_log WHERE details->>'reason' = 'authorization endpoint: access_denied'"), 2)
	})

	t.Run("step-up", func(t *testing.T) {
		t.Parallel()

		const stepUpPath, export = "/api/v1/auth/oidc/step-up", "/api/v1/admin/financial-records/export?format=csv"

		p := people["steps-up"]
		b := newBrowser(s).with(bySession)
		require.Equal(t, "/console", comeBack(t, b, signOn(t, b, issuer, "steps-up", "")))
		require.Equal(t, models.FactorIssuer, data[gen.OwnAccount](t, http.StatusOK, b.do(t, http.MethodGet, mePath, nil)).Factor)

		// Eleven hours later.
		change(t, s, "UPDATE sessions SET code_at = now() - interval '11 hours' WHERE user_id = $1 AND ended_at IS NULL", p.ID)

		a := b.do(t, http.MethodGet, export, nil)
		refused(t, http.StatusForbidden, models.CodeStepUpRequired, a)
		require.Contains(t, string(a.Body), `"details":{"method":["SIGN_ON"]}`)

		refused(t, http.StatusConflict, models.CodeInvalidState, b.do(t, http.MethodPost, "/api/v1/auth/step-up", object{"code": "123456"}))

		up := func() string {
			at := data[gen.SignOnAddress](t, http.StatusOK, b.do(t, http.MethodPost, stepUpPath, object{"return_to": "/console/records?page=2"})).Location
			require.Equal(t, "login", queryOf(t, at).Get("prompt"))
			require.Equal(t, "600", queryOf(t, at).Get("max_age"))

			return at
		}

		// Another one at the provider steps nothing up, and the session stays.
		const failed = "/console/records?page=2&step_up_error="
		require.Equal(t, failed+"INVALID_STATE", comeBack(t, b, signIn(t, b, up(), issuer, "two-factors")))
		require.Equal(t, failed+"INVALID_CREDENTIALS", comeBack(t, b, signIn(t, b, up(), issuer, "one-factor")))
		refused(t, http.StatusForbidden, models.CodeStepUpRequired, b.do(t, http.MethodGet, export, nil))

		was := b.jar[accessCookie].Value
		require.Equal(t, "/console/records?page=2", comeBack(t, b, signIn(t, b, up(), issuer, "steps-up")))
		require.Equal(t, was, b.jar[accessCookie].Value, "into the same session")
		require.Equal(t, http.StatusOK, b.do(t, http.MethodGet, export, nil).Status)
		require.Equal(t, 1, audited(s, "STEPPED_UP", p.ID))

		// A session that was not opened there cannot.
		own := newBrowser(s).with(bySession)
		require.Equal(t, http.StatusOK, own.do(t, http.MethodPost, loginPath, object{"email": people["support"].Email, "password": storetest.Password}).Status)
		refused(t, http.StatusConflict, models.CodeInvalidState, own.do(t, http.MethodPost, stepUpPath, object{}))
	})

	t.Run("who may not", func(t *testing.T) {
		t.Parallel()

		for name, want := range map[string]models.Code{
			"unverified": models.CodeInvalidCredentials, "stranger": models.CodeForbidden, "super": models.CodeForbidden, "locked": models.CodeForbidden,
		} {
			b := newBrowser(s)
			require.Equal(t, "/console/sign-in?error="+string(want), comeBack(t, b, signOn(t, b, issuer, name, "")), name)
			require.NotContains(t, b.jar, accessCookie, name)
		}

		for name, noted := range map[string]int{"super": 1, "locked": 1, "unverified": 0} {
			require.Equal(t, noted, audited(s, "LOGIN_FAILED", people[name].ID), name)
		}

		require.Equal(t, 0, s.Count("SELECT count(*) FROM users WHERE email = 'no@rihla.test'"), "no account is made")
		require.Equal(t, "/console/sign-in?error=INVALID_STATE", comeBack(t, newBrowser(s), callbackPath+"?error=access_denied&state=x"))

		for _, to := range []string{"https://evil.example", "//evil.example", "/console/../x\\y", "/console.evil.example", "/consolex"} {
			refused(t, http.StatusUnprocessableEntity, models.CodeValidation,
				newBrowser(s).do(t, http.MethodGet, startPath+"?return_to="+url.QueryEscape(to), nil))
		}
	})

	t.Run("second factors", func(t *testing.T) {
		t.Parallel()

		// The provider says that it has seen two: the role is satisfied.
		two := newBrowser(s)
		require.Equal(t, "/console", comeBack(t, two, signOn(t, two, issuer, "two-factors", "")))
		require.False(t, data[gen.OwnAccount](t, http.StatusOK, two.do(t, http.MethodGet, mePath, nil)).SecondFactorNeeded)
		require.Equal(t, http.StatusOK, two.do(t, http.MethodGet, "/api/v1/admin/refunds", nil).Status)
		require.Equal(t, http.StatusOK, two.with(bySession).do(t, http.MethodPost, refreshPath, object{}).Status)
		require.Equal(t, http.StatusOK, two.do(t, http.MethodGet, "/api/v1/admin/refunds", nil).Status, "and stays so")

		// It says that it has seen a password alone.
		one := newBrowser(s)
		require.Equal(t, "/console", comeBack(t, one, signOn(t, one, issuer, "one-factor", "")))
		refused(t, http.StatusForbidden, models.CodeSecondFactorNeeded, one.do(t, http.MethodGet, "/api/v1/admin/refunds", nil))

		// The account has one of its own: the page asks for its code.
		own := newBrowser(s)
		page, token, found := strings.Cut(comeBack(t, own, signOn(t, own, issuer, "enrolled", "")), "#mfa_token=")
		require.True(t, found)
		require.Equal(t, "/console/sign-in", page)
		require.NotContains(t, own.jar, accessCookie)
		require.Equal(t, http.StatusOK, own.with(bySession).do(t, http.MethodPost, loginPath+"/totp",
			object{"mfa_token": token, "code": people["enrolled"].code(t)}).Status)
		require.Equal(t, http.StatusOK, own.do(t, http.MethodGet, mePath, nil).Status)
	})
}
