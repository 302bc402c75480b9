// Package identity_test signs in to the running service as browsers and apps do: by cookie, with a second factor, by the links of mails,
// and at an identity provider that is not ours.
package identity_test

import (
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"rihla/api/gen"
	"rihla/e2e/harness"
	"rihla/internal/store/storetest"
	"rihla/models"
)

type object = map[string]any

const (
	loginPath   = "/api/v1/auth/login"
	refreshPath = "/api/v1/auth/refresh"
	mePath      = "/api/v1/me"
	totpPath    = "/api/v1/me/totp"
	usersPath   = "/api/v1/admin/users"
	nextPass    = "another-long-password"

	accessCookie, refreshCookie = "__Host-rihla_access", "__Host-rihla_refresh"

	patience, poll = 30 * time.Second, 50 * time.Millisecond
)

var bySession = map[string]string{"X-Session": "cookie"}

// person is an account of a test's own.
type person struct {
	models.User

	secret string // of its second factor
	later  int    // time steps whose code has been used
}

func newPerson(t *testing.T, s *harness.Stack, role models.Role) *person {
	t.Helper()

	u := s.World.Users[role]
	u.ID, u.Email = models.NewID(), strings.ReplaceAll(uuid.NewString(), "-", "")+"@rihla.test"

	u, err := s.Store.Accounts.CreateUser(t.Context(), u)
	require.NoError(t, err)

	return &person{User: u}
}

// code is one that was not used yet: the next step's counts, too, for clocks that differ.
func (p *person) code(t *testing.T) string {
	t.Helper()

	code, err := totp.GenerateCode(p.secret, time.Now().Add(time.Duration(p.later)*30*time.Second))
	require.NoError(t, err)

	p.later++

	return code
}

// forget makes codes of this time step count again, as if time had passed.
func (p *person) forget(t *testing.T, s *harness.Stack) {
	t.Helper()
	change(t, s, "UPDATE second_factors SET last_step = 0 WHERE user_id = $1", p.ID)

	p.later = 0
}

// enrol gives the account a second factor and returns its recovery codes.
func (p *person) enrol(t *testing.T, c *harness.Caller) []string {
	t.Helper()

	made := data[gen.NewSecondFactor](t, http.StatusOK, c.Post(totpPath, object{"password": storetest.Password}))
	p.secret = made.Secret

	require.Contains(t, made.OtpauthURI, "otpauth://totp/Rihla:")
	require.Contains(t, made.OtpauthURI, "secret="+made.Secret)
	require.True(t, strings.HasPrefix(made.QrCode, "data:image/png;base64,"))

	return data[gen.RecoveryCodes](t, http.StatusOK, c.Post(totpPath+"/confirm", object{"code": p.code(t)})).RecoveryCodes
}

// login is the answer to the person's password.
func (p *person) login(s *harness.Stack) harness.Answer {
	return s.Anybody().Post(loginPath, object{"email": p.Email, "password": storetest.Password})
}

// signIn is a session of a person without a second factor.
func (p *person) signIn(t *testing.T, s *harness.Stack) gen.Tokens {
	t.Helper()

	return data[gen.Tokens](t, http.StatusOK, p.login(s))
}

// challenge is what the password of a person with a second factor gets.
func (p *person) challenge(t *testing.T, s *harness.Stack) string {
	t.Helper()

	asked := data[gen.SecondFactorNeeded](t, http.StatusOK, p.login(s))
	require.True(t, asked.MfaRequired)

	return asked.MfaToken
}

func answer(s *harness.Stack, challenge, code string) harness.Answer {
	return s.Anybody().Post(loginPath+"/totp", object{"mfa_token": challenge, "code": code})
}

// browser keeps cookies as browsers do and sends what they send.
type browser struct {
	s      *harness.Stack
	jar    map[string]*http.Cookie
	header map[string]string
}

func newBrowser(s *harness.Stack) *browser { return &browser{s: s, jar: map[string]*http.Cookie{}} }

// with is the same browser with other headers.
func (b *browser) with(header map[string]string) *browser {
	return &browser{s: b.s, jar: b.jar, header: header}
}

func (b *browser) do(t *testing.T, method, path string, body any) harness.Answer {
	t.Helper()

	header := map[string]string{}
	maps.Copy(header, b.header)

	cookies := make([]string, 0, len(b.jar))
	for _, c := range b.jar {
		cookies = append(cookies, c.Name+"="+c.Value)
	}

	if len(cookies) > 0 {
		header["Cookie"] = strings.Join(cookies, "; ")
	}

	a, err := b.s.Anybody().Do(method, path, body, header)
	require.NoError(t, err)

	b.keep(a)

	return a
}

func (b *browser) keep(a harness.Answer) {
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if c.MaxAge < 0 || c.Value == "" || !c.Expires.IsZero() && c.Expires.Before(time.Now()) {
			delete(b.jar, c.Name)
		} else {
			b.jar[c.Name] = c
		}
	}
}

// link waits until the address has so many mails with a link to the page and returns the secret of the newest.
func link(t *testing.T, s *harness.Stack, to, page string, n int) string {
	t.Helper()

	var found [][]string

	pattern := regexp.MustCompile(regexp.QuoteMeta(s.URL+"/console/"+page) + `#([A-Za-z0-9_-]{43})`)

	require.Eventually(t, func() bool {
		found = nil

		files, _ := filepath.Glob(filepath.Join(s.DataDir, "outbox", "*.eml"))
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue
			}

			if !strings.Contains(string(text), "<"+to+">") {
				continue
			}

			flat := strings.NewReplacer("=\r\n", "", "=\n", "", "=3D", "=").Replace(string(text))
			if m := pattern.FindStringSubmatch(flat); m != nil {
				found = append(found, m)
			}
		}

		return len(found) >= n
	}, patience, poll, "no mail with a link to "+page)

	return found[len(found)-1][1]
}

// data is the data of an answer with the status.
func data[T any](t *testing.T, status int, a harness.Answer) T {
	t.Helper()
	require.Equal(t, status, a.Status, "%s", a.Body)

	var v T

	require.NoError(t, a.Data(&v))

	return v
}

func refused(t *testing.T, status int, code models.Code, a harness.Answer) {
	t.Helper()
	require.Equal(t, status, a.Status, "%s", a.Body)
	require.Equal(t, code, a.Code(), "%s", a.Body)
}

func change(t *testing.T, s *harness.Stack, query string, args ...any) {
	t.Helper()

	_, err := s.DB.ExecContext(t.Context(), query, args...)
	require.NoError(t, err, query)
}

func audited(s *harness.Stack, action string, of uuid.UUID) int {
	return s.Count("SELECT count(*) FROM audit_log WHERE action = $1 AND entity_id = $2", action, of)
}

func queryOf(t *testing.T, address string) url.Values {
	t.Helper()

	u, err := url.Parse(address)
	require.NoError(t, err)

	return u.Query()
}
