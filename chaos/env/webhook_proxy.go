package env

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rihla/chaos/schedule"
)

// WebhookProxy stands in front of the API processes and passes the gateway's webhooks on, to one process after the other, as a
// load balancer does. It notes which of them the service has answered with 200: those must not be lost.
type WebhookProxy struct {
	apis   []string
	server *http.Server
	url    string
	next   atomic.Uint64
	client *http.Client
	hooks  *hooks

	company *Company

	mu       sync.Mutex
	taken    map[Webhook]int // answers of 200
	requests []delivered
}

// Webhook is how a webhook is known: by the path of its channel and its id.
type Webhook struct{ Path, ID string }

type delivered struct {
	path   string
	header http.Header
	body   []byte
}

func newWebhookProxy(apis []string, m *hooks, company *Company) *WebhookProxy {
	return &WebhookProxy{
		apis: apis, hooks: m, company: company, taken: map[Webhook]int{},
		client: &http.Client{
			Timeout: 9 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32, IdleConnTimeout: 5 * time.Second},
		},
	}
}

func (b *WebhookProxy) start(ctx context.Context) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}

	b.url = "http://" + l.Addr().String()
	b.server = &http.Server{Handler: http.HandlerFunc(b.serve), ReadHeaderTimeout: 10 * time.Second}

	go func() { _ = b.server.Serve(l) }()

	return nil
}

// URL is where the gateway sends its webhooks.
func (b *WebhookProxy) URL() string { return b.url }

func (b *WebhookProxy) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)

		return
	}

	d := delivered{path: r.URL.Path, header: r.Header.Clone(), body: body}

	status, answer, err := b.pass(r.Context(), d, int(b.next.Add(1)%uint64(len(b.apis)))) //nolint:gosec // a small number
	if err != nil {
		status = http.StatusBadGateway
	}

	w.WriteHeader(status)
	_, _ = w.Write(answer)
}

// pass hands a webhook to an API process and notes the answer.
func (b *WebhookProxy) pass(ctx context.Context, d delivered, api int) (status int, answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+b.apis[api]+d.path, bytes.NewReader(d.body))
	if err != nil {
		return 0, nil, err
	}

	for name, values := range d.header {
		if name != "Content-Length" && name != "Connection" {
			r.Header[name] = values
		}
	}

	b.hooks.Run(schedule.BeforeWebhook)

	res, err := b.client.Do(r)
	if err == nil {
		status = res.StatusCode
		answer, err = io.ReadAll(io.LimitReader(res.Body, 64<<10))
		_ = res.Body.Close()
	}

	b.note(d, status, err)

	if status == http.StatusOK {
		b.hooks.Run(schedule.AfterWebhook)
	}

	return status, answer, err
}

func (b *WebhookProxy) note(d delivered, status int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	if status == http.StatusOK { // the status line came: that is an answer, whatever became of the rest
		b.taken[Webhook{d.path, b.company.id(d.path, d.header, d.body)}]++
	}

	if status == http.StatusOK && err == nil {
		b.requests = append(b.requests, d)
	}
}

// ErrNoWebhook says that there is no webhook to replay yet.
var ErrNoWebhook = errors.New("no webhook has come yet")

// Replay sends the last webhook that was answered with 200 once more, word for word.
func (b *WebhookProxy) Replay(ctx context.Context, api int) (status int, answer []byte, err error) {
	b.mu.Lock()

	if len(b.requests) == 0 {
		b.mu.Unlock()

		return 0, nil, ErrNoWebhook
	}

	last := b.requests[len(b.requests)-1]
	b.mu.Unlock()

	return b.pass(ctx, last, api%len(b.apis))
}

// Taken are the webhooks that were answered with 200.
func (b *WebhookProxy) Taken() []Webhook {
	b.mu.Lock()
	defer b.mu.Unlock()

	return slices.Collect(maps.Keys(b.taken))
}

func (b *WebhookProxy) close() {
	_ = b.server.Close()
	b.client.CloseIdleConnections()
}
