//go:build !production

package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"rihla/gateways/drivers"
	"rihla/internal/config"
	"rihla/internal/devstack"
	"rihla/internal/store"
	"rihla/internal/store/seed"
	"rihla/internal/telemetry"
	"rihla/models"
)

// devPassword is that of every user that `dev` makes.
const devPassword = "rihla-dev-password"

// devDomain is that of every user that `dev` makes.
const devDomain = "rihla.test"

// devRole is the database role of API and worker.
const devRole = "rihla_service"

func newDev() *cobra.Command {
	var (
		reset bool
		lines int
	)

	dev := &cobra.Command{
		Use:   "dev",
		Short: "Run everything on this machine: PostgreSQL, Temporal, sandbox gateway, worker and API, with users to try it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if lines < 0 || lines > maxSeed {
				return fmt.Errorf("--seed must be a number from 0 to %d", maxSeed)
			}

			cfg, err := loadConfig(config.Config.RequireDevelopment)
			if err != nil {
				return err
			}

			slog.SetDefault(telemetry.NewLogger(cmd.ErrOrStderr(), cfg.App))

			if reset {
				if err := devstack.Reset(cmd.Context(), cfg.App.DataDir, slog.Default()); err != nil {
					return err
				}
			}

			h, err := startDevEnv(cmd.Context(), cfg, slog.Default(), lines)
			if err != nil {
				return err
			}

			h.printLinks(cmd.OutOrStdout())
			h.wait(cmd.Context())
			fmt.Fprintln(cmd.ErrOrStderr(), "stopping …")

			return h.close()
		},
	}
	dev.Flags().BoolVar(&reset, "reset", false, "begin with an empty database, Temporal history, outbox and sandbox")
	dev.Flags().IntVar(&lines, "seed", 0, "add this many made-up ledger entries, with all that belongs to them, before serving")

	return dev
}

// devEnv is the whole service on one machine, in one process with two children: PostgreSQL and Temporal.
type devEnv struct {
	cfg      config.Config
	progress *slog.Logger // of what takes its time at the start
	lines    int          // made-up ledger entries to add
	stack    *devstack.Stack

	ownerURL string // of the database, for commands that need more than the service's role may do

	registry *prometheus.Registry
	metrics  *telemetry.Metrics // of API and worker together

	open closers
	errs []error
}

// demoLines stands for the made-up past of the demo instead of a number of lines.
const demoLines = -1

// startDevEnv starts all parts in the order in which they need each other, and adds made-up ledger entries if there are to be any.
// When it fails nothing is left running.
func startDevEnv(ctx context.Context, cfg config.Config, progress *slog.Logger, lines int) (h *devEnv, err error) {
	h = &devEnv{cfg: cfg, progress: progress, lines: lines, registry: prometheus.NewRegistry()}
	if h.metrics, err = newMetrics(h.registry); err != nil {
		return nil, err
	}

	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()

	useDevSecrets(&h.cfg)

	if len(h.cfg.HTTP.CORSOrigins) == 0 {
		h.cfg.HTTP.CORSOrigins = config.Origins{config.LocalOrigins}
	}

	steps := []func(context.Context) error{
		h.startComponents, h.prepareKeys, h.prepareMediaSecret, h.chooseAddress, h.startSimulators, h.startRunbook,
		h.prepareDatabase, h.takeOwnRole, h.startWorker, h.startAPI,
	}
	for _, step := range steps {
		if err := ctx.Err(); err != nil {
			return h, err
		}

		if err := step(ctx); err != nil {
			return h, err
		}
	}

	return h, nil
}

func (h *devEnv) startComponents(ctx context.Context) (err error) {
	h.stack, err = devstack.Start(ctx, devstack.Options{
		DataDir: h.cfg.App.DataDir, DatabaseURL: h.cfg.Database.URL.Reveal(),
		TemporalAddress: h.cfg.Temporal.Address, Log: h.progress,
	})
	if err != nil {
		return err
	}

	h.open.add(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()

		h.errs = append(h.errs, h.stack.Close(ctx))
	})

	h.ownerURL = h.stack.DatabaseURL
	h.cfg.Database.URL = config.Secret(h.ownerURL)
	h.cfg.Temporal.Address = h.stack.TemporalAddress

	if h.cfg.Temporal.UIURL == "" {
		h.cfg.Temporal.UIURL = h.stack.TemporalUIURL + "/namespaces/default"
	}

	return nil
}

