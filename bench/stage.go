package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"rihla/e2e/rig"
	"rihla/internal/auth"
	"rihla/internal/devstack"
	"rihla/internal/store"
	"rihla/internal/store/seed"
	"rihla/models"
)

// stage is the service as it is deployed, on this machine: PostgreSQL that waits for its disk, Temporal's dev server, one API and
// one worker process. The gateway and the customers are in this process.
type stage struct {
	*bench

	service  *rig.Service
	url      string
	customer rig.Client // signed in
	db       *sql.DB    // to count what the service costs
	counts   bool       // whether statements can be counted
}

// startTime is how long the service may take until it answers.
const startTime = 30 * time.Second

// idleConns are kept by the pools of this process.
const idleConns = 8

// stagePassword is that of everybody who signs in.
const stagePassword = "bench-password"

// newStage starts everything, with room for as many bookings of one seat each, and signs a customer in.
func newStage(ctx context.Context, bookings int, env map[string]string) (*stage, error) {
	return newStageWith(ctx, bookings, stageOptions{env: env})
}

func newStageWith(ctx context.Context, bookings int, o stageOptions) (*stage, error) {
	s, err := newStageOn(ctx, o)
	if err != nil {
		return nil, err
	}

	if err = s.seed(ctx, bookings); err == nil {
		s.customer, err = s.signIn(ctx, models.RoleEndUser)
	}

	if err != nil {
		return nil, errors.Join(err, s.close())
	}

	return s, nil
}

// stageOptions say what a stage is made of.
type stageOptions struct {
	stack devstack.Options  // with a TemporalAddress there is no orchestrator, and no worker
	env   map[string]string // of the service
	// prepare changes the database before the service starts; may be nil.
	prepare func(context.Context, *stage) error
	// around is what stands in front of the gateway; may be nil.
	around func(gateway http.Handler) http.Handler
}

// newStageOn starts a service without data.
func newStageOn(ctx context.Context, o stageOptions) (s *stage, err error) {
	s = &stage{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
			s = nil
		}
	}()

	if s.bench, err = newBenchOn(ctx, o.stack); err != nil {
		return s, err
	}

	if err = s.countStatements(ctx); err != nil {
		return s, err
	}

	if o.prepare != nil {
		if err = o.prepare(ctx, s); err != nil {
			return s, err
		}
	}

	return s, s.startService(ctx, o)
}

// countStatements has PostgreSQL count statements, where it can.
func (s *stage) countStatements(ctx context.Context) (err error) {
	if s.db, err = sql.Open("pgx", s.stack.DatabaseURL); err != nil {
		return err
	}

	const can = `SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_stat_statements')`
	if err = s.db.QueryRowContext(ctx, can).Scan(&s.counts); err != nil || !s.counts {
		return err
	}

	if _, err = s.db.ExecContext(ctx, "ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'"); err != nil {
		return err
	}

	if err = s.stack.Postgres.Stop(ctx); err != nil {
		return err
	}

	if err = s.stack.Postgres.Start(ctx); err != nil {
		return err
	}

	for _, pool := range []*sql.DB{s.db, s.store.DB.Raw} { // whose connections have ended with the server
		pool.SetMaxIdleConns(0)
		pool.SetMaxIdleConns(idleConns)
	}

	_, err = s.db.ExecContext(ctx, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")

	return err
}

// startService starts an API and a worker. No limit on a person or an address is met: a few of them stand for all customers.
func (s *stage) startService(ctx context.Context, o stageOptions) error {
	binary, err := rig.Build(ctx, "rihla-bench")
	if err != nil {
		return err
	}

	address, err := rig.FreeAddress(ctx)
	if err != nil {
		return err
	}

	settings := rig.Unlimited()
	settings["TMPDIR"] = s.dir

	maps.Copy(settings, o.env)

	s.url = "http://" + address

	s.service, err = rig.New(ctx, rig.Options{
		Binary: binary, Dir: s.dir, DatabaseURL: s.stack.DatabaseURL, TemporalAddress: s.stack.TemporalAddress,
		APIs: []string{address}, Workers: s.workers(), GatewayLog: io.Discard, Env: settings,
		Around: o.around,
	})
	if err != nil {
		return err
	}

	starting, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()

	return s.service.Start(starting)
}

// workers is how many worker processes there are: none without an orchestrator.
func (s *stage) workers() int {
	if s.stack.Temporal == nil {
		return 0
	}

	return 1
}

// signIn makes a user of the role and signs in.
func (s *stage) signIn(ctx context.Context, role models.Role) (rig.Client, error) {
	return signIn(ctx, s.store, s.url, role)
}

func signIn(ctx context.Context, st *store.Store, url string, role models.Role) (rig.Client, error) {
	c := rig.Client{URL: url}

	passwords, err := auth.NewPasswords(1)
	if err != nil {
		return c, err
	}

	hash, err := passwords.Hash(ctx, stagePassword)
	if err != nil {
		return c, err
	}

	u := models.User{
		ID: models.NewID(), Name: "Bench " + string(role), PasswordHash: hash, Role: role, Locale: models.LocaleEnglish,
		Email: strings.ToLower(strings.ReplaceAll(string(role), "_", "-")) + "@bench.rihla.test",
	}
	if err := seed.Of(st).InsertDemo(ctx, seed.DemoData{Users: []models.User{u}}); err != nil {
		return c, err
	}

	return c.LogIn(ctx, u.Email, stagePassword)
}

// audit has the books of the run looked at; a bench whose books do not agree has measured nothing.
func (s *stage) audit(ctx context.Context, out io.Writer) error {
	text, err := s.service.Command(ctx, nil, "", "audit")
	if err != nil {
		return fmt.Errorf("the audit: %w\n%s", err, text)
	}

	lines := strings.Split(strings.TrimSpace(text), "\n")
	_, err = fmt.Fprintf(out, "\nAudit: %s\n", lines[len(lines)-1])

	return err
}

// auditTwice is audit, which keeps the balances, and then an audit of what has happened since.
func (s *stage) auditTwice(ctx context.Context, out io.Writer) error {
	owner := map[string]string{"DATABASE_URL": s.stack.DatabaseURL}

	text, err := s.service.Command(ctx, owner, "", "audit", "--seal")
	if err != nil {
		return fmt.Errorf("the audit: %w\n%s", err, text)
	}

	fmt.Fprintf(out, "\nAudit: %s\n", strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))

	if text, err = s.service.Command(ctx, nil, "", "audit", "--since-seal"); err != nil {
		return fmt.Errorf("the audit: %w\n%s", err, text)
	}

	_, err = fmt.Fprintf(out, "Audit %s\n", strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))

	return err
}

func (s *stage) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()

	var err error

	if s.service != nil {
		err = s.service.Close(ctx)
	}

	if s.db != nil {
		err = errors.Join(err, s.db.Close())
	}

	if s.bench != nil {
		s.bench.close()
	}

	return err
}
