package api

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/api/middleware"
)

// smuggled is what a proxy in front may take for a part of the request before it.
const smuggled = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"

const (
	postLine = "POST /api/v1/bookings HTTP/1.1\r\nAuthorization: Bearer END_USER\r\nContent-Type: application/json\r\n"
	getLine  = "GET /api/v1/trips HTTP/1.1\r\n"
	host     = "Host: a\r\n"
	chunked  = "Transfer-Encoding: chunked\r\n"
	aChunk   = "2\r\n{}\r\n" + theEnd
	theEnd   = "0\r\n\r\n"
)

// conversation sends raw bytes, and reads answers until the server closes the connection or stays silent.
func conversation(t *testing.T, addr, raw string) (answers []answer, closed bool) {
	t.Helper()

	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	require.NoError(t, err)

	defer func() { _ = conn.Close() }()

	_, err = io.WriteString(conn, raw)
	require.NoError(t, err)

	r := bufio.NewReader(conn)

	for {
		// Without an answer on the way the connection is either closed soon or waits for a request.
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(2*time.Second)))

		_, err := r.Peek(1)

		switch {
		case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
			return answers, true
		case err != nil:
			return answers, false
		}

		response, err := http.ReadResponse(r, nil)
		require.NoError(t, err)

		answers = append(answers, read(t, response))
	}
}

func statuses(answers []answer) []int {
	out := make([]int, 0, len(answers))
	for _, a := range answers {
		out = append(out, a.status)
	}

	return out
}

