package cmd

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"rihla/api"
	"rihla/e2e/harness"
	"rihla/e2e/rig"
	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/internal/inbox"
	"rihla/internal/store"
	"rihla/internal/store/storetest"
	"rihla/internal/telemetry"
	"rihla/models"
	"rihla/workflows"
)

// fuzzBundle is the API as `rihla api` wires it, over a pipe instead of a port, on a database of its own that holds a
// fuzzWorld. Only the orchestrator is missing: the relay's deliveries are taken and go nowhere, so that an event which
// was stored stays as it was stored. Each worker process of `go test -fuzz` has a bundle of its own.
type fuzzBundle struct {
	db          *sql.DB
	client      *http.Client
	conformance *harness.Conformance
	tokens      map[models.Role]string
	log         *lastFailures
	media       string // where the files of photos are
	// fingerprintSQL gives one text that changes with every row of every table.
	fingerprintSQL string
	// untouched is the fingerprint after the last query; nothing but queries comes between two of them.
	untouched string
}

func setupFuzz(tb testing.TB) *fuzzBundle {
	tb.Helper()

	b := &fuzzBundle{log: &lastFailures{}, tokens: map[models.Role]string{}}
	cfg := fuzzConfig(tb)

	s, err := openStore(tb.Context(), cfg)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.Close()) })

	b.db, err = sql.Open("pgx", cfg.Database.URL.Reveal())
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, b.db.Close()) })

	insertFuzzWorld(tb, s, b.db)
	b.serve(tb, cfg, s)
	b.signIn(tb, cfg)
	b.fingerprintSQL, b.media = fingerprintSQL(tb, b.db), filepath.Join(cfg.App.DataDir, "media")

	b.conformance, err = harness.NewConformance()
	require.NoError(tb, err)

	return b
}

func fuzzConfig(tb testing.TB) config.Config {
	tb.Helper()

	env, err := rig.Settings(tb.TempDir(), storetest.Database(tb), "127.0.0.1:1") // no Temporal is there, and no target needs it
	require.NoError(tb, err)
	maps.Copy(env, rig.Unlimited())

	env["ACCESS_TOKEN_TTL"] = "24h"
	for _, channel := range models.Channels() {
		env["WEBHOOK_SECRETS_"+strings.ToUpper(string(channel))] = strings.Join(fuzzSecrets(channel), ",")
	}

	cfg, err := config.Load(env)
	require.NoError(tb, err)
	require.NoError(tb, cfg.RequireAPI())

	return cfg
}

// serve puts the parts together as startAPI does.
func (b *fuzzBundle) serve(tb testing.TB, cfg config.Config, s *store.Store) {
	tb.Helper()

	temporal, err := dialTemporal(cfg, nil)
	require.NoError(tb, err)
	tb.Cleanup(temporal.Close)

	carrier := inbox.NewRelay(s.Inbox, slog.New(slog.DiscardHandler), func(context.Context, models.Delivery) error { return nil })
	carrier.Start()
	tb.Cleanup(carrier.Stop)

	registry := prometheus.NewRegistry()

	var open closers

	tb.Cleanup(func() { open.close() })

	deps, _, err := apiDeps(tb.Context(), cfg, apiParts{
		store: s, workflows: workflows.NewClient(temporal, cfg.Temporal.TaskQueue), relay: carrier,
		registry: registry, metrics: telemetry.NewMetrics(registry),
	}, &open)
	require.NoError(tb, err)

	deps.Log = slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelWarn}))

	app, err := api.New(deps)
	require.NoError(tb, err)

	// A real connection: answers that are streamed set its deadlines beside the server.
	listener, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	require.NoError(tb, err)

	served := make(chan error, 1)

	go func() { served <- app.Listener(listener) }()

	tb.Cleanup(func() {
		b.client.CloseIdleConnections()
		require.NoError(tb, app.ShutdownWithTimeout(5*time.Second))
		require.NoError(tb, <-served)
	})

	b.client = &http.Client{
		Timeout: 30 * time.Second,
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "tcp", listener.Addr().String())
			},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (b *fuzzBundle) signIn(tb testing.TB, cfg config.Config) {
	tb.Helper()

	keys, err := auth.LoadKeyring(cfg.Tokens.SigningKeys.Reveal())
	require.NoError(tb, err)

	issuer := auth.NewIssuer(keys, cfg.Tokens)

	for _, role := range models.Roles() {
		company := uuid.Nil
		if role.IsProvider() {
			company = fuzzProvider
		}

		b.tokens[role], _, err = issuer.Issue(auth.Principal{UserID: fuzzUser(role), Role: role, ProviderID: company})
		require.NoError(tb, err)
	}
}

