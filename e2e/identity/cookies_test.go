package identity_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/api/gen"
	"rihla/e2e/harness"
	"rihla/internal/store/storetest"
	"rihla/models"
)

// cookies is a session in a browser from its beginning to its end: no token is ever in an answer's body.
func cookies(t *testing.T, s *harness.Stack) {
	t.Helper()

	p := newPerson(t, s, models.RoleSupportAgent)
	b := newBrowser(s).with(bySession)

	a := b.do(t, http.MethodPost, loginPath, object{"email": p.Email, "password": storetest.Password})
	in := data[gen.Tokens](t, http.StatusOK, a)
	require.Empty(t, in.AccessToken)
	require.Empty(t, in.RefreshToken)
	require.Equal(t, "Cookie", in.TokenType)

	for name, lives := range map[string]int{accessCookie: 900, refreshCookie: 12 * 3600} {
		c := b.jar[name]
		require.NotNil(t, c, name)
		require.True(t, c.HttpOnly && c.Secure, name)
		require.Equal(t, http.SameSiteStrictMode, c.SameSite, name)
		require.Equal(t, "/", c.Path, name)
		require.Empty(t, c.Domain, name)
		require.InDelta(t, lives, c.MaxAge, 2, name)
		require.NotContains(t, string(a.Body), c.Value)
	}

	// Reading needs no header, writing does.
	require.Equal(t, p.Email, data[gen.OwnAccount](t, http.StatusOK, b.with(nil).do(t, http.MethodGet, mePath, nil)).Email)
	refused(t, http.StatusForbidden, models.CodeForbidden, b.with(nil).do(t, http.MethodDelete, mePath+"/sessions", nil))

	was := b.jar[refreshCookie].Value
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, refreshPath, object{}).Status)
	require.NotEqual(t, was, b.jar[refreshCookie].Value)

	require.Equal(t, http.StatusNoContent, b.do(t, http.MethodPost, "/api/v1/auth/logout", object{}).Status)
	require.Empty(t, b.jar, "the cookies are gone")
	require.Equal(t, http.StatusNoContent, b.do(t, http.MethodPost, "/api/v1/auth/logout", object{}).Status, "twice is fine")
	refused(t, http.StatusUnauthorized, models.CodeUnauthenticated, b.do(t, http.MethodGet, mePath, nil))
	refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, b.do(t, http.MethodPost, refreshPath, object{}))
}

// otherSites cannot use a session by cookie, whether or not their browser says where a request comes from.
func otherSites(t *testing.T, s *harness.Stack) {
	t.Helper()

	p := newPerson(t, s, models.RoleSupportAgent)
	b := newBrowser(s).with(bySession)
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, loginPath, object{"email": p.Email, "password": storetest.Password}).Status)

	access, refresh := b.jar[accessCookie].Value, b.jar[refreshCookie].Value

	for _, site := range []string{"cross-site", "same-site"} {
		from := b.with(map[string]string{"X-Session": "cookie", "Sec-Fetch-Site": site})
		for path, method := range map[string]string{
			mePath: http.MethodGet, mePath + "/sessions": http.MethodDelete, refreshPath: http.MethodPost, "/api/v1/auth/logout": http.MethodPost,
		} {
			var body any
			if method == http.MethodPost {
				body = object{}
			}

			refused(t, http.StatusForbidden, models.CodeForbidden, from.do(t, method, path, body))
		}

		refused(t, http.StatusForbidden, models.CodeForbidden,
			from.do(t, http.MethodPost, loginPath, object{"email": p.Email, "password": storetest.Password}))
	}

	// What an old browser sends for a form of another site: the cookies, and no header.
	form := b.with(nil)
	refused(t, http.StatusUnprocessableEntity, models.CodeValidation, form.do(t, http.MethodPost, refreshPath, object{}))
	refused(t, http.StatusForbidden, models.CodeForbidden, form.do(t, http.MethodPost, mePath+"/verify-email", nil))

	// A scheme that is no bearer's does not fall back to the cookie.
	refused(t, http.StatusUnauthorized, models.CodeUnauthenticated,
		b.with(map[string]string{"Authorization": "Basic eDp5"}).do(t, http.MethodGet, mePath, nil))

	for _, site := range []string{"same-origin", "none"} {
		require.Equal(t, http.StatusOK, b.with(map[string]string{"Sec-Fetch-Site": site}).do(t, http.MethodGet, mePath, nil).Status)
	}

	require.Equal(t, []string{access, refresh}, []string{b.jar[accessCookie].Value, b.jar[refreshCookie].Value}, "nothing has changed")

	// A preflight of another origin is refused the header.
	preflight := b.with(map[string]string{
		"Origin": "https://evil.example", "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-session",
	}).do(t, http.MethodOptions, loginPath, nil)
	require.Empty(t, preflight.Header.Get("Access-Control-Allow-Origin"))
}