// TestAmbiguousFramingIsRefused sends requests whose end two readers may see at different places. Each is answered 400,
// and nothing behind it is taken for a request.
func TestAmbiguousFramingIsRefused(t *testing.T) {
	t.Parallel()

	addr := setup(t).listen(t)

	for name, raw := range map[string]string{
		"chunks and a length":              postLine + host + chunked + "Content-Length: 5\r\n\r\n" + aChunk,
		"a length and chunks":              postLine + host + "Content-Length: 5\r\n" + chunked + "\r\n" + aChunk,
		"chunks and a length of zero":      postLine + host + "Content-Length: 0\r\n" + chunked + "\r\n" + aChunk,
		"an unknown coding":                postLine + host + "Transfer-Encoding: xchunked\r\n\r\n" + aChunk,
		"identity":                         postLine + host + "Transfer-Encoding: identity\r\n\r\n",
		"identity and a length":            postLine + host + "Transfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}",
		"gzip, then chunks":                postLine + host + "Transfer-Encoding: gzip, chunked\r\n\r\n" + aChunk,
		"chunks, then gzip":                postLine + host + "Transfer-Encoding: chunked, gzip\r\n\r\n" + aChunk,
		"chunks twice":                     postLine + host + "Transfer-Encoding: chunked, chunked\r\n\r\n" + aChunk,
		"chunks in two headers":            postLine + host + chunked + chunked + "\r\n" + aChunk,
		"two codings in two headers":       postLine + host + chunked + "Transfer-Encoding: x\r\n\r\n" + aChunk,
		"an empty coding":                  postLine + host + "Transfer-Encoding: \r\n\r\n" + aChunk,
		"a coding behind a vertical tab":   postLine + host + "Transfer-Encoding: \x0bchunked\r\n\r\n" + aChunk,
		"a coding in quotes":               postLine + host + "Transfer-Encoding: \"chunked\"\r\n\r\n" + aChunk,
		"a space in front of the colon":    postLine + host + "Transfer-Encoding : chunked\r\n\r\n" + aChunk,
		"two lengths":                      postLine + host + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
		"two lengths, the other way":       postLine + host + "Content-Length: 3\r\nContent-Length: 2\r\n\r\n{} ",
		"two lengths in one header":        postLine + host + "Content-Length: 2, 3\r\n\r\n{} ",
		"a length with a sign":             postLine + host + "Content-Length: +2\r\n\r\n{}",
		"a negative length":                postLine + host + "Content-Length: -2\r\n\r\n{}",
		"a length in hexadecimal":          postLine + host + "Content-Length: 0x2\r\n\r\n{}",
		"a length with a point":            postLine + host + "Content-Length: 2.0\r\n\r\n{}",
		"a length beyond 64 bits":          postLine + host + "Content-Length: 18446744073709551618\r\n\r\n{}",
		"an empty length":                  postLine + host + "Content-Length: \r\n\r\n{}",
		"a line feed in an extension":      postLine + host + chunked + "\r\n0;a\nb\r\n\r\n",
		"a line feed behind a chunk size":  postLine + host + chunked + "\r\n2\n{}\r\n" + theEnd,
		"a line feed behind a chunk":       postLine + host + chunked + "\r\n2\r\n{}\n" + theEnd,
		"a chunk longer than its size":     postLine + host + chunked + "\r\n2\r\n{}xx\r\n" + theEnd,
		"a chunk size with a sign":         postLine + host + chunked + "\r\n+2\r\n{}\r\n" + theEnd,
		"a chunk size in 0x":               postLine + host + chunked + "\r\n0x2\r\n{}\r\n" + theEnd,
		"a chunk size beyond 64 bits":      postLine + host + chunked + "\r\n10000000000000002\r\n{}\r\n" + theEnd,
		"no chunk size":                    postLine + host + chunked + "\r\n\r\n{}\r\n" + theEnd,
		"HTTP/1.0 with chunks":             strings.Replace(postLine, "1.1", "1.0", 1) + host + chunked + "\r\n" + aChunk,
		"no host":                          getLine + "\r\n",
		"no host, with another header":     getLine + "X-One: a\r\n\r\n",
		"no host in HTTP/1.0":              strings.Replace(getLine, "1.1", "1.0", 1) + "\r\n",
		"an empty host":                    getLine + "Host: \r\n\r\n",
		"two hosts in one header":          getLine + "Host: a, b\r\n\r\n",
		"two hosts":                        getLine + host + "Host: b\r\n\r\n",
		"the same host twice":              getLine + host + host + "\r\n",
		"a host with a space":              getLine + "Host: a b\r\n\r\n",
		"a host with a slash":              getLine + "Host: a/b\r\n\r\n",
		"a host with a user":               getLine + "Host: x@a\r\n\r\n",
		"a folded header":                  getLine + host + "X-One: a\r\n b\r\n\r\n",
		"a folded length":                  postLine + host + "Content-Length:\r\n 2\r\n\r\n{}",
		"a folded coding":                  postLine + host + "Transfer-Encoding:\r\n chunked\r\n\r\n" + aChunk,
		"a first header with a space":      getLine + " X-One: a\r\n" + host + "\r\n",
		"a NUL in a value":                 getLine + host + "X-One: a\x00b\r\n\r\n",
		"a carriage return in a value":     getLine + host + "X-One: a\rb\r\n\r\n",
		"a carriage return before a line":  getLine + host + "X-One: a\r\r\n\r\n",
		"a name with a space":              getLine + host + "X One: a\r\n\r\n",
		"a name with a NUL":                getLine + host + "X\x00One: a\r\n\r\n",
		"a header without a colon":         getLine + host + "Content-Length\r\n\r\n",
		"a header without a name":          getLine + host + ": a\r\n\r\n",
		"line feeds alone":                 strings.ReplaceAll(getLine+host+"\r\n", "\r\n", "\n"),
		"a line feed alone in the headers": getLine + "X-One: a\n" + host + "\r\n",
		"a line feed alone at the end":     getLine + "Host: a\r\n\n",
		"no version":                       "GET /api/v1/trips\r\n" + host + "\r\n",
		"another version":                  "GET /api/v1/trips HTTP/2.0\r\n" + host + "\r\n",
		"something behind the version":     "GET /api/v1/trips HTTP/1.1 x\r\n" + host + "\r\n",
		"a version of three numbers":       "GET /api/v1/trips HTTP/1.1.1\r\n" + host + "\r\n",
		"two spaces":                       "GET  /api/v1/trips HTTP/1.1\r\n" + host + "\r\n",
		"a tab":                            "GET\t/api/v1/trips HTTP/1.1\r\n" + host + "\r\n",
	} {
		answers, closed := conversation(t, addr, raw+smuggled)

		if len(answers) != 1 || answers[0].code != "MALFORMED_REQUEST" || !closed {
			t.Errorf("%s: answers %v, closed %v", name, statuses(answers), closed)
		}
	}
}

