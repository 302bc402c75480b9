package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	publicURL = "https://api.rihla.test"
	hstsName  = "Strict-Transport-Security"
)

// behindProxy serves the app as a proxy at this machine meets it.
func behindProxy(d *Deps) { d.PublicURL, d.TrustedProxies = publicURL, []string{"127.0.0.0/8"} }

func TestHTTPSBehindAProxy(t *testing.T) {
	t.Parallel()

	addr := setup(t, behindProxy).listen(t)

	get := func(target string, headers ...string) answer {
		return exchange(t, addr, "GET "+target+" HTTP/1.1\r\nHost: a\r\n"+strings.Join(append(headers, "\r\n"), "\r\n"), 1)[0]
	}

	for _, proto := range []string{"https", "HTTPS", "https, http", " https"} {
		a := get("/api/v1/trips", "X-Forwarded-Proto: "+proto)
		require.Equal(t, http.StatusOK, a.status, proto)
		require.Equal(t, "max-age=31536000", a.get(hstsName))
	}

	for _, header := range []string{"X-Forwarded-Proto: http", "X-Forwarded-Proto: http, https", "X-Forwarded-Proto:", "X-Forwarded-Ssl: on", "A: b"} {
		a := get("/api/v1/trips?page=2&x=%20y", header)
		require.Equal(t, http.StatusPermanentRedirect, a.status, header)
		require.Equal(t, publicURL+"/api/v1/trips?page=2&x=%20y", a.get("Location"))
		require.Empty(t, a.get(hstsName), "not over plain HTTP (RFC 6797)")
		require.Empty(t, a.body)
	}

	// Probes come from inside the network, as they are.
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		a := get(path)
		require.Equal(t, http.StatusOK, a.status, path)
		require.Empty(t, a.get(hstsName))
	}

	// Whatever the request line holds, the redirect leads to us.
	for _, target := range []string{"http://evil.test/x", "@evil.test/x", ".evil.test/x", "//evil.test/x", ":8443/x", "*", "/a\\b"} {
		a := get(target)
		if a.status == http.StatusBadRequest {
			continue
		}

		require.Equal(t, http.StatusPermanentRedirect, a.status, target)
		require.True(t, strings.HasPrefix(a.get("Location"), publicURL+"/"), "%s: %s", target, a.get("Location"))
	}
}

// TestHTTPSWithoutAProxy: the claims of a sender that is not a trusted proxy are ignored.
func TestHTTPSWithoutAProxy(t *testing.T) {
	t.Parallel()

	stranger := setup(t, func(d *Deps) { d.PublicURL, d.TrustedProxies = publicURL, []string{"10.0.0.0/8"} })
	require.Equal(t, http.StatusPermanentRedirect, stranger.call(t, http.MethodGet, "/api/v1/trips", "", "", "X-Forwarded-Proto", "https").status)

	a := stranger.call(t, http.MethodPost, "/api/v1/bookings", "END_USER", bookingBody)
	require.Equal(t, http.StatusPermanentRedirect, a.status, "keeps the method")
	require.Zero(t, stranger.ops.calls)

	plain := setup(t, func(d *Deps) { d.PublicURL = "http://127.0.0.1:8080" })
	a = plain.call(t, http.MethodGet, "/api/v1/trips", "", "", "X-Forwarded-Proto", "https")
	require.Equal(t, http.StatusOK, a.status)
	require.Empty(t, a.get(hstsName))
}

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()

	b := setup(t, func(d *Deps) { d.PublicURL, d.TrustedProxies = publicURL, []string{"0.0.0.0/0"} }, withOrigins(appOrigin))

	for _, tt := range []struct{ method, path, role, policy, cache string }{
		{http.MethodGet, "/api/v1/me", "END_USER", "default-src 'none'; frame-ancestors 'none'", "no-store"},
		{http.MethodGet, "/api/v1/me", "", "default-src 'none'; frame-ancestors 'none'", "no-store"},
		{http.MethodPost, "/api/v1/bookings", "END_USER", "default-src 'none'; frame-ancestors 'none'", "no-store"},
		{http.MethodGet, "/nothing", "", "default-src 'none'; frame-ancestors 'none'", "no-store"},
		{http.MethodGet, "/openapi.json", "", "default-src 'none'; frame-ancestors 'none'", "no-cache"},
		{http.MethodGet, "/.well-known/jwks.json", "", "default-src 'none'; frame-ancestors 'none'", "public, max-age=300"},
		{http.MethodGet, "/docs", "", "script-src 'self'; style-src", "no-store"},
	} {
		a := b.call(t, tt.method, tt.path, tt.role, "", "X-Forwarded-Proto", "https")
		require.Equal(t, "nosniff", a.get("X-Content-Type-Options"), tt.path)
		require.Equal(t, "DENY", a.get("X-Frame-Options"), tt.path)
		require.Equal(t, "no-referrer", a.get("Referrer-Policy"), tt.path)
		require.Contains(t, a.get("Content-Security-Policy"), tt.policy, tt.path)
		require.Contains(t, a.get("Content-Security-Policy"), "frame-ancestors 'none'", tt.path)
		require.Equal(t, "max-age=31536000", a.get(hstsName), tt.path)
		require.Equal(t, tt.cache, a.get("Cache-Control"), tt.path)
	}
}