// prepareKeys makes a signing key of this machine's own and keeps it, unless one is configured.
func (h *devEnv) prepareKeys(context.Context) error {
	if h.cfg.Tokens.SigningKeys.IsSet() {
		return nil
	}

	path := filepath.Join(h.cfg.App.DataDir, "keys", "signing.pem")
	if _, err := keepKeyFile(path); err != nil {
		return err
	}

	h.cfg.Tokens.SigningKeys = config.Secret(path)

	return nil
}

// chooseAddress moves the API to another port when its own is taken, and keeps to it; an address that was asked for stays.
func (h *devEnv) chooseAddress(ctx context.Context) error {
	if os.Getenv("LISTEN_ADDR") != "" {
		return nil
	}

	addr, err := h.freeAddress(ctx, "api", h.cfg.HTTP.ListenAddr)
	if err != nil {
		return err
	}

	h.cfg.HTTP.ListenAddr = addr
	if os.Getenv("PUBLIC_URL") == "" {
		h.cfg.App.PublicURL = "http://" + addr
	}

	if os.Getenv("PAY_URL") == "" {
		h.cfg.App.PayURL = h.cfg.App.PublicURL
	}

	return nil
}

// startSimulators serves the simulator of every company that the configuration has no address for.
func (h *devEnv) startSimulators(ctx context.Context) error {
	address := map[string]string{} // by driver

	for account, one := range accountSettings(&h.cfg) {
		driver := h.cfg.Gateways.For(account).Driver
		if driver == "" || !usesSimulator(h.cfg, account) {
			continue
		}

		if address[driver] == "" {
			var err error
			if address[driver], err = h.startSimulator(ctx, driver); err != nil {
				return err
			}
		}

		one.URL = address[driver]
	}

	return nil
}

func (h *devEnv) startSimulator(ctx context.Context, driver string) (address string, err error) {
	addr := otherSimulatorAddr
	if driver == drivers.Sandbox {
		addr = defaultSandboxAddr
	}

	if addr, err = h.freeAddress(ctx, driver, addr); err != nil {
		return "", err
	}

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return "", fmt.Errorf("%s: %w", driver, err)
	}

	address = "http://" + listener.Addr().String()

	stop, err := startSimulator(h.cfg, driver, listener, address)
	if err != nil {
		return "", err
	}

	h.open.add(func() { h.errs = append(h.errs, stop()) })

	return address, nil
}

func (h *devEnv) prepareDatabase(ctx context.Context) error {
	s, err := openStore(ctx, h.cfg)
	if err != nil {
		return err
	}
	defer s.Close()

	if _, err := s.DB.Migrate(ctx); err != nil {
		return err
	}

	// In the database of this command's own an admin may make whatever users they like.
	if h.stack.Postgres == nil {
		if err := refuseOthersUsers(ctx, s); err != nil {
			return err
		}
	}

	if err := seedUsers(ctx, s); err != nil || h.lines == 0 {
		return err
	}

	return h.addLines(ctx, s)
}

func (h *devEnv) addLines(ctx context.Context, s *store.Store) error {
	began := time.Now()

	var (
		added int
		err   error
	)

	if h.lines == demoLines {
		added, err = seed.Of(s).GrowDemo(ctx, noPassword, began)
	} else {
		added, err = seed.Of(s).Grow(ctx, seed.Seed{Records: h.lines, Seed: 1, Now: began, Password: noPassword})
	}

	if err == nil && added > 0 {
		h.progress.InfoContext(ctx, fmt.Sprintf("added %d made-up ledger entries in %.1f s", added, time.Since(began).Seconds()))
	}

	return err
}