// TestPlainFramingIsServed: an allowed body, however unusual its framing, is read to its end and no further.
func TestPlainFramingIsServed(t *testing.T) {
	t.Parallel()

	addr := setup(t).listen(t)
	for name, raw := range map[string]string{
		"a length":                postLine + host + "Content-Length: 2\r\n\r\n{}",
		"chunks":                  postLine + host + chunked + "\r\n1\r\n{\r\n1\r\n}\r\n" + theEnd,
		"chunks with extensions":  postLine + host + chunked + "\r\n2;a=b\r\n{}\r\n0;c\r\n\r\n",
		"chunks with a trailer":   postLine + host + chunked + "\r\n2\r\n{}\r\n0\r\nX-One: a\r\n\r\n",
		"capitals":                postLine + host + "TRANSFER-ENCODING: Chunked\r\n\r\n" + aChunk,
		"spaces around a length":  postLine + host + "Content-Length: \t2 \r\n\r\n{}",
		"an empty line before it": "\r\n" + postLine + host + "Content-Length: 2\r\n\r\n{}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits for its connection to be closed

			answers, _ := conversation(t, addr, raw+smuggled)

			require.Equal(t, []int{http.StatusUnprocessableEntity, http.StatusOK}, statuses(answers))
		})
	}
}

// TestProbesOfLoadBalancers: HTTP/1.0 without a host asks how the process is, and nothing else.
func TestProbesOfLoadBalancers(t *testing.T) {
	t.Parallel()

	addr := setup(t).listen(t)

	for raw, want := range map[string]int{
		"GET /healthz HTTP/1.0\r\n\r\n":                        http.StatusOK,
		"GET /healthz HTTP/1.0\r\nUser-Agent: probe\r\n\r\n":   http.StatusOK,
		"GET /readyz HTTP/1.0\r\n\r\n":                         http.StatusOK,
		"GET /healthz HTTP/1.1\r\n\r\n":                        http.StatusBadRequest,
		"POST /healthz HTTP/1.0\r\n\r\n":                       http.StatusBadRequest,
		"GET /healthz HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}": http.StatusBadRequest,
		"GET /healthz HTTP/1.0\r\nHost: a@b\r\n\r\n":           http.StatusBadRequest,
		"GET /healthz/../api/v1/trips HTTP/1.0\r\n\r\n":        http.StatusBadRequest,
		"GET /metrics HTTP/1.0\r\n\r\n":                        http.StatusBadRequest,
		"GET /api/v1/trips HTTP/1.0\r\n\r\n":                   http.StatusBadRequest,
	} {
		t.Run(raw, func(t *testing.T) {
			t.Parallel()

			answers, closed := conversation(t, addr, raw)
			require.Equal(t, []int{want}, statuses(answers))
			require.True(t, closed)
		})
	}
}

func TestLongAddress(t *testing.T) {
	t.Parallel()

	addr := setup(t).listen(t)

	for _, raw := range []string{
		"GET /api/v1/trips?search=" + strings.Repeat("a", 20<<10) + " HTTP/1.1\r\n" + host + "\r\n",
		"GET /" + strings.Repeat("a", 200<<10) + " HTTP/1.1\r\n" + host + "\r\n",
	} {
		answers, closed := conversation(t, addr, raw)
		require.Len(t, answers, 1)
		require.Equal(t, http.StatusRequestURITooLong, answers[0].status)
		require.Equal(t, "URI_TOO_LONG", answers[0].code)
		require.True(t, closed)
	}
}

// TestSilentConnections: clients and proxies connect ahead of use, and an answer that belongs to no request would be taken
// for that of the next one.
func TestSilentConnections(t *testing.T) {
	t.Parallel()

	const firstByte, whole = 900 * time.Millisecond, 300 * time.Millisecond

	addr := setup(t).listenOn(t, func(l net.Listener) net.Listener {
		return middleware.Listener(l, middleware.ConnTimes{FirstByte: firstByte, Request: whole})
	})
	dial := func() (net.Conn, time.Time) {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))

		return conn, time.Now()
	}

	// Nothing was sent: closed after the time for it, without a byte.
	conn, began := dial()
	said, err := io.ReadAll(conn)
	require.NoError(t, err)
	require.Empty(t, said)
	require.GreaterOrEqual(t, time.Since(began), firstByte-50*time.Millisecond)

	// One byte, and then nothing: the time for a request counts from there, and it has an answer.
	conn, began = dial()
	_, err = io.WriteString(conn, "G")
	require.NoError(t, err)

	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.Equal(t, "MALFORMED_REQUEST", read(t, response).code)
	require.Less(t, time.Since(began), firstByte)

	// Closed by the client without a word: nothing happens.
	conn, _ = dial()
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())

	said, err = io.ReadAll(conn)
	require.NoError(t, err)
	require.Empty(t, said)

	// A request that comes after a silence longer than a request may take is served.
	conn, _ = dial()
	require.Eventually(t, func() bool { return time.Since(began) > 2*whole }, 10*time.Second, 10*time.Millisecond)

	_, err = io.WriteString(conn, smuggled)
	require.NoError(t, err)

	response, err = http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, read(t, response).status)
}