// call sends one request and holds the answer against what is true of every answer: it is none of a fault of ours, it
// is what the document says, and it is JSON with an error envelope when it is a refusal. An empty role sends no token.
func (b *fuzzBundle) call(t *testing.T, method, target string, role models.Role, body []byte, header map[string]string) harness.Answer {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), method, "http://rihla.test"+target, bytes.NewReader(body))
	require.NoError(t, err)

	if role != "" {
		r.Header.Set("Authorization", "Bearer "+b.tokens[role])
	}

	for name, value := range header {
		r.Header.Set(name, value)
	}

	answer, err := b.client.Do(r)
	require.NoError(t, err)

	defer answer.Body.Close()

	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)

	a := harness.Answer{Status: answer.StatusCode, Header: answer.Header, Body: text}

	require.Less(t, a.Status, http.StatusInternalServerError, "%s %s: %s\n%s", method, target, text, b.log)
	require.NoError(t, b.conformance.Check(r, a), "%s %s: %s", method, target, text)
	require.NotEmpty(t, a.Header.Get("X-Request-ID"))

	if a.Status >= http.StatusBadRequest {
		require.True(t, utf8.Valid(text), "%q", text)
		require.NotEmpty(t, a.Code(), "%s", text)
		require.NotContains(t, string(text), "SQLSTATE")
	}

	return a
}

// object is the `data` of an answer, its numbers as they stand there.
func object(t *testing.T, a harness.Answer) map[string]any {
	t.Helper()

	var envelope struct {
		Data map[string]any `json:"data"`
	}

	decodePlain(t, a.Body, &envelope)
	require.NotNil(t, envelope.Data, "%s", a.Body)

	return envelope.Data
}

func decodePlain(t *testing.T, text []byte, into any) {
	t.Helper()

	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(into), "%s", text)
}

// fingerprint changes when any row of any table is inserted, changed or deleted.
func (b *fuzzBundle) fingerprint(t *testing.T) string {
	t.Helper()

	var sum string

	b.forgetReads(t)
	require.NoError(t, b.db.QueryRowContext(t.Context(), b.fingerprintSQL).Scan(&sum))

	return sum
}

// forgetReads: how much was read is no change, and very much is noted in the audit log.
func (b *fuzzBundle) forgetReads(t *testing.T) {
	t.Helper()
	b.exec(t, "DELETE FROM people_reads")
}

// fingerprintSQL adds up, per table, the rows and the SQL transactions that wrote them.
func fingerprintSQL(tb testing.TB, db *sql.DB) string {
	tb.Helper()

	rows, err := db.QueryContext(tb.Context(), "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")
	require.NoError(tb, err)

	defer rows.Close()

	var tables []string

	for rows.Next() {
		var name string

		require.NoError(tb, rows.Scan(&name))
		tables = append(tables, fmt.Sprintf("(SELECT '%[1]s ' || count(*) || ' ' || coalesce(sum(xmin::text::bigint), 0) FROM %[1]s)", name))
	}

	require.NoError(tb, rows.Err())
	require.Greater(tb, len(tables), 10)

	return "SELECT concat_ws(E'\\n', " + strings.Join(tables, ", ") + ")"
}

func (b *fuzzBundle) exec(tb testing.TB, query string, args ...any) {
	tb.Helper()

	_, err := b.db.ExecContext(context.Background(), query, args...)
	require.NoError(tb, err)
}

// lastFailures keeps the end of what the service logged, which tells why an answer was a fault.
type lastFailures struct {
	mu   sync.Mutex
	text []byte
}

const keptLog = 16 << 10

func (l *lastFailures) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.text = append(l.text, p...)
	l.text = l.text[max(0, len(l.text)-keptLog):]

	return len(p), nil
}

func (l *lastFailures) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()

	return string(l.text)
}