// takeOwnRole has API and worker use a database role of their own, which cannot change what only ever grows, in the
// PostgreSQL that is private to this machine. A database that was asked for is used as its URL says.
func (h *devEnv) takeOwnRole(ctx context.Context) error {
	if h.stack.Postgres == nil {
		return nil
	}

	s, err := openStore(ctx, h.cfg)
	if err != nil {
		return err
	}
	defer s.Close()

	at, err := url.Parse(h.cfg.Database.URL.Reveal())
	if err != nil {
		return fmt.Errorf("database URL: %w", err)
	}

	password := rand.Text()
	if err := errors.Join(s.DB.MakeRole(ctx, devRole, password), s.DB.GrantTo(ctx, devRole)); err != nil {
		return err
	}

	at.User = url.UserPassword(devRole, password)
	h.cfg.Database.URL = config.Secret(at.String())

	return nil
}

func (h *devEnv) startWorker(ctx context.Context) error {
	stop, err := startWorker(ctx, h.cfg, h.metrics)
	if err != nil {
		return err
	}

	h.open.add(stop)

	return nil
}

func (h *devEnv) startAPI(ctx context.Context) error {
	stop, err := startAPI(ctx, h.cfg, h.registry, h.metrics)
	if err != nil {
		return err
	}

	h.open.add(func() { h.errs = append(h.errs, stop()) })

	return nil
}

// wait returns when the command is stopped or one of the two components has died.
func (h *devEnv) wait(ctx context.Context) {
	var database, temporal <-chan struct{}

	if h.stack.Postgres != nil {
		database = h.stack.Postgres.Done()
	}

	if h.stack.Temporal != nil {
		temporal = h.stack.Temporal.Done()
	}

	select {
	case <-ctx.Done():
	case <-database:
		h.errs = append(h.errs, errors.New("PostgreSQL has ended unexpectedly"))
	case <-temporal:
		h.errs = append(h.errs, errors.New("Temporal has ended unexpectedly")) //nolint:staticcheck // a name
	}
}

func (h *devEnv) close() error {
	h.open.close()

	return errors.Join(h.errs...)
}

func (h *devEnv) printLinks(w io.Writer) {
	fmt.Fprintf(w, "\n  Console      %s/console\n", h.cfg.App.PublicURL)
	fmt.Fprintf(w, "  API          %s/api/v1   docs %s/docs\n", h.cfg.App.PublicURL, h.cfg.App.PublicURL)
	// Without the sweep, of which there is one every few seconds.
	query := url.Values{"query": {"WorkflowType != 'Sweep'"}}
	fmt.Fprintf(w, "  Temporal UI  %s/namespaces/default/workflows?%s\n", h.stack.TemporalUIURL, query.Encode())
	fmt.Fprintf(w, "  Gateway      %s\n", h.cfg.Gateways.A.URL)
	fmt.Fprintf(w, "  Runbook      %s\n", h.cfg.App.RunbookURL)
	fmt.Fprintf(w, "  Outbox       %s\n", filepath.Join(h.cfg.App.DataDir, "outbox"))
	for _, role := range models.Roles() {
		fmt.Fprintf(w, "  %-12s %-28s password %s\n", "Sign in", strings.ToLower(string(role))+"@"+devDomain, devPassword)
	}
	fmt.Fprint(w, "\n  For psql, temporal, and this program's other commands (audit, user, seed):\n\n")
	fmt.Fprintf(w, "    export DATABASE_URL='%s'\n", h.ownerURL)
	fmt.Fprintf(w, "    export TEMPORAL_ADDRESS=%s\n", h.cfg.Temporal.Address)
	fmt.Fprintf(w, "\nReady. Ctrl-C stops everything; the data stays in %s.\n\n", h.cfg.App.DataDir)
}

// freeAddress is the port of 127.0.0.1 that the named part had the last time, else its usual one, else a free one; and keeps it
// for the next time.
func (h *devEnv) freeAddress(ctx context.Context, name, usual string) (string, error) {
	_, text, err := net.SplitHostPort(usual)
	if err != nil {
		return "", err
	}

	want, err := strconv.Atoi(text)
	if err != nil {
		return "", err
	}

	port, err := devstack.Port(ctx, h.progress, h.stack.Ports.Prefer(name, want))
	if err != nil {
		return "", err
	}

	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), h.stack.Ports.Keep(name, port)
}
