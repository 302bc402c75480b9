// Package testkit gives tests a real PostgreSQL and a real Temporal, without Docker and without anything to start beforehand.
//
// All packages of one `go test ./...`, and parallel runs of it, share one PostgreSQL and one Temporal dev server. The first test that
// needs one starts it through a supervisor, a detached process of its own (supervisor.go); each starts only when it is needed. A
// while after the last test process has ended the supervisor stops its server and leaves nothing behind. Importing the package is
// all it takes: no TestMain is needed.
//
// RIHLA_TEST_IDLE (a duration, 20s by default) is how long the servers outlive the last test: raise it to look into a database of a
// failed test, which is kept (its URL is in the test's output). RIHLA_TEST_POOLER has tests reach their databases through a PgBouncer with
// session pooling.
package testkit

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/peterldowns/pgtestdb"

	"rihla/internal/devstack"
)

// DB creates a database for this test alone, a copy of a template on which the migrator has run once per Hash, and drops it when
// the test has passed. The role that owns it is no superuser. Config.URL is its connection string.
func DB(tb testing.TB, migrator pgtestdb.Migrator) *pgtestdb.Config {
	tb.Helper()
	server, err := url.Parse(shared(tb, kindPostgres))
	if err != nil {
		tb.Fatalf("testkit: %v", err)
	}
	password, _ := server.User.Password()
	own := *pgtestdb.Custom(tb, pgtestdb.Config{
		DriverName: "pgx", Host: server.Hostname(), Port: server.Port(), User: server.User.Username(), Password: password,
		Database: "postgres", Options: server.RawQuery, ForceTerminateConnections: true,
	}, migrator)
	if pooler := memberships[kindPostgres].pooler; pooler != 0 {
		own.Port = strconv.Itoa(pooler) // databases are made and dropped without it
	}
	return &own
}

// Postgres creates an empty database for this test alone and returns its URL.
func Postgres(tb testing.TB) string {
	tb.Helper()
	return DB(tb, pgtestdb.NoopMigrator{}).URL()
}

// ServiceRole is a role that owns nothing, for what runs as the service does: with rights that its database grants it.
const ServiceRole = "rihla_service"

// AsService makes the role on the server of a database, which connects as a superuser or by DB, and returns the database's
// URL for it.
func AsService(tb testing.TB, database string) string {
	tb.Helper()
	at, err := url.Parse(database)
	if err != nil {
		tb.Fatalf("testkit: %v", err)
	}
	admin := database
	pooler := strconv.Itoa(memberships[kindPostgres].pooler)
	if server, err := url.Parse(shared(tb, kindPostgres)); err == nil && (server.Host == at.Host || at.Port() == pooler) {
		admin = server.String() // the owner of a test's database may not make roles
	}
	db, err := sql.Open("pgx", admin)
	if err != nil {
		tb.Fatalf("testkit: %v", err)
	}
	defer db.Close()
	// Tests that start together make it together.
	_, err = db.ExecContext(tb.Context(), fmt.Sprintf(`DO $$ BEGIN
		CREATE ROLE %[1]s LOGIN PASSWORD '%[1]s';
	EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`, ServiceRole))
	if err != nil {
		tb.Fatalf("testkit: make role: %v", err)
	}
	at.User = url.UserPassword(ServiceRole, ServiceRole)
	return at.String()
}

// MaySilenceTriggers lets the owner of a test's database set session_replication_role, by which no trigger fires in a session: what
// tampers with a database does not have to change its triggers, which would be found by themselves.
func MaySilenceTriggers(tb testing.TB, database string) {
	tb.Helper()
	owner, err := pgx.ParseConfig(database)
	if err != nil {
		tb.Fatalf("testkit: %v", err)
	}
	db, err := sql.Open("pgx", shared(tb, kindPostgres))
	if err != nil {
		tb.Fatalf("testkit: %v", err)
	}
	defer db.Close()
	// Two grants at once would be an error of both.
	const lock = "SELECT pg_advisory_xact_lock(hashtext('session_replication_role')); "

	grant := "GRANT SET ON PARAMETER session_replication_role TO " + pgx.Identifier{owner.User}.Sanitize()

	_, err = db.ExecContext(tb.Context(), "BEGIN; "+lock+grant+"; COMMIT")
	if err != nil {
		tb.Fatalf("testkit: let triggers be silenced: %v", err)
	}
}

// SkipShort skips a test under -short because it needs Temporal or a program that has to be built first.
func SkipShort(tb testing.TB) {
	tb.Helper()

	if testing.Short() {
		tb.Skip("needs Temporal or a built program: go test without -short")
	}
}

// Temporal returns host:port of the shared Temporal dev server, which is in memory and has the namespace `default` and the search
// attributes of the service. Tests keep apart by task queue and workflow id.
func Temporal(tb testing.TB) string {
	tb.Helper()
	SkipShort(tb)
	return shared(tb, kindTemporal)
}

// Stack starts a PostgreSQL and a Temporal for this test alone, with their state on disk, for tests that kill and restart them. They are
// stopped and wiped when the test ends. It takes seconds: prefer DB and Temporal. The given options may be zero; ports are free
// ones unless they are set.
func Stack(tb testing.TB, o devstack.Options) *devstack.Stack {
	tb.Helper()
	SkipShort(tb)
	root, err := devstack.ModuleRoot()
	if err != nil {
		tb.Fatalf("testkit: %v", err)
	}
	if o.DataDir == "" {
		o.DataDir = tb.TempDir()
	}
	if o.BinDir == "" {
		o.BinDir = binDir(root)
	}
	for _, port := range []*int{&o.PostgresPort, &o.TemporalPort, &o.TemporalUIPort} {
		if *port == 0 {
			*port = devstack.AnyPort
		}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(tb.Output(), nil))
	}
	stack, err := devstack.Start(tb.Context(), o)
	if err != nil {
		tb.Fatalf("testkit: %v", err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), 30*time.Second)
		defer cancel()
		if err := stack.Close(ctx); err != nil {
			tb.Errorf("testkit: %v", err)
		}
		if err := devstack.Reset(ctx, o.DataDir, nil); err != nil {
			tb.Errorf("testkit: %v", err)
		}
	})
	return stack
}

// binDir is where all tests of a source tree find, or build, the Temporal dev server: where `rihla dev` has it.
func binDir(root string) string { return filepath.Join(root, devstack.DefaultDataDir, "bin") }
