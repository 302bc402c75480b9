// Package harness runs the service as it is deployed, for the end-to-end tests: the API and the worker are processes of
// the built binary, the sandbox gateway is a separate HTTP server, PostgreSQL and Temporal are real. Nothing is mocked.
package harness

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"rihla/gateways/sandbox/server"
	"rihla/internal/audit/audittest"
	"rihla/internal/auth"
	"rihla/internal/config"
	"rihla/internal/devstack"
	"rihla/internal/store"
	"rihla/internal/store/storetest"
	"rihla/internal/testkit"
	"rihla/models"
)

// Options change how the service runs. The zero value shares PostgreSQL and Temporal with other tests.
type Options struct {
	// Private gives the test a PostgreSQL and a Temporal of its own, on disk, that it may kill and restart.
	Private bool
	// Cluster makes the private Temporal a cluster of two nodes on that PostgreSQL; its server is built the first time.
	Cluster bool
	// Limits keeps the rate limits of a deployment; without it there are none.
	Limits bool
	// Env is added to the environment of API and worker.
	Env map[string]string
}

// MediaURLSecret signs the addresses of photos.
const MediaURLSecret = "harness-media-url-secret-0123456789"

// APIKey is ours at the sandbox gateway.
const APIKey = "harness-gateway-api-key"

// Stack is the running service.
type Stack struct {
	URL     string // of the API
	Sandbox string // URL of the sandbox gateway
	Queue   string // task queue
	DataDir string

	API    *Process
	Worker *Process

	Components *devstack.Stack // nil unless Private
	Gateway    *server.Server
	Store      *store.Store // for fixtures
	DB         *sql.DB      // for looking at rows, as their owner
	ServiceDB  *sql.DB      // as the service's own role, whose connections no other role sees into
	ServiceURL string       // of the database for that role
	Temporal   client.Client
	World      storetest.World

	tb          testing.TB
	ownerURL    string // of the database
	conformance *Conformance
	gatewayLog  *buffer
	ending      *audittest.Ending
}

// Start runs a service with a fresh database that holds one World. The test fails on every answer that is not as the
// API's document says. Everything is stopped when the test ends, and then the books are audited: a difference fails it
// too.
func Start(tb testing.TB, o Options) *Stack {
	tb.Helper()

	s := &Stack{tb: tb, Queue: "e2e-" + uuid.NewString(), DataDir: tb.TempDir(), gatewayLog: &buffer{}}

	databaseURL, temporalAddress := s.startComponents(o)
	s.ending = audittest.After(tb, s.DB)

	var err error

	s.conformance, err = NewConformance()
	require.NoError(tb, err)

	s.Temporal, err = client.NewLazyClient(client.Options{HostPort: temporalAddress, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(tb, err)
	tb.Cleanup(s.Temporal.Close)

	s.World = storetest.Fixture(tb, s.Store)
	s.URL = "http://" + freeAddress(tb)
	s.startSandbox()

	// The service runs as a role that owns nothing: its fixtures come from the owner.
	serviceURL := testkit.AsService(tb, databaseURL)
	require.NoError(tb, s.Store.DB.GrantTo(tb.Context(), testkit.ServiceRole))

	s.ownerURL, s.ServiceURL = databaseURL, serviceURL
	s.ServiceDB, err = sql.Open("pgx", serviceURL)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.ServiceDB.Close()) })

	env := s.environment(serviceURL, temporalAddress)
	if !o.Limits {
		maps.Copy(env, unlimited())
	}

	maps.Copy(env, o.Env)

	binary := build(tb)
	s.API = &Process{tb: tb, name: "api", path: binary, args: []string{"api"}, env: env, ready: s.apiReady}
	s.Worker = &Process{tb: tb, name: "worker", path: binary, args: []string{"worker"}, env: maps.Clone(env), readyLine: "worker polls"}

	s.Worker.Start()
	s.API.Start()

	return s
}

func (s *Stack) startComponents(o Options) (databaseURL, temporalAddress string) {
	if o.Private {
		s.Components = testkit.Stack(s.tb, devstack.Options{Headless: true, Cluster: o.Cluster})
		databaseURL, temporalAddress = s.Components.DatabaseURL, s.Components.TemporalAddress
		s.Store, s.DB = storetest.OpenAt(s.tb, databaseURL, models.DefaultPolicies())

		return databaseURL, temporalAddress
	}

	databaseURL = storetest.Database(s.tb)
	s.Store, s.DB = storetest.OpenAt(s.tb, databaseURL, models.DefaultPolicies())

	return databaseURL, testkit.Temporal(s.tb)
}

