// Package house runs the service as it is deployed, for the chaos harness: two API and two worker processes of the real
// binary, PostgreSQL and Temporal as processes, and the sandbox gateway behind a door that can be shut. Everything in it
// can be killed and started again.
package house

import (
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
	"rihla/internal/auth"
	"rihla/internal/devstack"
	"rihla/internal/store"
	"rihla/internal/store/db"
	"rihla/models"
)

// Holds is how long seats wait for a payment in house n: seconds, so that a schedule sees them end. It is the service's own
// setting (BOOKING_HOLD, BILL_PAYMENT_HOLD): no row is touched. In every third house they outlast the
// key of a request whose process was killed (6 s), so that both orders of the two come up.
func Holds(n int) time.Duration {
	if n%3 == 2 {
		return 9 * time.Second
	}

	return 4 * time.Second
}

// Password is that of every user of the house.
const Password = "rihla-chaos-password"

const (
	serviceRole   = "rihla_service"
	startPatience = 60 * time.Second
)

// Options say where and with what.
type Options struct {
	Dir    string // of its own; data and logs
	Number int    // of the house
	// Hold is how long seats wait for a payment; 0: Holds of the number.
	Hold time.Duration
	// Cluster has Temporal run as a cluster on PostgreSQL instead of as one dev server.
	Cluster bool
	Binary  string // of the service
	BinDir  string // with Temporal
	Log     *slog.Logger
}

// Temporal is the orchestrator, a single server or a cluster.
type Temporal interface {
	Address() string
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	Kill()
}

// House is everything that runs.
type House struct {
	Dir      string
	Hold     time.Duration // how long seats wait for a payment
	Gateway  *Gateway
	Bell     *Bell
	Temporal client.Client
	DB       *sql.DB           // as the owner of the tables, to look at rows
	Moments  moments           // in which failures can come
	Cluster  *devstack.Cluster // nil unless Options.Cluster

	postgres *devstack.Postgres
	temporal Temporal
	ownerURL string
	binary   string
	env      map[string]string
	addrs    []string
	parts    map[schedule.Part]*Process
	log      *slog.Logger

	mu    sync.Mutex // one kill, start or heal at a time
	kills int        // of Temporal
}

// Build starts everything and returns once all of it answers. When it fails, nothing is left running.
func Build(ctx context.Context, o Options) (h *House, err error) {
	h = &House{Dir: o.Dir, binary: o.Binary, log: o.Log, parts: map[schedule.Part]*Process{}}

	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
			h = nil
		}
	}()

	steps := []func(context.Context, Options) error{
		h.startComponents, h.prepareDatabase, h.startBell, h.startGateway, h.prepareProcesses,
	}
	for _, step := range steps {
		if err := step(ctx, o); err != nil {
			return h, err
		}
	}

	return h, h.Heal(ctx)
}

func (h *House) startComponents(ctx context.Context, o Options) (err error) {
	// Not Throwaway: a database that does not wait for its log loses what it has confirmed when it is killed.
	h.postgres, err = devstack.StartPostgres(ctx, devstack.PostgresOptions{DataDir: o.Dir, BinDir: o.BinDir, Database: "rihla", Log: o.Log})
	if err != nil {
		return err
	}

	h.ownerURL = h.postgres.URL()

	if o.Cluster {
		h.Cluster, err = devstack.StartCluster(ctx, devstack.ClusterOptions{
			DataDir: o.Dir, BinDir: o.BinDir, Postgres: h.postgres, Log: o.Log,
		})
		h.temporal = h.Cluster
	} else {
		h.temporal, err = devstack.StartTemporal(ctx, devstack.TemporalOptions{
			DataDir: o.Dir, BinDir: o.BinDir, Headless: true, Log: o.Log,
		})
	}

	if err != nil {
		h.temporal = nil // and not an interface that holds nil

		return err
	}

	if h.DB, err = sql.Open("pgx", h.ownerURL); err != nil {
		return err
	}

	h.Temporal, err = client.NewLazyClient(client.Options{
		HostPort: h.temporal.Address(), Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})

	return err
}

// prepareDatabase migrates, makes the users and resources of a development database, and gives API and worker a role that
// owns nothing.
func (h *House) prepareDatabase(ctx context.Context, _ Options) error {
	s, err := store.Open(ctx, h.ownerURL, models.DefaultPolicies(), db.Options{MaxConns: 2})
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

	return errors.Join(s.Seed.SeedDev(ctx, hash, time.Now()), s.DB.MakeRole(ctx, serviceRole, serviceRole), s.DB.GrantTo(ctx, serviceRole))
}

func (h *House) startBell(ctx context.Context, _ Options) error {
	for range schedule.APIs {
		addr, err := freeAddress(ctx)
		if err != nil {
			return err
		}

		h.addrs = append(h.addrs, addr)
	}

	h.Bell = newBell(h.addrs, &h.Moments)

	return h.Bell.start(ctx)
}

func (h *House) startGateway(ctx context.Context, _ Options) (err error) {
	h.Gateway, err = newGateway(ctx, h.Bell.URL(), filepath.Join(h.Dir, "logs", "gateway.log"), &h.Moments)

	return err
}

// API is the address of an API process.
func (h *House) API(i int) string { return "http://" + h.addrs[i%len(h.addrs)] }

// LogDir is where every process writes.
func (h *House) LogDir() string { return filepath.Join(h.Dir, "logs") }

// Outbox is where messages to customers end up.
func (h *House) Outbox() string { return filepath.Join(h.Dir, "outbox") }

// Audit runs `rihla audit` and returns what it says; an error unless the books agree.
func (h *House) Audit(ctx context.Context) (string, error) {
	return h.run(ctx, "audit")
}

// Close stops everything. What is on disk stays.
func (h *House) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()

	for _, p := range h.parts {
		p.Kill()
	}

	var errs []error

	if h.Gateway != nil {
		errs = append(errs, h.Gateway.close(ctx))
	}

	if h.Bell != nil {
		h.Bell.close()
	}

	if h.Temporal != nil {
		h.Temporal.Close()
	}

	if h.DB != nil {
		errs = append(errs, h.DB.Close())
	}

	if h.temporal != nil {
		h.temporal.Kill() // nothing in it is needed any more
		errs = append(errs, h.temporal.Stop(ctx))
	}

	if h.postgres != nil {
		errs = append(errs, h.postgres.Stop(ctx))
	}

	return errors.Join(errs...)
}

// Remove deletes what is on disk.
func (h *House) Remove(ctx context.Context) error {
	return errors.Join(devstack.Reset(ctx, h.Dir, nil), os.RemoveAll(h.Dir))
}

// serviceURL is the database as API and worker see it.
func (h *House) serviceURL() (string, error) {
	at, err := url.Parse(h.ownerURL)
	if err != nil {
		return "", fmt.Errorf("database URL: %w", err)
	}

	at.User = url.UserPassword(serviceRole, serviceRole)

	return at.String(), nil
}