// fixation: what a browser had before a log-in is worth nothing for the session that begins with it.
func fixation(t *testing.T, s *harness.Stack) {
	t.Helper()

	thief, victim := newPerson(t, s, models.RoleEndUser), newPerson(t, s, models.RoleEndUser)

	planted := newBrowser(s).with(bySession)
	before := data[gen.Tokens](t, http.StatusOK,
		planted.do(t, http.MethodPost, loginPath, object{"email": thief.Email, "password": storetest.Password}))
	access, refresh := planted.jar[accessCookie].Value, planted.jar[refreshCookie].Value

	after := data[gen.Tokens](t, http.StatusOK,
		planted.do(t, http.MethodPost, loginPath, object{"email": victim.Email, "password": storetest.Password}))
	require.NotEqual(t, before.SessionID, after.SessionID)
	require.NotEqual(t, access, planted.jar[accessCookie].Value)
	require.NotEqual(t, refresh, planted.jar[refreshCookie].Value)
	refused(t, http.StatusUnauthorized, models.CodeUnauthenticated, s.With(access).Get(mePath))
	refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, s.Anybody().Post(refreshPath, object{"refresh_token": refresh}))

	// A second factor that is added ends what was open elsewhere before.
	elsewhere := victim.signIn(t, s)
	victim.enrol(t, s.With(planted.jar[accessCookie].Value))
	refused(t, http.StatusUnauthorized, models.CodeUnauthenticated, s.With(elsewhere.AccessToken).Get(mePath))
}

// leaving: a browser that logs in leaves its session behind, and one that logs out ends it by whichever cookie is left.
func leaving(t *testing.T, s *harness.Stack) {
	t.Helper()

	p := newPerson(t, s, models.RoleSupportAgent)
	open := func() int {
		return s.Count("SELECT count(*) FROM sessions WHERE user_id = $1 AND ended_at IS NULL", p.ID)
	}

	for _, left := range [][]string{{accessCookie, refreshCookie}, {accessCookie}, {refreshCookie}} {
		for _, leave := range []func(*browser){
			func(b *browser) {
				require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, loginPath, object{"email": p.Email, "password": storetest.Password}).Status)
			},
			func(b *browser) {
				require.Equal(t, http.StatusNoContent, b.do(t, http.MethodPost, "/api/v1/auth/logout", object{}).Status)
			},
		} {
			b := newBrowser(s).with(bySession)
			in := data[gen.Tokens](t, http.StatusOK, b.do(t, http.MethodPost, loginPath, object{"email": p.Email, "password": storetest.Password}))
			access := b.jar[accessCookie].Value
			maps.DeleteFunc(b.jar, func(name string, _ *http.Cookie) bool { return !slices.Contains(left, name) })
			leave(b)

			require.Equal(t, 1, s.Count("SELECT count(*) FROM sessions WHERE id = $1 AND ended_at IS NOT NULL", in.SessionID), "%v", left)
			refused(t, http.StatusUnauthorized, models.CodeUnauthenticated, s.With(access).Get(mePath))
		}
	}

	require.Equal(t, 3, open(), "those that have begun over another one")

	// A second factor makes no difference.
	b := newBrowser(s).with(bySession)
	in := data[gen.Tokens](t, http.StatusOK, b.do(t, http.MethodPost, loginPath, object{"email": p.Email, "password": storetest.Password}))
	other := newPerson(t, s, models.RoleSupportAgent)
	other.enrol(t, s.With(other.signIn(t, s).AccessToken))
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, loginPath+"/totp", object{"mfa_token": other.challenge(t, s), "code": other.code(t)}).Status)
	require.Equal(t, 1, s.Count("SELECT count(*) FROM sessions WHERE id = $1 AND ended_at IS NOT NULL", in.SessionID))
}

