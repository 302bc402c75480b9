package harness

import (
	"errors"
	"maps"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Moment is on which side of a request a process is killed.
type Moment string

// The moments.
const (
	BeforeRequest Moment = "before" // the request does not arrive
	AfterEffect   Moment = "after"  // the request has had its effect, and its answer is lost
)

// Tap lies between a process and all that it changes: its database and the gateways. It lets every request pass and
// counts them, and kills the process at the one that it was armed for.
type Tap struct {
	mu    sync.Mutex
	armed bool
	at    int // the request that is the last one; counted from 1
	when  Moment
	kill  func()
	met   []string // what has passed since it was armed
	fired chan struct{}
	cut   string // requests with this in them are lost, and their connection with them
}

// TapWorker restarts the worker behind a tap.
func (s *Stack) TapWorker() *Tap {
	s.tb.Helper()

	t := &Tap{}
	env := maps.Clone(s.Worker.Settings)
	env["DATABASE_URL"] = tapPostgres(s.tb, t, env["DATABASE_URL"])
	env["GATEWAY_A_URL"] = tapGateway(s.tb, t, env["GATEWAY_A_URL"])
	env["WALLET_B_URL"] = env["GATEWAY_A_URL"]

	s.Worker.Stop()
	s.Worker.Settings = env
	s.Worker.Start()

	return t
}

// Arm begins to count, and has kill called at the n-th request from now on. The returned channel is closed when it was.
func (t *Tap) Arm(n int, when Moment, kill func()) (fired <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.armed, t.at, t.when, t.kill, t.met, t.fired = true, n, when, kill, nil, make(chan struct{})

	return t.fired
}

// Disarm ends the counting and returns the requests that were met, the fatal one last.
func (t *Tap) Disarm() []string {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.armed = false

	return t.met
}

// Cut has every request that contains this part get lost, and breaks its connection.
func (t *Tap) Cut(part string) {
	t.mu.Lock()
	defer t.mu.Unlock()

	t.cut = part
}

var errCut = errors.New("the connection is cut")

// pass sends one request and returns its answer; ok is false when the process is dead. Requests for the same Tap may pass
// side by side.
func (t *Tap) pass(what string, send func() error) (ok bool) {
	t.mu.Lock()

	if t.cut != "" && strings.Contains(what, t.cut) {
		send = func() error { return errCut }
	}

	if !t.armed {
		t.mu.Unlock()

		return send() == nil
	}

	t.met = append(t.met, what)
	fatal, when := len(t.met) == t.at, t.when

	if fatal {
		t.armed = false
	}

	t.mu.Unlock()

	if !fatal {
		return send() == nil
	}

	if when == AfterEffect {
		_ = send()
	}

	t.kill()
	close(t.fired)

	return false
}

func replaceHost(tb testing.TB, address, host string) string {
	tb.Helper()

	u, err := url.Parse(address)
	require.NoError(tb, err)

	u.Host = host

	return u.String()
}
