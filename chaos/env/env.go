// Package env runs the service as it is deployed, for the chaos harness: two API and two worker processes of the real
// binary, PostgreSQL and Temporal as processes, and the sandbox gateway behind a listener with faults. Everything in it
// can be killed and started again.
package env

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"rihla/chaos/schedule"
	"rihla/e2e/rig"
	"rihla/gateways/drivers"
	"rihla/internal/auth"
	"rihla/internal/devstack"
	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/internal/store/seed"
	"rihla/models"
)

// Holds is how long seats wait for a payment in environment n: seconds, so that a schedule sees them end. It is the service's own
// setting (BOOKING_HOLD, BILL_PAYMENT_HOLD): no row is touched. In every third environment they outlast the
// key of a request whose process was killed (6 s), so that both orders of the two come up.
func Holds(n int) time.Duration {
	if n%3 == 2 {
		return 9 * time.Second
	}

	return 4 * time.Second
}

// Password is that of every user of the environment.
const Password = "rihla-chaos-password"

const (
	serviceRole   = "rihla_service"
	startPatience = 60 * time.Second
)

// ApprovalAbove is what of one payment goes back on one person's word: less than many bookings come to.
const ApprovalAbove = "300.00"

// TripApprovalAbove is what trips of one company give back within a day on one person's word: the first ones of an environment do.
const TripApprovalAbove = "2500.00"

// Options say where and with what.
type Options struct {
	Dir    string // of its own; data and logs
	Number int    // of the environment
	// Hold is how long seats wait for a payment; 0: Holds of the number.
	Hold time.Duration
	// Backup gives gateway_a a second merchant account, which faults do not hit.
	Backup bool
	// Cluster has Temporal run as a cluster on PostgreSQL instead of as one dev server.
	Cluster bool
	// Driver is that of the gateways, whose simulator is served; "": the sandbox.
	Driver string
	Binary string // of the service
	// LastBinary is that of the last release, with which everything begins; "": there is none.
	LastBinary string
	BinDir     string // with Temporal
	Log        *slog.Logger
}

// Environment is everything that runs.
type Environment struct {
	Dir          string
	Hold         time.Duration // how long seats wait for a payment
	Gateway      *Gateway
	Company      *Company // behind the gateway
	WebhookProxy *WebhookProxy
	Temporal     client.Client
	DB           *sql.DB           // as the owner of the tables, to look at rows
	Hooks        hooks             // in which failures can come
	Cluster      *devstack.Cluster // nil unless Options.Cluster
	MadeUp       []string          // the ids of all webhooks about payments that there are not

	components *devstack.Stack
	service    *rig.Service
	addrs      []string // of the APIs
	parts      map[schedule.Part]*Process
	releases   map[schedule.Release]string // their binaries
	log        *os.File                    // the gateway's

	mu    sync.Mutex // one kill, start or heal at a time
	kills int        // of Temporal
}

// Build starts everything and returns once all of it answers. When it fails, nothing is left running.
func Build(ctx context.Context, o Options) (e *Environment, err error) {
	e = &Environment{Dir: o.Dir, parts: map[schedule.Part]*Process{}}

	if e.Company, err = CompanyOf(cmp.Or(o.Driver, drivers.Sandbox)); err != nil {
		return nil, err
	}

	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
			e = nil
		}
	}()

	steps := []func(context.Context, Options) error{
		e.startComponents, e.prepareDatabase, e.startWebhookProxy, e.prepareService,
	}
	for _, step := range steps {
		if err := step(ctx, o); err != nil {
			return e, err
		}
	}

	return e, e.Heal(ctx)
}

func (e *Environment) startComponents(ctx context.Context, o Options) (err error) {
	// Not Throwaway: a database that does not wait for its log loses what it has confirmed when it is killed.
	e.components, err = devstack.Start(ctx, devstack.Options{
		DataDir: o.Dir, BinDir: o.BinDir, Cluster: o.Cluster, Headless: true, Log: o.Log,
		PostgresPort: devstack.AnyPort, TemporalPort: devstack.AnyPort,
	})
	if err != nil {
		return err
	}

	e.Cluster = e.components.Cluster

	if e.DB, err = sql.Open("pgx", e.components.DatabaseURL); err != nil {
		return err
	}

	e.Temporal, err = client.NewLazyClient(client.Options{
		HostPort: e.components.TemporalAddress, Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})

	return err
}

// prepareDatabase migrates, makes the users and resources of a development database, and gives API and worker a role that
// owns nothing.
func (e *Environment) prepareDatabase(ctx context.Context, _ Options) error {
	s, err := store.Open(ctx, e.components.DatabaseURL, models.DefaultPolicies(), db.Options{MaxConns: 2})
	if err != nil {
		return err
	}
	defer s.Close()

	if _, err := s.DB.Migrate(ctx); err != nil {
		return err
	}

	passwords, err := auth.NewPasswords(1)
	if err != nil {
		return err
	}

	hash, err := passwords.Hash(ctx, Password)
	if err != nil {
		return err
	}

	return errors.Join(seed.Of(s).SeedDev(ctx, hash, time.Now()), s.DB.MakeRole(ctx, serviceRole, serviceRole), s.DB.GrantTo(ctx, serviceRole))
}

func (e *Environment) startWebhookProxy(ctx context.Context, _ Options) error {
	for range schedule.APIs {
		addr, err := rig.FreeAddress(ctx)
		if err != nil {
			return err
		}

		e.addrs = append(e.addrs, addr)
	}

	e.WebhookProxy = newWebhookProxy(e.addrs, &e.Hooks, e.Company)

	return e.WebhookProxy.start(ctx)
}

// API is the address of an API process.
func (e *Environment) API(i int) string { return "http://" + e.addrs[i%len(e.addrs)] }

// LogDir is where every process writes.
func (e *Environment) LogDir() string { return filepath.Join(e.Dir, "logs") }

// Outbox is where messages to customers end up.
func (e *Environment) Outbox() string { return filepath.Join(e.Dir, "outbox") }

// Audit runs `rihla audit` and returns what it says; an error unless the books agree.
func (e *Environment) Audit(ctx context.Context) (string, error) {
	return e.service.Command(ctx, map[string]string{"DATABASE_URL": e.components.DatabaseURL}, "", "audit")
}

// Close stops everything. The files stay.
func (e *Environment) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()

	var errs []error

	if e.service != nil {
		e.Gateway.Cut()
		errs = append(errs, e.service.Close(ctx), e.log.Close())
	}

	if e.WebhookProxy != nil {
		e.WebhookProxy.close()
	}

	if e.Temporal != nil {
		e.Temporal.Close()
	}

	if e.DB != nil {
		errs = append(errs, e.DB.Close())
	}

	if e.components != nil {
		e.endTemporal()

		errs = append(errs, e.components.Close(ctx))
	}

	return errors.Join(errs...)
}

// endTemporal kills the server, in which nothing is needed any more: asked to end it would take its time.
func (e *Environment) endTemporal() {
	if e.Cluster != nil {
		e.Cluster.Kill()
	} else {
		e.components.Temporal.Kill()
	}
}

// Remove deletes what is on disk.
func (e *Environment) Remove(ctx context.Context) error {
	return errors.Join(devstack.Reset(ctx, e.Dir, nil), os.RemoveAll(e.Dir))
}

// serviceURL is the database as API and worker see it.
func (e *Environment) serviceURL() (string, error) {
	at, err := url.Parse(e.components.DatabaseURL)
	if err != nil {
		return "", fmt.Errorf("database URL: %w", err)
	}

	at.User = url.UserPassword(serviceRole, serviceRole)

	return at.String(), nil
}
