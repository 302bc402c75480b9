package api

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"rihla/api/middleware"
)

const (
	payHost = "pay.rihla.test"
	aPage   = "/pay/00000000-0000-4000-8000-000000000000"
)

// TestPagesHaveAHostOfTheirOwn: the script of a payment company, which runs on the page, finds neither the console nor the API on the
// page's host, and so no cookie of theirs.
func TestPagesHaveAHostOfTheirOwn(t *testing.T) {
	t.Parallel()

	proof := []byte("proof of the domain")
	addr := setup(t, func(d *Deps) {
		d.PublicURL, d.PayURL, d.TrustedProxies, d.ApplePayDomain = publicURL, "https://"+payHost, []string{"127.0.0.0/8"}, proof
	}).listen(t)

	get := func(host, target, more string) answer {
		return exchange(t, addr, "GET "+target+" HTTP/1.1\r\nHost: "+host+"\r\nX-Forwarded-Proto: https"+more+"\r\n\r\n", 1)[0]
	}

	others := []string{
		"/", "/api/v1", "/api/v1/trips", "/console", "/console/", "/console/index.html", "/docs", "/openapi.json", "/.well-known/jwks.json",
		"/pay", "/metrics/x", "/payments",
	}
	for _, path := range others {
		a := get(payHost, path, "")
		require.Equal(t, http.StatusNotFound, a.status, path)
		require.Equal(t, "NOT_FOUND", a.code, path)
	}

	for _, host := range []string{"PAY.rihla.test", payHost + ":443", payHost + "."} {
		require.Equal(t, http.StatusNotFound, get(host, "/api/v1/trips", "").status, host)
	}

	// A script can send any header but Host.
	require.Equal(t, http.StatusNotFound, get(payHost, "/api/v1/trips", "\r\nX-Forwarded-Host: api.rihla.test\r\nForwarded: host=api.rihla.test").status)

	// What belongs there reaches its handler, and nothing of it is on the other hosts.
	a := get(payHost, middleware.ApplePayPath, "")
	require.Equal(t, http.StatusOK, a.status)
	require.Equal(t, string(proof), a.body)
	require.NotEqual(t, http.StatusNotFound, get(payHost, aPage, "").status)

	for _, host := range []string{"api.rihla.test", "10.0.0.7:8080"} {
		require.Equal(t, http.StatusNotFound, get(host, middleware.ApplePayPath, "").status, host)
		require.Equal(t, http.StatusNotFound, get(host, aPage, "").status, host)
		require.Equal(t, http.StatusOK, get(host, "/api/v1/trips", "").status, host)
	}

	for _, host := range []string{payHost, "api.rihla.test", "10.0.0.7:8080"} {
		require.Equal(t, http.StatusOK, get(host, "/healthz", "").status, host)
	}

	// Plain HTTP is redirected to the same host.
	plain := exchange(t, addr, "GET "+aPage+"?lang=en HTTP/1.1\r\nHost: "+payHost+"\r\n\r\n", 1)[0]
	require.Equal(t, http.StatusPermanentRedirect, plain.status)
	require.Equal(t, "https://"+payHost+aPage+"?lang=en", plain.get("Location"))
}

// TestOneHostForAll: without a host of their own the pages are beside everything else, as in development.
func TestOneHostForAll(t *testing.T) {
	t.Parallel()

	for _, pay := range []string{"", "https://api.rihla.test", "https://API.rihla.test:443"} {
		addr := setup(t, func(d *Deps) { d.PublicURL, d.PayURL, d.TrustedProxies = publicURL, pay, []string{"127.0.0.0/8"} }).listen(t)

		for _, path := range []string{aPage, "/api/v1/trips"} {
			a := exchange(t, addr, "GET "+path+" HTTP/1.1\r\nHost: api.rihla.test\r\nX-Forwarded-Proto: https\r\n\r\n", 1)[0]
			require.NotEqual(t, http.StatusNotFound, a.status, pay+path)
		}

		a := exchange(t, addr, "GET "+middleware.ApplePayPath+" HTTP/1.1\r\nHost: api.rihla.test\r\nX-Forwarded-Proto: https\r\n\r\n", 1)[0]
		require.Equal(t, http.StatusNotFound, a.status, "no file is configured")
	}
}
