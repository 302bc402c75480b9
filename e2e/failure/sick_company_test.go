package failure_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"rihla/e2e/harness"
)

// sickCompany stands before the sandbox gateway as the payment company of wallet_b, and does to its calls what the test
// wants. The other gateway is reached without it.
type sickCompany struct {
	server *httptest.Server
	calls  atomic.Int32

	mu      sync.Mutex
	behind  *httputil.ReverseProxy
	illness http.HandlerFunc // nil: well
	ended   chan struct{}    // its end releases the waiting requests
}

func newSickCompany(t *testing.T) *sickCompany {
	t.Helper()

	c := &sickCompany{ended: make(chan struct{})}
	c.server = httptest.NewServer(c)
	t.Cleanup(func() {
		c.fallsIll(nil)
		c.server.Close()
	})

	return c
}

// env makes a service's wallet_b use the company.
func (c *sickCompany) env() map[string]string { return map[string]string{"WALLET_B_URL": c.server.URL} }

// standsBefore tells which sandbox does the work.
func (c *sickCompany) standsBefore(s *harness.Stack) {
	target, _ := url.Parse(s.Sandbox)

	c.mu.Lock()
	defer c.mu.Unlock()

	c.behind = httputil.NewSingleHostReverseProxy(target)
}

// fallsIll changes how calls go from now on; nil makes it well again. Calls that hang break off.
func (c *sickCompany) fallsIll(how http.HandlerFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()

	close(c.ended)
	c.illness, c.ended = how, make(chan struct{})
}

func (c *sickCompany) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.calls.Add(1)

	c.mu.Lock()
	illness, behind := c.illness, c.behind
	c.mu.Unlock()

	switch {
	case illness != nil:
		illness(w, r)
	case behind == nil: // a process that starts asks its gateways before the test knows where the sandbox is
		down(w, r)
	default:
		behind.ServeHTTP(w, r)
	}
}

// hangs never answers. The body is read, or the server would not see the client go.
func (c *sickCompany) hangs(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)

	c.mu.Lock()
	ended := c.ended
	c.mu.Unlock()

	select {
	case <-ended:
	case <-r.Context().Done():
	}
}

func down(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "bad gateway", http.StatusBadGateway)
}

func busy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Retry-After", "3")
	w.WriteHeader(http.StatusTooManyRequests)
	_, _ = io.WriteString(w, `{"error":{"code":"rate_limited","message":"Not so fast."}}`)
}

func nonsense(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, "<html><body>Welcome to our new shop</body></html>")
}
