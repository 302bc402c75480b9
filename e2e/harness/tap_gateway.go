package harness

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tapGateway passes HTTP requests on and returns the address for them.
func tapGateway(tb testing.TB, t *Tap, address string) string {
	tb.Helper()

	to, err := url.Parse(address)
	require.NoError(tb, err)

	// With the gateway's own name, so that its pages for customers are not behind the tap.
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}

	tapped := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		call := r.Method + " " + strings.Join(strings.Split(r.URL.Path, "/")[:min(3, strings.Count(r.URL.Path, "/")+1)], "/")

		if !t.pass(call, func() error { proxy.ServeHTTP(answer, r); return nil }) {
			panic(http.ErrAbortHandler)
		}

		maps.Copy(w.Header(), answer.Header())

		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}))
	tb.Cleanup(tapped.Close)

	return tapped.URL
}
