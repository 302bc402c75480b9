package devstack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"rihla/internal/process"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// postgresUser is the private cluster's superuser.
	postgresUser = "rihla"
	// maintenanceDatabase is the one that every cluster has.
	maintenanceDatabase = "postgres"
	// postgresPatience is how long the server may take until it answers: after a crash it replays its log first.
	postgresPatience = 60 * time.Second
	// cannotConnectNow is what PostgreSQL answers while it starts up or recovers.
	cannotConnectNow = "57P03"
)

// PostgresOptions says how to run a private PostgreSQL. Only DataDir is required.
type PostgresOptions struct {
	// DataDir is the directory below which the cluster lives, in `postgres/`; created if needed.
	DataDir string
	// BinDir is where binaries are downloaded to when none are installed. Default: `bin/` in DataDir.
	BinDir string
	// Port is the preferred port on 127.0.0.1; 0: any free one.
	Port int
	// Database is created when it is missing. Default: none but `postgres`.
	Database string
	// Throwaway trades the safety of the data for speed (no fsync) and allows 300 connections: for tests.
	Throwaway bool
	// Log receives progress; nil: it is discarded.
	Log *slog.Logger
}

// Postgres is a private PostgreSQL server on 127.0.0.1. Its methods may be called from several goroutines.
type Postgres struct {
	log       *slog.Logger
	home      string
	account   account
	binaries  postgresBinaries
	port      int
	database  string
	password  string
	throwaway bool

	mu      sync.Mutex
	process *process.Process
}

// StartPostgres makes the cluster if needed, starts it and returns once it answers. A server that an earlier, killed process left
// behind in the same directory is stopped first. Nothing that ctx does later ends the server: Stop does.
func StartPostgres(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	dataDir, err := makeDataDir(o.DataDir)
	if err != nil {
		return nil, err
	}
	p := &Postgres{log: orDiscard(o.Log), database: o.Database, throwaway: o.Throwaway}
	if p.database == "" {
		p.database = maintenanceDatabase
	}
	if p.home, p.account, err = postgresHome(ctx, p.log, dataDir); err != nil {
		return nil, err
	}
	if err := stopStalePostgres(ctx, p.log, p.home); err != nil {
		return nil, err
	}
	if err := p.chooseBinaries(ctx, dataDir, o.BinDir); err != nil {
		return nil, err
	}
	if clusterMajor(p.cluster()) == 0 {
		if err := p.initCluster(ctx); err != nil {
			return nil, err
		}
	}
	password, err := os.ReadFile(p.passwordFile())
	if err != nil {
		return nil, fmt.Errorf("read the cluster's password: %w", err)
	}
	p.password = strings.TrimSpace(string(password))

	preferred := o.Port
	for range 3 { // a port found free may be gone a moment later
		if p.port, err = Port(ctx, p.log, preferred); err != nil {
			return nil, err
		}
		if err = p.Start(ctx); !errors.Is(err, errPortTaken) {
			break
		}
		preferred = 0
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Postgres) chooseBinaries(ctx context.Context, dataDir, binDir string) (err error) {
	major := clusterMajor(p.cluster())
	if found, ok := findPostgres(ctx, p.account, major); ok {
		p.binaries = found
		return nil
	}
	if binDir == "" {
		binDir = filepath.Join(dataDir, "bin")
	}
	if binDir, err = filepath.Abs(binDir); err != nil {
		return err
	}
	if err := os.MkdirAll(binDir, 0o755); err != nil { //nolint:gosec // programs, to be run by the account
		return err
	}
	if !p.account.reaches(binDir) {
		binDir = filepath.Join(p.home, "bin")
		if err := os.MkdirAll(binDir, 0o755); err != nil { //nolint:gosec // likewise
			return err
		}
	}
	p.binaries, err = downloadPostgres(ctx, p.log, p.account, filepath.Join(binDir, "postgresql-"+string(downloadVersion)), "")
	if err == nil && major != 0 && p.binaries.major != major {
		err = fmt.Errorf("the cluster in %s was made by PostgreSQL %d, which is not installed any more: install it, or reset the data",
			p.cluster(), major)
	}
	return err
}

func (p *Postgres) cluster() string      { return filepath.Join(p.home, "cluster") }
func (p *Postgres) passwordFile() string { return filepath.Join(p.home, "password") }
func (p *Postgres) logFile() string      { return filepath.Join(p.home, "postgres.log") }

// URL is the connection string of the database, with the superuser's credentials.
func (p *Postgres) URL() string { return p.urlOf(p.database) }

func (p *Postgres) urlOf(database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(postgresUser, p.password),
		Host: net.JoinHostPort(loopback, strconv.Itoa(p.port)), Path: database, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Port is the port on 127.0.0.1; it stays the same through Stop, Kill and Start.
func (p *Postgres) Port() int { return p.port }

// errPortTaken is returned by Start when something else listens on the port.
var errPortTaken = errors.New("the port is taken")

// Start starts a server that was stopped or killed, on the same port and cluster, and returns once it answers. On a running
// server it does nothing.
func (p *Postgres) Start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process != nil && !p.process.Ended() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, postgresPatience)
	defer cancel()
	for {
		offset := process.LogSize(p.logFile())
		child, err := process.Start(p.command())
		if err != nil {
			return err
		}
		if err = p.ready(ctx, child); err == nil {
			p.process = child
			go reportExit(p.log, child, p.logFile(), func() bool { return p.owns(child) })
			return nil
		}
		_ = child.Stop(context.WithoutCancel(ctx), postgresSteps()...)
		tail := process.LogTail(p.logFile(), offset)
		switch {
		// After kill -9 the backends need a moment to notice; until then the server rightly refuses to start beside them.
		case strings.Contains(tail, "shared memory block") && strings.Contains(tail, "is still in use") && pause(ctx, 200*time.Millisecond):
			continue
		case strings.Contains(tail, "Address already in use"):
			return fmt.Errorf("PostgreSQL cannot listen on %s:%d: %w", loopback, p.port, errPortTaken)
		}
		return fmt.Errorf("PostgreSQL did not start: %w\nIts log (%s) ends with:\n%s", err, p.logFile(), tail)
	}
}

