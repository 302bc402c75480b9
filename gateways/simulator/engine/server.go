// Package engine is a payment company that takes no real money: its books, its hosted page, its webhooks and its faults. A Protocol
// says how the company is spoken to, so that there is a simulator of each one that a driver exists for. State outlives a kill;
// webhooks are retried until they arrive.
//
// The company's API needs the merchant's key. The hosted page (/pay/…) is open to anyone with the link, as a customer is. The
// levers (/sandbox/…: faults, decisions, ledger) need no key: this server belongs on a loopback or test network only.
package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"rihla/models"
)

const (
	defaultWebhookTimeout = 10 * time.Second
	defaultWebhookWorkers = 32
	// timerTick bounds how late an expiry is noticed when Config.Clock is not the machine's clock.
	timerTick    = 250 * time.Millisecond
	timerWorkers = 4
	maxName      = 64 // characters of a merchant's name

	readHeaderTimeout = 10 * time.Second
	readTimeout       = 30 * time.Second
	writeTimeout      = 90 * time.Second // longer than any fault holds an answer back
	idleTimeout       = 2 * time.Minute
)

// Config describes the simulator. The zero value of everything but Merchants is usable.
type Config struct {
	// BaseURL is the public address for checkout_url; empty means the address each request was made to.
	BaseURL string
	// Merchants are the accounts, at least one; names and keys are unique.
	Merchants []Merchant
	// DataFile keeps the state; empty means a temporary file, not synced and removed by Close.
	DataFile string
	// NoSync leaves it to the operating system when commits reach the disk: a killed process loses nothing,
	// a power cut may. For load tests.
	NoSync bool
	// Logger gets state changes and failed deliveries, never bodies or keys; nil discards it.
	Logger *slog.Logger
	// Clock is what expiry and signatures go by; nil means time.Now.
	Clock func() time.Time
	// RetryBackoff is the pause after the n-th failed delivery, n ≥ 1; nil means 0.5 s doubling up to 10 s.
	RetryBackoff func(n int) time.Duration
	// WebhookTimeout bounds one delivery; 0 means 10 s.
	WebhookTimeout time.Duration
	// WebhookWorkers bounds simultaneous deliveries; 0 means 32.
	WebhookWorkers int
}

// Merchant is one account at the gateway.
type Merchant struct {
	Name     string // unique; kept with every checkout
	APIKey   string
	Channels map[models.PaymentMethod]Channel // the methods the merchant may use
}

// Channel is where and how the events of a payment method are reported.
type Channel struct {
	WebhookURL string
	Secret     string // what the company signs with; several, comma-separated, while secrets are rotated
}

// Account is a Merchant ready for use.
type Account struct {
	Name string

	channels map[models.PaymentMethod]channel
}

// Has reports whether the account may use a payment method.
func (a *Account) Has(m models.PaymentMethod) bool {
	_, ok := a.channels[m]

	return ok
}

// Methods are the payment methods of the account, in the order in which they are declared.
func (a *Account) Methods() []models.PaymentMethod {
	return slices.DeleteFunc(models.PaymentMethods(), func(m models.PaymentMethod) bool { return !a.Has(m) })
}

// WebhookURLs are the addresses to which the account's events go, each once, in no order of meaning.
func (a *Account) WebhookURLs() []string {
	seen := map[string]bool{}

	for _, c := range a.channels {
		if c.url != "" {
			seen[c.url] = true
		}
	}

	return slices.Sorted(maps.Keys(seen))
}

type channel struct {
	url    string
	signer Signer
}

// Server is the company. It works from New to Close.
type Server struct {
	cfg       Config
	protocol  Protocol
	traits    Traits
	log       *slog.Logger
	store     *store
	keys      map[[sha256.Size]byte]*Account // by digest, so that comparing leaks nothing of a key
	merchants map[string]*Account
	faults    faults
	timers    *schedule // expiries and automatic refund decisions
	outbox    *schedule // webhook deliveries
	held      heldBack
	underWay  sync.Map // event id → true, while an attempt is made
	running   sync.Map // merchant, operation and Idempotency-Key of a request → struct{}{}, while it runs
	counters  counters
	webhooks  *http.Client
	page      *template.Template
	handler   http.Handler

	stopping context.Context //nolint:containedctx // the server's own life; it ends when Close begins
	stop     context.CancelFunc
	workers  sync.WaitGroup
	mu       sync.Mutex
	servers  []*http.Server
	closed   bool
}

