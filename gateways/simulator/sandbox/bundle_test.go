package sandbox_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/gateways"
	"rihla/gateways/gatewaytest"
	"rihla/gateways/sandbox"
	sandboxsim "rihla/gateways/simulator/sandbox"
	"rihla/gateways/standardwebhook"
	"rihla/models"
)

const (
	apiKey  = "merchant-key"
	secret  = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
	patient = 10 * time.Second
)

// received is a webhook that arrived with a good signature.
type received struct {
	gateways.Event

	path string
}

// inbox is the merchant's webhook endpoint.
type inbox struct {
	*httptest.Server

	mu     sync.Mutex
	refuse int // how many requests to answer with 503 first
	tries  int
	events []received
}

func newInbox(t *testing.T) *inbox {
	t.Helper()

	secrets, err := standardwebhook.ParseSecrets(secret)
	require.NoError(t, err)

	verifier, err := standardwebhook.New(secrets)
	require.NoError(t, err)

	box := &inbox{}
	box.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}

		event, err := verifier.Verify(r.Header, body, time.Now())

		box.mu.Lock()
		defer box.mu.Unlock()

		box.tries++

		switch {
		case err != nil || r.Header.Get("Content-Type") != "application/json":
			w.WriteHeader(http.StatusUnauthorized)
		case box.refuse > 0:
			box.refuse--

			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			box.events = append(box.events, received{Event: event, path: r.URL.Path})
		}
	}))
	t.Cleanup(box.Close)

	return box
}

func (b *inbox) all() []received {
	b.mu.Lock()
	defer b.mu.Unlock()

	return append([]received(nil), b.events...)
}

func (b *inbox) attempts() int {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.tries
}

func (b *inbox) refuseNext(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.refuse = n
}

// waitFor waits until n webhooks have arrived.
func (b *inbox) waitFor(t *testing.T, n int) []received {
	t.Helper()
	require.Eventually(t, func() bool { return len(b.all()) >= n }, patient, 5*time.Millisecond, "webhooks missing")

	return b.all()
}

// bundle is a sandbox, its merchant's endpoint and a driver for it.
type bundle struct {
	gatewaytest.Company

	server *sandboxsim.Server
	driver *sandbox.Driver
	inbox  *inbox
	file   string
}

func config(hook, file string) sandboxsim.Config {
	channels := make(map[models.PaymentMethod]sandboxsim.Channel)
	for _, m := range models.PaymentMethods() {
		channels[m] = sandboxsim.Channel{WebhookURL: hook + "/" + m.Channel().Path(), Secret: secret}
	}

	return sandboxsim.Config{
		Merchants: []sandboxsim.Merchant{{Name: "shop", APIKey: apiKey, Channels: channels}, {Name: "other", APIKey: "other-key"}},
		DataFile:  file, NoSync: true,
		Logger:       slog.New(slog.DiscardHandler),
		RetryBackoff: func(int) time.Duration { return 10 * time.Millisecond },
	}
}

func setup(t *testing.T, change ...func(*sandboxsim.Config)) *bundle {
	t.Helper()

	b := &bundle{inbox: newInbox(t), file: filepath.Join(t.TempDir(), "state.db")}
	cfg := config(b.inbox.URL, b.file)

	for _, c := range change {
		c(&cfg)
	}

	b.start(t, cfg)

	return b
}

func (b *bundle) start(t *testing.T, cfg sandboxsim.Config) {
	t.Helper()

	var err error
	b.server, err = sandboxsim.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { b.stop(t) })

	b.URL, err = b.server.Start("127.0.0.1:0")
	require.NoError(t, err)

	b.driver, err = sandbox.New(sandbox.Config{BaseURL: b.URL, APIKey: apiKey, Timeout: 5 * time.Second})
	require.NoError(t, err)

	b.Gateway, b.Authorize = b.driver, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+apiKey) }
}

func (b *bundle) stop(t *testing.T) {
	t.Helper()

	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()

	require.NoError(t, b.server.Close(ctx))
}

// hasty is a driver that gives up after a quarter of a second.
func (b *bundle) hasty(t *testing.T) *sandbox.Driver {
	t.Helper()

	d, err := sandbox.New(sandbox.Config{BaseURL: b.URL, APIKey: apiKey, Timeout: 250 * time.Millisecond})
	require.NoError(t, err)

	return d
}

type stats struct {
	Checkouts         int          `json:"checkouts"`
	PaidCount         int          `json:"paid_count"`
	PaidAmount        models.Money `json:"paid_amount"`
	RefundedAmount    models.Money `json:"refunded_amount"`
	Refunds           int          `json:"refunds"`
	RefundsPending    int          `json:"refunds_pending"`
	ExpiredCount      int          `json:"expired_count"`
	WebhooksPending   int          `json:"webhooks_pending"`
	WebhooksDelivered int          `json:"webhooks_delivered"`
	WebhooksDropped   int          `json:"webhooks_dropped"`
}

func (b *bundle) stats(t *testing.T) stats {
	t.Helper()

	status, answer := b.Do(t, http.MethodGet, "/sandbox/stats", "")
	require.Equal(t, http.StatusOK, status)

	var s stats

	require.NoError(t, json.Unmarshal([]byte(answer), &s))

	return s
}
