package devstack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc/status"

	"rihla/internal/process"
)

// The cluster's own databases.
const (
	clusterDatabase   = "temporal"
	clusterVisibility = "temporal_visibility"
)

// clusterBinaries are the server and the tool that makes its tables, built from tools/cluster.
type clusterBinaries struct {
	dir string
	log *slog.Logger
}

func (b clusterBinaries) server() string  { return filepath.Join(b.dir, "temporal-server") }
func (b clusterBinaries) sqlTool() string { return filepath.Join(b.dir, "temporal-sql-tool") }

// ensure builds what is missing: once, by one process however many ask.
func (b clusterBinaries) ensure(ctx context.Context) error {
	if isProgram(b.server()) && isProgram(b.sqlTool()) {
		return nil
	}
	root, err := ModuleRoot()
	if err != nil {
		return fmt.Errorf("the Temporal server has to be built, which can be done only inside the source tree: %w", err)
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil { //nolint:gosec // programs, no secrets
		return err
	}
	lock, err := waitForLock(ctx, filepath.Join(b.dir, "temporal-server.lock"))
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	b.log.InfoContext(ctx, "building the Temporal server into "+b.dir+": once, about 7 minutes on 2 cores")
	stop := temporalBinary{log: b.log}.reporting(ctx, "building the Temporal server")
	defer stop()
	for program, pkg := range map[string]string{
		b.server(): "go.temporal.io/server/cmd/server", b.sqlTool(): "go.temporal.io/server/cmd/tools/sql",
	} {
		if err := b.build(ctx, root, program, pkg); err != nil {
			return err
		}
	}
	return nil
}

func (b clusterBinaries) build(ctx context.Context, root, program, pkg string) error {
	if isProgram(program) { // another process was faster
		return nil
	}
	goTool, err := goProgram()
	if err != nil {
		return err
	}
	log := filepath.Join(b.dir, "temporal-server-build.log")
	offset := process.LogSize(log)
	draft := program + "." + strconv.Itoa(os.Getpid())
	defer func() { _ = os.Remove(draft) }()
	err = process.Run(ctx, process.Command{
		Name: "go build", Path: goTool, Args: []string{"build", "-mod=readonly", "-o", draft, pkg},
		Env: process.Environ(func(name string) bool { return name == "GOOS" || name == "GOARCH" }, "GOWORK=off"),
		Dir: filepath.Join(root, "tools", "cluster"), Log: log, Orphan: syscall.SIGTERM,
	})
	if err != nil {
		return fmt.Errorf("build %s: %w\n%s", pkg, err, process.LogTail(log, offset))
	}
	return os.Rename(draft, program)
}

// prepareDatabases makes the cluster's databases and brings their tables to the server's version.
func (c *Cluster) prepareDatabases(ctx context.Context) error {
	for database, schema := range map[string]string{clusterDatabase: "temporal", clusterVisibility: "visibility"} {
		there, err := c.postgres.hasDatabase(ctx, database)
		if err != nil {
			return err
		}
		var steps [][]string
		if !there {
			steps = append(steps, []string{"create-database"}, []string{"setup-schema", "--version", "0.0"})
		}
		steps = append(steps, []string{"update-schema", "--schema-name", "postgresql/v12/" + schema})
		for _, step := range steps {
			if err := c.sqlTool(ctx, database, step); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *Cluster) sqlTool(ctx context.Context, database string, step []string) error {
	log := filepath.Join(c.dataDir, "logs", "temporal-sql-tool.log")
	offset := process.LogSize(log)
	args := slices.Concat([]string{
		"--plugin", "postgres12", "--endpoint", loopback, "--port", strconv.Itoa(c.postgres.port), "--user", postgresUser,
		"--database", database,
	}, step)
	err := process.Run(ctx, process.Command{
		Name: "temporal-sql-tool", Path: c.programs.sqlTool(), Args: args,
		// The password is for no other user's eyes: not on the command line.
		Env: process.Environ(func(name string) bool { return strings.HasPrefix(name, "SQL_") }, "SQL_PASSWORD="+c.postgres.password),
		Dir: c.dataDir, Log: log, Orphan: syscall.SIGKILL,
	})
	if err != nil {
		return fmt.Errorf("prepare the database %s: %s: %w\n%s", database, strings.Join(step, " "), err, process.LogTail(log, offset))
	}
	return nil
}

func (p *Postgres) hasDatabase(ctx context.Context, name string) (there bool, err error) {
	conn, err := pgx.Connect(ctx, p.urlOf(maintenanceDatabase))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	return there, conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&there)
}

// serviceError is Temporal's own error in one of gRPC.
func serviceError(err error) error {
	if err == nil {
		return nil
	}
	return serviceerror.FromStatus(status.Convert(err))
}