// New opens the state, resumes what was under way (deliveries, expiries) and is ready to serve.
func New(protocol Protocol, cfg Config) (*Server, error) {
	cfg = withDefaults(cfg)
	s := &Server{
		cfg: cfg, protocol: protocol, traits: protocol.Traits(), log: cfg.Logger,
		timers: newSchedule(cfg.Clock, timerTick),
		outbox: newSchedule(time.Now, time.Minute),
		webhooks: &http.Client{
			Timeout:       cfg.WebhookTimeout,
			Transport:     &http.Transport{MaxIdleConnsPerHost: cfg.WebhookWorkers, IdleConnTimeout: idleTimeout},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}

	if err := s.addMerchants(cfg.Merchants); err != nil {
		return nil, err
	}

	page, err := parsePage()
	if err != nil {
		return nil, err
	}

	s.page = page

	if s.store, err = openStore(cfg.DataFile, cfg.NoSync); err != nil {
		return nil, err
	}

	if err := s.resume(); err != nil {
		return nil, errors.Join(err, s.store.close())
	}

	s.handler = s.routes()
	s.stopping, s.stop = context.WithCancel(context.Background())
	s.workers.Go(func() { s.timers.run(s.stopping, timerWorkers, s.fire) })
	s.workers.Go(func() { s.outbox.run(s.stopping, cfg.WebhookWorkers, s.deliver) })

	return s, nil
}

// Traits are the company's.
func (s *Server) Traits() Traits { return s.traits }

// Message is what the company says about an event under an id, proven by a secret that need not be an account's: a forger has one, too.
// ok is false where it says nothing.
func (s *Server) Message(secret string, e Event, id string, at time.Time) (m Message, ok bool, err error) {
	by, err := s.protocol.Signer(secret)
	if err != nil {
		return m, false, err
	}

	return by.Message(e, id, at)
}

func withDefaults(cfg Config) Config {
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")

	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}

	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}

	if cfg.RetryBackoff == nil {
		cfg.RetryBackoff = doubling
	}

	if cfg.WebhookTimeout <= 0 {
		cfg.WebhookTimeout = defaultWebhookTimeout
	}

	if cfg.WebhookWorkers <= 0 {
		cfg.WebhookWorkers = defaultWebhookWorkers
	}

	return cfg
}

func (s *Server) addMerchants(list []Merchant) error {
	if len(list) == 0 {
		return errors.New("simulator: at least one merchant is needed")
	}

	s.keys = make(map[[sha256.Size]byte]*Account, len(list))
	s.merchants = make(map[string]*Account, len(list))

	for _, m := range list {
		digest := sha256.Sum256([]byte(m.APIKey))
		if m.Name == "" || !PlainText(m.Name, maxName) || m.APIKey == "" || s.merchants[m.Name] != nil || s.keys[digest] != nil {
			return fmt.Errorf("simulator: merchant %q needs a name and an API key of its own", m.Name)
		}

		ready := &Account{Name: m.Name, channels: make(map[models.PaymentMethod]channel, len(m.Channels))}

		for method, c := range m.Channels {
			signer, err := s.protocol.Signer(c.Secret)
			if err != nil {
				return fmt.Errorf("simulator: merchant %q, %s: webhook secret: %w", m.Name, method, err)
			}

			ready.channels[method] = channel{url: c.WebhookURL, signer: signer}
		}

		s.keys[digest], s.merchants[m.Name] = ready, ready
	}

	return nil
}

// resume schedules what the last run left: expiries, pending decisions, undelivered webhooks.
func (s *Server) resume() error {
	return s.store.view(func(t *Tx) error {
		t.eachTimer(func(id string, at time.Time) { s.timers.add(job{id: id, at: at}) })
		t.eachDelivery(func(id string) { s.outbox.add(job{id: id, at: time.Now()}) })

		return nil
	})
}

// Handler is the whole API, for a server of the caller's.
func (s *Server) Handler() http.Handler { return s.handler }

// Start listens on addr, serves in the background, and returns the base URL; port 0 picks a free one.
func (s *Server) Start(addr string) (string, error) {
	listener, err := new(net.ListenConfig).Listen(s.stopping, "tcp", addr)
	if err != nil {
		return "", fmt.Errorf("simulator: %w", err)
	}

	s.workers.Go(func() {
		if err := s.Serve(listener); err != nil {
			s.log.Error("simulator stopped serving", "error", err)
		}
	})

	return "http://" + listener.Addr().String(), nil
}

// Serve answers on the listener until Close; then it returns nil.
func (s *Server) Serve(listener net.Listener) error {
	srv := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}

	s.mu.Lock()

	if s.closed {
		s.mu.Unlock()

		return errors.Join(listener.Close(), errors.New("simulator: closed"))
	}

	s.servers = append(s.servers, srv)
	s.mu.Unlock()

	if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("simulator: %w", err)
	}

	return nil
}

// Close stops serving and delivering and closes the state; what is undelivered goes on in the next run. It
// waits for answers under way until ctx ends. A second call does nothing.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()

	if s.closed {
		s.mu.Unlock()

		return nil
	}

	s.closed = true
	servers := s.servers
	s.mu.Unlock()
	s.stop()

	var errs []error
	for _, srv := range servers {
		if err := srv.Shutdown(ctx); err != nil {
			errs = append(errs, err, srv.Close())
		}
	}

	s.workers.Wait()
	s.webhooks.CloseIdleConnections()

	return errors.Join(append(errs, s.store.close())...)
}
