package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/config"
)

// expecting sends a head that asks whether to send the body, and the body if it is asked for. It returns the answer, and whether the
// body was asked for.
func expecting(t *testing.T, addr, path, role, body string, headers ...string) (got answer, asked bool) {
	t.Helper()

	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)

	defer func() { _ = conn.Close() }()

	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))

	head := http.Header{"Host": {"a"}, "Expect": {"100-continue"}, "Content-Type": {"application/json"}}
	head.Set("Content-Length", strconv.Itoa(len(body)))

	if role != "" {
		head.Set("Authorization", "Bearer "+role)
	}

	for i := 0; i < len(headers); i += 2 {
		head.Set(headers[i], headers[i+1])
	}

	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\n", path)
	require.NoError(t, err)
	require.NoError(t, head.Write(conn))
	_, err = io.WriteString(conn, "\r\n")
	require.NoError(t, err)

	r := bufio.NewReader(conn)
	response, err := http.ReadResponse(r, nil)
	require.NoError(t, err)

	if response.StatusCode == http.StatusContinue {
		asked = true

		_, err = io.WriteString(conn, body)
		require.NoError(t, err)

		response, err = http.ReadResponse(r, nil)
		require.NoError(t, err)
	}

	got = read(t, response)

	if !asked {
		_, err = r.ReadByte()
		require.ErrorIs(t, err, io.EOF, "what follows may be the body or a request: the connection ends")
	}

	return got, asked
}

// A body is asked for only from callers who may send it, and the refusal of the others is the one that they get without asking.
func TestBodiesAreAskedForOfThoseWhoMaySendThem(t *testing.T) {
	t.Parallel()

	const refund = "/api/v1/admin/bookings/0198c0de-0000-7000-8000-000000000000/refund"

	b := setup(t)
	addr := b.listen(t)
	logged := 0

	for name, c := range map[string]struct {
		path, role, body string
		status           int
		code             string
		asked            bool
	}{
		"no token":   {path: "/api/v1/bookings", body: bookingBody, status: http.StatusUnauthorized, code: "UNAUTHENTICATED"},
		"other role": {path: refund, role: "END_USER", body: `{"refund_type":"FULL"}`, status: http.StatusForbidden, code: "FORBIDDEN"},
		"too large": {
			path: "/api/v1/bookings", role: "END_USER", body: string(make([]byte, 2<<20)), status: http.StatusRequestEntityTooLarge,
			code: "PAYLOAD_TOO_LARGE",
		},
		"no route":      {path: "/api/v1/nothing", role: "END_USER", body: "{}", status: http.StatusNotFound, code: "NOT_FOUND"},
		"may":           {path: "/api/v1/bookings", role: "END_USER", body: bookingBody, status: http.StatusCreated, asked: true},
		"may, malforms": {path: "/api/v1/bookings", role: "END_USER", body: "{", status: http.StatusBadRequest, code: "MALFORMED_REQUEST", asked: true},
	} {
		a, asked := expecting(t, addr, c.path, c.role, c.body)
		require.Equal(t, c.status, a.status, "%s: %s", name, a.body)
		require.Equal(t, c.code, a.code, name)
		require.Equal(t, c.asked, asked, name)
		require.NotEmpty(t, a.get("X-Request-Id"), name)

		logged++
		require.Len(t, b.log.lines(t, "request"), logged, "%s: logged once", name)
	}

	// What proves a webhook is its body.
	signed := []string{"webhook-id", "1", "webhook-timestamp", "2", "webhook-signature", "v1,{}"}
	_, asked := expecting(t, addr, "/api/v1/payments/webhook/gateway_a", "", "{}", signed...)
	require.True(t, asked)
}

func TestAskingIsCountedOnce(t *testing.T) {
	t.Parallel()

	b := setup(t, withLimits(config.RateLimits{EndUser: 3, Anonymous: 50}))
	addr := b.listen(t)

	for left := 2; left >= 0; left-- {
		a, asked := expecting(t, addr, "/api/v1/bookings", "END_USER", bookingBody)
		require.True(t, asked)
		require.Equal(t, http.StatusCreated, a.status)
		require.Equal(t, strconv.Itoa(left), a.get("X-RateLimit-Remaining"))
	}

	a, asked := expecting(t, addr, "/api/v1/bookings", "END_USER", bookingBody)
	require.False(t, asked)
	require.Equal(t, http.StatusTooManyRequests, a.status)
	require.NotEmpty(t, a.get("Retry-After"))
}