// startSandbox serves the gateway. It belongs to the test's process, so that it outlives API and worker.
func (s *Stack) startSandbox() {
	merchant := server.Merchant{Name: "rihla", APIKey: APIKey, Channels: map[models.PaymentMethod]server.Channel{}}

	for _, method := range []models.PaymentMethod{
		models.MethodCreditCard, models.MethodDebitNetwork, models.MethodWalletA, models.MethodWalletB, models.MethodBillPayment,
	} {
		merchant.Channels[method] = server.Channel{
			WebhookURL: s.URL + "/api/v1/payments/" + method.Channel().Path(),
			Secret:     config.DevWebhookSecret(method.Channel()).Reveal(),
		}
	}

	gateway, err := server.New(server.Config{
		Merchants: []server.Merchant{merchant},
		Logger:    slog.New(slog.NewTextHandler(s.gatewayLog, &slog.HandlerOptions{Level: slog.LevelDebug})),
		// Quicker than in life, so that a test which restarts the API does not wait for the gateway.
		RetryBackoff: func(n int) time.Duration { return min(100*time.Millisecond<<min(n, 10), time.Second) },
	})
	require.NoError(s.tb, err)

	s.Gateway = gateway
	s.Sandbox, err = gateway.Start("127.0.0.1:0")
	require.NoError(s.tb, err)

	s.tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()

		_ = gateway.Close(ctx)
	})
}

func (s *Stack) environment(databaseURL, temporalAddress string) map[string]string {
	keys := filepath.Join(s.DataDir, "keys", "signing.pem")
	require.NoError(s.tb, auth.GenerateKeyFile(keys))

	env := map[string]string{
		"DATABASE_URL": databaseURL, "TEMPORAL_ADDRESS": temporalAddress, "TEMPORAL_TASK_QUEUE": s.Queue,
		"LISTEN_ADDR": s.URL[len("http://"):], "PUBLIC_URL": s.URL, "DATA_DIR": s.DataDir, "JWT_SIGNING_KEYS": keys,
		"GATEWAY_A_URL": s.Sandbox, "GATEWAY_A_API_KEY": APIKey, "WALLET_B_URL": s.Sandbox, "WALLET_B_API_KEY": APIKey,
		"MEDIA_URL_SECRET": MediaURLSecret, "SWEEP_INTERVAL": "5s", "DB_MAX_CONNS": "10", "LOG_LEVEL": "INFO",
		// Longer than in life: a test machine that is busy is no gateway that is down.
		"CHECKOUT_WAIT": "12s", "REFUND_WAIT": "12s",
		// Shorter than in life, so that a test does not wait long for a gateway that is well again.
		"GATEWAY_A_BREAKER_OPEN_FOR": "1s", "WALLET_B_BREAKER_OPEN_FOR": "1s",
	}

	for _, channel := range models.Channels() {
		env["WEBHOOK_SECRETS_"+upper(string(channel))] = config.DevWebhookSecret(channel).Reveal()
	}

	return env
}

// unlimited switches the limits off, which have tests of their own.
func unlimited() map[string]string {
	env := map[string]string{}

	for _, class := range []string{
		"ANONYMOUS", "END_USER", "PROVIDER_STAFF", "PROVIDER_ADMIN", "SUPPORT_AGENT", "FINANCE_ADMIN", "ADMIN", "SUPER_ADMIN",
		"WEBHOOK", "LOGIN", "LOGIN_IP", "MEDIA",
	} {
		env["RATE_LIMIT_"+class] = "0"
	}

	for _, kind := range []string{"UPLOADS", "EXPORTS", "LONG_POLLS"} {
		env[kind+"_AT_ONCE"] = "0"
	}

	env["LOGIN_PAUSE_MAX"], env["LOGIN_LOCK_AFTER"] = "0", "0"

	// One customer books for a whole test, and one address hears of all of it.
	for _, limit := range []string{
		"UNPAID_BOOKINGS_MAX", "UNPAID_SEATS_MAX", "UNPAID_ATTEMPTS_PER_HOUR", "BILL_SEATS_SHARE", "MESSAGES_PER_RECIPIENT",
		"AD_MIN_PRICE_PER_DAY",
	} {
		env[limit] = "0"
	}

	env["RESCHEDULE_NOTICE"], env["TRIP_MOVES_PER_DAY"] = "0", "0" // trips of tests leave soon

	return env
}

func freeAddress(tb testing.TB) string {
	tb.Helper()

	port, err := devstack.Port(tb.Context(), slog.New(slog.DiscardHandler), devstack.AnyPort)
	require.NoError(tb, err)

	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// History is the number of events of a workflow.
func (s *Stack) History(workflowID string) int64 {
	s.tb.Helper()

	d, err := s.Temporal.DescribeWorkflowExecution(s.tb.Context(), workflowID, "")
	require.NoError(s.tb, err)

	return d.GetWorkflowExecutionInfo().GetHistoryLength()
}

// Count runs a SELECT that gives one number.
func (s *Stack) Count(query string, args ...any) int {
	s.tb.Helper()

	var n int

	require.NoError(s.tb, s.DB.QueryRowContext(s.tb.Context(), query, args...).Scan(&n), fmt.Sprint(query, args))

	return n
}