func (p *Postgres) command() process.Command {
	settings := []string{
		"listen_addresses=" + loopback, "port=" + strconv.Itoa(p.port), "unix_socket_directories=", "max_connections=200",
		"timezone=UTC", "log_timezone=UTC", "logging_collector=off", "log_destination=stderr",
	}
	if p.throwaway {
		settings = append(settings, "max_connections=300", "fsync=off", "synchronous_commit=off", "full_page_writes=off",
			"wal_level=minimal", "max_wal_senders=0", "jit=off")
	}
	args := make([]string, 0, 2+2*len(settings))
	args = append(args, "-D", p.cluster())
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return process.Command{
		Name: "PostgreSQL", Path: p.binaries.path("postgres"), Args: args, Env: postgresEnv(), Dir: "/", Log: p.logFile(),
		Credential: p.account.credential(),
		Orphan:     syscall.SIGINT, // "fast shutdown": clean, and kill -9 of the server would only cost a recovery
	}
}

// ready waits until the server answers and makes the database.
func (p *Postgres) ready(ctx context.Context, child *process.Process) error {
	for {
		err := p.ensureDatabase(ctx)
		if err == nil {
			return nil
		}
		if child.Ended() {
			return fmt.Errorf("it ended: %w", child.Err())
		}
		if answer, ok := errors.AsType[*pgconn.PgError](err); ok && answer.Code != cannotConnectNow {
			return err
		}
		if !pause(ctx, 50*time.Millisecond) {
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// PID is the id of the server's first process, 0 when it does not run. All others are its children.
func (p *Postgres) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return pidOf(p.process)
}

func pidOf(p *process.Process) int {
	if p == nil || p.Ended() {
		return 0
	}
	return p.PID()
}

// Stop ends the server: open transactions are rolled back, the data is written. It returns once the server is gone.
func (p *Postgres) Stop(ctx context.Context) error {
	if child := p.release(); child != nil {
		return child.Stop(ctx, postgresSteps()...)
	}
	return nil
}

// Kill ends the server and all of its sessions as kill -9 does, to see what the service makes of it, and returns once the server
// is gone.
func (p *Postgres) Kill() {
	if child := p.release(); child != nil {
		child.KillTree(context.Background())
		<-child.Done()
	}
}

// Done is closed when the server that runs now has ended, wanted or not; nil, which blocks for ever, when none runs.
func (p *Postgres) Done() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process == nil {
		return nil
	}
	return p.process.Done()
}

func (p *Postgres) release() *process.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	child := p.process
	p.process = nil
	return child
}

func (p *Postgres) owns(child *process.Process) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process == child
}

// postgresSteps are fast shutdown, then immediate shutdown.
func postgresSteps() []process.Step {
	return []process.Step{{Signal: syscall.SIGINT, Grace: 15 * time.Second}, {Signal: syscall.SIGQUIT, Grace: 5 * time.Second}}
}

// stopStalePostgres stops a server left behind in home.
func stopStalePostgres(ctx context.Context, log *slog.Logger, home string) error {
	cluster := filepath.Join(home, "cluster")
	pidFile := filepath.Join(cluster, "postmaster.pid")
	pid := process.ReadPID(pidFile)
	if pid == 0 {
		return nil
	}
	err := process.StopStale(ctx, log, process.Stale{Name: "PostgreSQL", PID: pid, Words: []string{cluster}, Steps: postgresSteps()})
	if err != nil {
		return err
	}
	// The id may by now belong to another process, or to a zombie: PostgreSQL takes either for a running server and refuses to
	// start. The file of a dead process stays, because with it PostgreSQL makes sure that no backend of it survives.
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return nil
	}
	if err := os.Remove(pidFile); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

func (p *Postgres) ensureDatabase(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, p.urlOf(maintenanceDatabase))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var exists bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", p.database).Scan(&exists); err != nil {
		return err
	}
	if exists {
		return nil
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{p.database}.Sanitize())
	return err
}
