// Package harness runs the service as it is deployed, for the end-to-end tests: the API and the worker are processes of
// the built binary, the sandbox gateway is a separate HTTP server, PostgreSQL and Temporal are real. Nothing is mocked.
package harness

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"rihla/e2e/rig"
	"rihla/internal/audit/audittest"
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
	// Driver is that of both gateways; "": the sandbox.
	Driver string
	// Backup gives gateway_a a second merchant account.
	Backup bool
	// WebhooksTo is where the gateways deliver in place of the API.
	WebhooksTo string
	// Limits keeps the rate limits of a deployment; without it there are none.
	Limits bool
	// Env is added to the environment of API and worker.
	Env map[string]string
}

// Stack is the running service.
type Stack struct {
	URL     string // of the API
	Sandbox string // URL of the sandbox gateway
	Queue   string // task queue
	DataDir string
	Metrics string // URL of the worker's; the API has its own at URL

	API    *Process
	Worker *Process

	Components *devstack.Stack // nil unless Private
	Gateway    *rig.Gateway
	Backup     *rig.Gateway // the gateway of the backup account; nil unless asked for
	Socket     *rig.Socket  // of Gateway
	Store      *store.Store // for fixtures
	DB         *sql.DB      // for looking at rows, as their owner
	ServiceDB  *sql.DB      // as the service's own role, whose connections no other role sees into
	ServiceURL string       // of the database for that role
	Temporal   client.Client
	World      storetest.World

	tb          testing.TB
	ownerURL    string // of the database
	conformance *Conformance
	service     *rig.Service
	ending      *audittest.Ending
}

// Start runs a service with a fresh database that holds one World. The test fails on every answer that is not as the
// API's document says. Everything is stopped when the test ends, and then the books are audited: a difference fails it
// too.
func Start(tb testing.TB, o Options) *Stack {
	tb.Helper()
	testkit.SkipShort(tb)

	s := &Stack{tb: tb, Queue: "e2e-" + uuid.NewString(), DataDir: tb.TempDir()}

	databaseURL, temporalAddress := s.startComponents(o)
	s.ending = audittest.After(tb, s.DB)

	var err error

	s.conformance, err = NewConformance()
	require.NoError(tb, err)

	s.Temporal, err = client.NewLazyClient(client.Options{HostPort: temporalAddress, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(tb, err)
	tb.Cleanup(s.Temporal.Close)

	s.World = storetest.Fixture(tb, s.Store)

	// The service runs as a role that owns nothing: its fixtures come from the owner.
	s.ownerURL, s.ServiceURL = databaseURL, testkit.AsService(tb, databaseURL)
	require.NoError(tb, s.Store.DB.GrantTo(tb.Context(), testkit.ServiceRole))

	s.ServiceDB, err = sql.Open("pgx", s.ServiceURL)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, s.ServiceDB.Close()) })

	s.startService(o, temporalAddress)

	return s
}

// startService starts API and worker, and the gateway before them. The gateway outlives both.
func (s *Stack) startService(o Options, temporalAddress string) {
	s.tb.Helper()

	env := s.environment()
	if !o.Limits {
		maps.Copy(env, unlimited())
	}

	maps.Copy(env, o.Env)

	address := freeAddress(s.tb)
	log, err := os.Create(filepath.Join(s.DataDir, gatewayLog))
	require.NoError(s.tb, err)

	s.service, err = rig.New(s.tb.Context(), rig.Options{
		Binary: Binary(s.tb), Dir: s.DataDir, DatabaseURL: s.ServiceURL, TemporalAddress: temporalAddress, APIs: []string{address}, Workers: 1,
		GatewayLog: log, Driver: o.Driver, Backup: o.Backup, Env: env, WebhooksTo: o.WebhooksTo,
	})
	require.NoError(s.tb, err)

	s.tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()

		_ = s.service.Close(ctx)
		_ = log.Close()
	})

	metrics := freeAddress(s.tb)
	s.service.Workers[0].Setenv("METRICS_ADDR", metrics)
	s.Metrics = "http://" + metrics + "/metrics"

	s.URL, s.Gateway, s.Sandbox = "http://"+address, s.service.Gateway, s.service.GatewayURL
	s.Backup, s.Socket = s.service.Backup, s.service.Socket
	s.API, s.Worker = supervised(s.tb, s.service.APIs[0]), supervised(s.tb, s.service.Workers[0])
	s.Worker.Start()
	s.API.Start()
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

// RefundWait is how long a request waits for its refund.
const RefundWait = 12 * time.Second

// environment is what the tests' service has of its own, besides what every service of the rig has.
func (s *Stack) environment() map[string]string {
	return map[string]string{
		"TEMPORAL_TASK_QUEUE": s.Queue, "SWEEP_INTERVAL": "5s", "DB_MAX_CONNS": "10", "LOG_LEVEL": "INFO",
		// Longer than in life: a test machine that is busy is no gateway that is down.
		"CHECKOUT_WAIT": "12s", "REFUND_WAIT": RefundWait.String(),
		// Shorter than in life, so that a test does not wait long for a gateway that is well again.
		"GATEWAY_A_BREAKER_OPEN_FOR": "1s", "WALLET_B_BREAKER_OPEN_FOR": "1s",
	}
}

// unlimited switches the limits off, which have tests of their own, and the notice for a move: trips of tests leave soon.
func unlimited() map[string]string {
	env := rig.Unlimited()
	env["RESCHEDULE_NOTICE"] = "0"

	return env
}

func freeAddress(tb testing.TB) string {
	tb.Helper()

	address, err := rig.FreeAddress(tb.Context())
	require.NoError(tb, err)

	return address
}

// History is the number of events of a workflow.
func (s *Stack) History(workflowID string) int64 {
	s.tb.Helper()

	d, err := s.Temporal.DescribeWorkflow(s.tb.Context(), workflowID, "")
	require.NoError(s.tb, err)

	return int64(d.HistoryLength)
}

// Count runs a SELECT that gives one number.
func (s *Stack) Count(query string, args ...any) int {
	s.tb.Helper()

	var n int

	require.NoError(s.tb, s.DB.QueryRowContext(s.tb.Context(), query, args...).Scan(&n), fmt.Sprint(query, args))

	return n
}
