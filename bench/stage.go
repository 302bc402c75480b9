package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"

	"rihla/internal/auth"
	"rihla/internal/devstack"
	"rihla/internal/rig"
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

// newStage starts everything, with room for as many bookings of one seat each.
func newStage(ctx context.Context, bookings int, env map[string]string) (s *stage, err error) {
	return newStageWith(ctx, bookings, env, func(context.Context, *stage) error { return nil })
}

// newStageWith is newStage with a database that prepare has changed before the service starts.
func newStageWith(
	ctx context.Context, bookings int, env map[string]string, prepare func(context.Context, *stage) error,
) (s *stage, err error) {
	s = &stage{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
			s = nil
		}
	}()

	if s.bench, err = newBenchOn(ctx, devstack.Options{}); err != nil {
		return s, err
	}

	if err = s.countStatements(ctx); err != nil {
		return s, err
	}

	if err = s.seed(ctx, bookings); err != nil {
		return s, err
	}

	if err = prepare(ctx, s); err != nil {
		return s, err
	}

	if err = s.startService(ctx, env); err != nil {
		return s, err
	}

	s.customer, err = s.signIn(ctx, models.RoleEndUser)

	return s, err
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
func (s *stage) startService(ctx context.Context, env map[string]string) error {
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

	maps.Copy(settings, env)

	s.url = "http://" + address

	s.service, err = rig.New(ctx, rig.Options{
		Binary: binary, Dir: s.dir, DatabaseURL: s.stack.DatabaseURL, TemporalAddress: s.stack.TemporalAddress,
		APIs: []string{address}, Workers: 1, GatewayLog: io.Discard, Env: settings,
	})
	if err != nil {
		return err
	}

	starting, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()

	return s.service.Start(starting)
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
	if err := st.Seed.InsertDemo(ctx, seed.DemoData{Users: []models.User{u}}); err != nil {
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