// stolenCookie: a refresh token that is used twice ends the session at once, and its owner gets a mail.
func stolenCookie(t *testing.T, s *harness.Stack) {
	t.Helper()

	p := newPerson(t, s, models.RoleFinanceAdmin)
	owner := newBrowser(s).with(bySession)
	require.Equal(t, http.StatusOK, owner.do(t, http.MethodPost, loginPath, object{"email": p.Email, "password": storetest.Password}).Status)

	// The answer was lost: the same device gets the same successor.
	was := maps.Clone(owner.jar)
	require.Equal(t, http.StatusOK, owner.do(t, http.MethodPost, refreshPath, object{}).Status)

	successor := owner.jar[refreshCookie].Value
	maps.Copy(owner.jar, was)
	require.Equal(t, http.StatusOK, owner.do(t, http.MethodPost, refreshPath, object{}).Status)
	require.Equal(t, successor, owner.jar[refreshCookie].Value)

	thief := newBrowser(s).with(map[string]string{"X-Session": "cookie", "User-Agent": "another device"})
	maps.Copy(thief.jar, owner.jar)

	require.Equal(t, http.StatusOK, thief.do(t, http.MethodPost, refreshPath, object{}).Status)

	a := owner.do(t, http.MethodPost, refreshPath, object{})
	refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, a)
	require.Empty(t, owner.jar, "the browser forgets a session that is over")
	refused(t, http.StatusUnauthorized, models.CodeUnauthenticated, thief.do(t, http.MethodGet, mePath, nil))
	refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, thief.do(t, http.MethodPost, refreshPath, object{}))

	require.Equal(t, 1, audited(s, "SESSION_STOLEN", p.ID))
	require.Equal(t, 1, s.Count("SELECT count(*) FROM notifications WHERE kind = 'SESSION_STOLEN' AND user_id = $1", p.ID))
}

// ownSessions are listed and ended one by one, and together; an access token ends with its session.
func ownSessions(t *testing.T, s *harness.Stack) {
	t.Helper()

	p, other := newPerson(t, s, models.RoleEndUser), newPerson(t, s, models.RoleEndUser)
	here, phone, stranger := p.signIn(t, s), p.signIn(t, s), other.signIn(t, s)
	me := s.With(here.AccessToken)

	open := data[[]gen.OpenSession](t, http.StatusOK, me.Get(mePath+"/sessions"))
	require.Len(t, open, 2)

	for _, one := range open {
		require.Equal(t, one.ID == *here.SessionID, one.Current)
		require.Equal(t, "127.0.0.1", one.Address)
		require.NotEmpty(t, one.UserAgent)
		require.InDelta(t, 30*24, one.ExpiresAt.Sub(one.CreatedAt).Hours(), 1)
	}

	end := func(path string) harness.Answer {
		a, err := me.Do(http.MethodDelete, mePath+"/sessions"+path, nil, nil)
		require.NoError(t, err)

		return a
	}

	refused(t, http.StatusNotFound, models.CodeNotFound, end("/"+stranger.SessionID.String()))
	require.Equal(t, http.StatusNoContent, end("/"+phone.SessionID.String()).Status)
	refused(t, http.StatusNotFound, models.CodeNotFound, end("/"+phone.SessionID.String()))
	refused(t, http.StatusUnauthorized, models.CodeUnauthenticated, s.With(phone.AccessToken).Get(mePath))
	require.Equal(t, http.StatusOK, me.Get(mePath).Status)

	require.Equal(t, http.StatusNoContent, end("").Status)
	refused(t, http.StatusUnauthorized, models.CodeUnauthenticated, me.Get(mePath))
	require.Equal(t, http.StatusOK, s.With(stranger.AccessToken).Get(mePath).Status)

	// A session of staff ends after 12 hours, however often it is refreshed.
	staff := newPerson(t, s, models.RoleProviderStaff).signIn(t, s)
	change(t, s, "UPDATE sessions SET expires_at = now() WHERE id = $1", staff.SessionID)
	refused(t, http.StatusUnauthorized, models.CodeUnauthenticated, s.With(staff.AccessToken).Get(mePath))
	refused(t, http.StatusUnauthorized, models.CodeInvalidCredentials, s.Anybody().Post(refreshPath, object{"refresh_token": staff.RefreshToken}))
}
