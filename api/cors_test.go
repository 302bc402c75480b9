package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
)

const (
	appOrigin   = "https://app.rihla.test"
	adminOrigin = "https://admin.rihla.test:8443"
)

func withOrigins(origins ...string) func(*Deps) { return func(d *Deps) { d.CORSOrigins = origins } }

// headerList is a header's values, of one line or several.
func headerList(a answer, name string) []string {
	var out []string

	for _, line := range a.header.Values(name) {
		for value := range strings.SplitSeq(line, ",") {
			out = append(out, strings.TrimSpace(value))
		}
	}

	return out
}

func requireNoCORS(t *testing.T, a answer) {
	t.Helper()
	require.Empty(t, a.get("Access-Control-Allow-Origin"))
	require.Empty(t, a.get("Access-Control-Allow-Credentials"))
}

func TestCORSIsOffByDefault(t *testing.T) {
	t.Parallel()

	b := setup(t)

	a := b.call(t, http.MethodGet, "/api/v1/trips", "", "", "Origin", appOrigin)
	require.Equal(t, http.StatusOK, a.status)
	requireNoCORS(t, a)
	require.NotContains(t, headerList(a, "Vary"), "Origin")

	a = b.call(t, http.MethodOptions, "/api/v1/trips", "", "", "Origin", appOrigin, "Access-Control-Request-Method", "GET")
	require.Equal(t, http.StatusMethodNotAllowed, a.status)
	requireNoCORS(t, a)
}

func TestCORSPreflight(t *testing.T) {
	t.Parallel()

	b := setup(t, withOrigins(appOrigin, adminOrigin), withLimits(config.RateLimits{Anonymous: 1, EndUser: 1}))

	ask := func(origin string) answer {
		return b.call(t, http.MethodOptions, bookingPath, "", "", "Origin", origin, "Access-Control-Request-Method", "POST",
			"Access-Control-Request-Headers", "authorization,content-type,idempotency-key")
	}

	// Preflights carry no token, are answered before anything is checked, and cost nothing.
	for range 5 {
		a := ask(appOrigin)
		require.Equal(t, http.StatusNoContent, a.status)
		require.Empty(t, a.body)
		require.Empty(t, a.get(remainingHeader))
		require.Equal(t, appOrigin, a.get("Access-Control-Allow-Origin"))
		require.ElementsMatch(t, []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}, headerList(a, "Access-Control-Allow-Methods"))
		require.Subset(t, headerList(a, "Access-Control-Allow-Headers"),
			[]string{"Authorization", "Content-Type", "Idempotency-Key", "Accept-Language", "X-Request-Id"})
		require.Equal(t, "600", a.get("Access-Control-Max-Age"))
		require.Empty(t, a.get("Access-Control-Allow-Credentials"))
		require.Subset(t, headerList(a, "Vary"), []string{"Accept-Language", "Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers"})
		require.NotEmpty(t, a.get(requestIDHeader))
	}

	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/api/v1/trips", "", "").status)
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/api/v1/me", "END_USER", "").status)
	require.Equal(t, adminOrigin, ask(adminOrigin).get("Access-Control-Allow-Origin"))

	for _, stranger := range []string{
		"https://evil.test", "http://app.rihla.test", appOrigin + ":8443", "https://admin.rihla.test", "https://x.app.rihla.test",
		appOrigin + ".evil.test", "null", "*",
	} {
		a := ask(stranger)
		require.Equal(t, http.StatusNoContent, a.status)
		requireNoCORS(t, a)
		require.Contains(t, headerList(a, "Vary"), "Origin", stranger)
	}

	// A plain OPTIONS is no preflight.
	a := b.call(t, http.MethodOptions, bookingPath, "", "", "Origin", appOrigin)
	require.Equal(t, "METHOD_NOT_ALLOWED", a.code)
}

func TestCORSAnswers(t *testing.T) {
	t.Parallel()

	b := setup(t, withOrigins(appOrigin), withLimits(config.RateLimits{Anonymous: 2}))

	// A page must be able to read errors, too.
	for _, tt := range []struct {
		method, path, role string
		status             int
	}{
		{http.MethodGet, "/api/v1/trips", "", http.StatusOK},
		{http.MethodGet, "/api/v1/me", "", http.StatusUnauthorized},
		{http.MethodGet, "/api/v1/trips", "", http.StatusTooManyRequests},
		{http.MethodGet, "/api/v1/admin/financial-records", "END_USER", http.StatusForbidden},
		{http.MethodGet, "/api/v1/nothing", "", http.StatusNotFound},
		{http.MethodDelete, "/api/v1/trips", "", http.StatusMethodNotAllowed},
		{http.MethodPost, bookingPath, "END_USER", http.StatusBadRequest},
		{http.MethodGet, "/healthz", "", http.StatusOK},
	} {
		a := b.call(t, tt.method, tt.path, tt.role, "", "Origin", appOrigin)
		require.Equal(t, tt.status, a.status, tt.path)
		require.Equal(t, appOrigin, a.get("Access-Control-Allow-Origin"), tt.path)
		require.Empty(t, a.get("Access-Control-Allow-Credentials"))
		require.Subset(t, headerList(a, "Vary"), []string{"Accept-Language", "Origin"})
		require.Subset(t, headerList(a, "Access-Control-Expose-Headers"), []string{
			"X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After", "Location",
			"Idempotent-Replayed", "Content-Disposition", "Deprecation", "Sunset", "Link",
		})

		a = b.call(t, tt.method, tt.path, tt.role, "", "Origin", "https://evil.test")
		requireNoCORS(t, a)
		require.Contains(t, headerList(a, "Vary"), "Origin")
		require.Contains(t, headerList(b.call(t, tt.method, tt.path, tt.role, ""), "Vary"), "Origin", "a cache must keep them apart")
	}

	anybody := setup(t, withOrigins(config.AnyOrigin))
	a := anybody.call(t, http.MethodGet, "/api/v1/trips", "", "", "Origin", "https://any.test")
	require.Equal(t, "*", a.get("Access-Control-Allow-Origin"))
	require.Empty(t, a.get("Access-Control-Allow-Credentials"))
}

func TestCORSOfPagesOfThisMachine(t *testing.T) {
	t.Parallel()

	b := setup(t, withOrigins(appOrigin, config.LocalOrigins))

	for _, own := range []string{
		appOrigin, "http://localhost", "http://localhost:5173", "https://localhost:3000", "http://127.0.0.1:8000", "http://[::1]:4200",
	} {
		require.Equal(t, own, b.call(t, http.MethodGet, "/api/v1/trips", "", "", "Origin", own).get("Access-Control-Allow-Origin"))
	}

	for _, stranger := range []string{
		adminOrigin, "http://localhost.evil.test", "http://evil.test", "http://localhost:80.evil.test", "ftp://localhost", "http://localhost/",
		"http://evil@localhost", "http://127.0.0.1.evil.test", "http://127.0.0.2", "null", config.LocalOrigins,
	} {
		requireNoCORS(t, b.call(t, http.MethodGet, "/api/v1/trips", "", "", "Origin", stranger))
	}
}
