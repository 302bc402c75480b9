package api

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
)

// exchange sends raw bytes on one connection and reads n answers.
func exchange(t *testing.T, addr, raw string, n int) []answer {
	t.Helper()

	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)

	defer func() { _ = conn.Close() }()

	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))

	go func() { _, _ = io.WriteString(conn, raw) }()

	answers := make([]answer, 0, n)

	r := bufio.NewReader(conn)
	for range n {
		response, err := http.ReadResponse(r, nil)
		require.NoError(t, err)

		answers = append(answers, read(t, response))
	}

	return answers
}

func TestLargeBodies(t *testing.T) {
	t.Parallel()

	b := setup(t)
	addr := b.listen(t)
	client := &http.Client{Timeout: 20 * time.Second}

	for _, size := range []int{1<<20 + 1, 10 << 20} {
		for _, chunked := range []bool{false, true} {
			var body io.Reader = bytes.NewReader(make([]byte, size))
			if chunked {
				body = io.MultiReader(body)
			}

			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+bookingPath, body)
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/json")

			start := time.Now()
			response, err := client.Do(r)
			require.NoError(t, err)

			a := read(t, response)
			if chunked {
				// It does not say its length, and nothing of it is read for a caller without a token.
				require.Equal(t, "UNAUTHENTICATED", a.code)
				require.True(t, response.Close, "nobody may count on the connection")
			} else {
				require.Equal(t, "PAYLOAD_TOO_LARGE", a.code)
			}

			require.Less(t, time.Since(start), 5*time.Second)
		}
	}

	// A body of just under the limit is read whole, across several packets.
	padded := bookingBody[:len(bookingBody)-1] + strings.Repeat(" ", 1<<20-len(bookingBody)) + "}"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+bookingPath, strings.NewReader(padded))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer END_USER")

	response, err := client.Do(r)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, read(t, response).status)
}

// TestBodyWithoutPermissionIsNotRead sends the first 64 KiB of a body that the caller may not send, and gets its answer.
func TestBodyWithoutPermissionIsNotRead(t *testing.T) {
	t.Parallel()

	addr := setup(t, withLimits(config.RateLimits{ProviderStaff: 1, LoginIP: 1})).listen(t)
	head := func(path, token string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nAuthorization: Bearer " + token + "\r\n"
	}
	exchange(t, addr, head("/api/v1/auth/login", "")+"Content-Length: 2\r\n\r\n{}", 1)
	exchange(t, addr, head(bookingPath, "PROVIDER_STAFF")+"Content-Length: 2\r\n\r\n{}", 1)

	refund := "/api/v1/admin/bookings/" + tripID.String() + "/refund"

	for _, tt := range []struct{ path, token, code string }{
		{bookingPath, "", "UNAUTHENTICATED"},
		{bookingPath, "nonsense", "UNAUTHENTICATED"},
		{refund, "END_USER", "FORBIDDEN"},
		{bookingPath, "PROVIDER_STAFF", "RATE_LIMITED"},
		{"/api/v1/auth/login", "", "RATE_LIMITED"},
	} {
		for framing, body := range map[string]string{
			"Content-Length: 1000000":    strings.Repeat("x", 64<<10),
			"Transfer-Encoding: chunked": "f4240\r\n" + strings.Repeat("x", 64<<10),
		} {
			began := time.Now()
			a := exchange(t, addr, head(tt.path, tt.token)+framing+"\r\n\r\n"+body, 1)[0]

			require.Equal(t, tt.code, a.code, "%s %s %s", tt.path, tt.token, framing)
			require.Less(t, time.Since(began), readTimeout/2, "%s %s %s", tt.path, tt.token, framing)
		}
	}

	// A webhook is signed over its body, and so it is small.
	a := exchange(t, addr, head("/api/v1/payments/webhook/gateway_a", "")+"Content-Length: 65537\r\n\r\n"+strings.Repeat("x", 16<<10), 1)[0]
	require.Equal(t, "PAYLOAD_TOO_LARGE", a.code)
}

// TestUnreadBodyIsNotTheNextRequest hides a request in the body of one that is answered without reading it.
func TestUnreadBodyIsNotTheNextRequest(t *testing.T) {
	t.Parallel()

	b := setup(t)
	addr := b.listen(t)

	hidden := strings.Repeat("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 1000)
	for _, first := range []string{"POST /nope", "DELETE /api/v1/bookings", "POST /api/v1/bookings", "GET /api/v1/trips"} {
		raw := fmt.Sprintf("%s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", first, len(hidden), hidden) +
			"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n"
		answers := exchange(t, addr, raw, 2)
		require.Contains(t, answers[1].body, `"openapi"`, first)
	}
}

func TestUnknownMethodIsJSON(t *testing.T) {
	t.Parallel()

	b := setup(t)
	a := exchange(t, b.listen(t), "BREW /api/v1/trips HTTP/1.1\r\nHost: a\r\n\r\n", 1)[0]

	require.Equal(t, "METHOD_NOT_ALLOWED", a.code)
	require.NotEmpty(t, a.header.Get("Allow"))
}

func TestBrokenRequestsAreJSON(t *testing.T) {
	t.Parallel()

	b := setup(t)
	addr := b.listen(t)

	require.Equal(t, "NOT_FOUND", exchange(t, addr, "GET /api/v1/trips/%zz HTTP/1.1\r\nHost: a\r\n\r\n", 1)[0].code)

	for _, raw := range []string{
		"GET /api/v1/trips HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("x", 20<<10) + "\r\n\r\n",
		"GET\r\n\r\n",
		"POST /api/v1/bookings HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
	} {
		require.Equal(t, "MALFORMED_REQUEST", exchange(t, addr, raw, 1)[0].code)
	}
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()

	b := setup(t)

	for id, kept := range map[string]bool{
		"abc-123": true, strings.Repeat("a", 128): true, strings.Repeat("a", 129): false, "a b": false, "é": false, "a\tb": false,
	} {
		got := b.call(t, http.MethodGet, "/healthz", "", "", "X-Request-Id", id).get(requestIDHeader)
		require.Equal(t, kept, got == id, id)
		require.NotEmpty(t, got)
	}
}

func TestPlainHTTPIsRedirected(t *testing.T) {
	t.Parallel()

	b := setup(t, func(d *Deps) {
		d.PublicURL = "https://api.rihla.test"
		d.TrustedProxies = []string{"0.0.0.0/0"}
	})

	a := b.call(t, http.MethodGet, "/api/v1/trips?page=2", "", "")
	require.Equal(t, http.StatusPermanentRedirect, a.status)
	require.Equal(t, "https://api.rihla.test/api/v1/trips?page=2", a.header.Get("Location"))

	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/api/v1/trips", "", "", "X-Forwarded-Proto", "https").status)
	require.Equal(t, http.StatusOK, b.call(t, http.MethodGet, "/healthz", "", "").status)
}
