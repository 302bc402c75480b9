// Package devstack runs the components that Rihla needs, PostgreSQL and Temporal, privately on this machine and without Docker:
// for `rihla dev`, `rihla demo` and the tests. Everything listens on 127.0.0.1 only and keeps its state in one
// data directory. It runs on Linux and macOS.
package devstack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sync/errgroup"

	"rihla/internal/process"
)

// DefaultDataDir is the data directory when DATA_DIR is not set.
const DefaultDataDir = ".data"

// Preferred ports. PostgreSQL's is far from the usual one, where a developer's own server is; Temporal's are the usual ones.
const (
	DefaultPostgresPort   = 54329
	DefaultTemporalPort   = 7233
	DefaultTemporalUIPort = 8233
)

// AnyPort as a port in Options asks for any free port.
const AnyPort = -1

// Options says what Start starts. The zero value starts both components in DefaultDataDir.
type Options struct {
	// DataDir holds all state. Default: DefaultDataDir.
	DataDir string
	// BinDir holds programs that were built or downloaded. Default: `bin/` in DataDir.
	BinDir string
	// DatabaseURL names a PostgreSQL that is already running; none is started then.
	DatabaseURL string
	// TemporalAddress names a Temporal that is already running (host:port); none is started then.
	TemporalAddress string
	// Ports on 127.0.0.1: 0 prefers the one of the last time, then the default, and falls back to a free one; AnyPort is any free one.
	PostgresPort, TemporalPort, TemporalUIPort int
	// Throwaway trades the safety of the data for speed: for tests.
	Throwaway bool
	// Cluster runs Temporal as a cluster on our PostgreSQL instead of as one dev server: StartCluster.
	Cluster bool
	// Headless leaves Temporal's web UI out.
	Headless bool
	// Log receives progress; nil: it is discarded.
	Log *slog.Logger
}

// Stack is what Start has started.
type Stack struct {
	// DatabaseURL is the connection string of the database `rihla`.
	DatabaseURL string
	// TemporalAddress is host:port of the gRPC frontend.
	TemporalAddress string
	// TemporalUIURL is the address of the web UI, "" when there is none of ours.
	TemporalUIURL string

	// Postgres is nil when Options.DatabaseURL was given.
	Postgres *Postgres
	// Temporal is nil when Options.TemporalAddress was given, and with Options.Cluster.
	Temporal *Temporal
	// Cluster is nil without Options.Cluster.
	Cluster *Cluster
	// Ports are those that the data directory's parts had the last time; a caller that starts further parts keeps their ports here, too.
	Ports *Ports

	lock *flock.Flock
}

// InUseError is returned when another process runs on the same data directory.
type InUseError struct {
	DataDir string
	PID     int // 0 when unknown
}

func (e *InUseError) Error() string {
	holder := "another process"
	if e.PID != 0 {
		holder = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("%s already runs on the data directory %s: stop it, or set DATA_DIR to another directory", holder, e.DataDir)
}

// Start starts PostgreSQL and Temporal side by side and returns once both answer. It locks the data directory until Close and
// returns *InUseError when another process holds it. When it fails, or ctx ends before it is done, nothing is left running;
// what ctx does later ends nothing: Close does.
func Start(ctx context.Context, o Options) (*Stack, error) {
	dataDir, err := makeDataDir(orDefault(o.DataDir, DefaultDataDir))
	if err != nil {
		return nil, err
	}
	lock, err := lockDataDir(dataDir)
	if err != nil {
		return nil, err
	}
	s := &Stack{DatabaseURL: o.DatabaseURL, TemporalAddress: o.TemporalAddress, Ports: openPorts(dataDir), lock: lock}
	group, groupCtx := errgroup.WithContext(ctx)
	if o.DatabaseURL == "" {
		group.Go(func() error { return s.startPostgres(groupCtx, dataDir, o) })
	}
	if o.TemporalAddress == "" && !o.Cluster {
		group.Go(func() error { return s.startTemporal(groupCtx, dataDir, o) })
	}
	err = group.Wait()
	if err == nil && o.Cluster {
		err = s.startCluster(ctx, dataDir, o)
	}
	if err != nil {
		stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		return nil, errors.Join(err, s.Close(stopCtx))
	}
	return s, nil
}

func (s *Stack) startPostgres(ctx context.Context, dataDir string, o Options) (err error) {
	s.Postgres, err = StartPostgres(ctx, PostgresOptions{
		DataDir: dataDir, BinDir: o.BinDir, Port: s.preferredPort("postgres", o.PostgresPort, DefaultPostgresPort),
		Database: "rihla", Throwaway: o.Throwaway, Log: o.Log,
	})
	if err != nil {
		return err
	}
	s.DatabaseURL = s.Postgres.URL()
	return s.Ports.Keep("postgres", s.Postgres.Port())
}

func (s *Stack) startTemporal(ctx context.Context, dataDir string, o Options) (err error) {
	s.Temporal, err = StartTemporal(ctx, TemporalOptions{
		DataDir: dataDir, BinDir: o.BinDir, Headless: o.Headless, Log: o.Log,
		Port:   s.preferredPort("temporal", o.TemporalPort, DefaultTemporalPort),
		UIPort: s.preferredPort("temporal-ui", o.TemporalUIPort, DefaultTemporalUIPort),
	})
	if err != nil {
		return err
	}
	s.TemporalAddress, s.TemporalUIURL = s.Temporal.Address(), s.Temporal.UIURL()
	return errors.Join(s.Ports.Keep("temporal", s.Temporal.port), s.Ports.Keep("temporal-ui", s.Temporal.uiPort))
}

// startCluster comes when PostgreSQL runs.
func (s *Stack) startCluster(ctx context.Context, dataDir string, o Options) (err error) {
	if s.Postgres == nil {
		return errors.New("a Temporal cluster needs a PostgreSQL that was started with it")
	}
	s.Cluster, err = StartCluster(ctx, ClusterOptions{DataDir: dataDir, BinDir: o.BinDir, Postgres: s.Postgres, Log: o.Log})
	if err == nil {
		s.TemporalAddress = s.Cluster.Address()
	}
	return err
}

// Close stops what Start has started, Temporal first, and gives the data directory free. The error tells of a component that had
// to be killed, because it did not stop in its time or because ctx ended; it is gone all the same.
func (s *Stack) Close(ctx context.Context) error {
	var errs []error
	if s.Temporal != nil {
		errs = append(errs, s.Temporal.Stop(ctx))
	}
	if s.Cluster != nil {
		errs = append(errs, s.Cluster.Stop(ctx))
	}
	if s.Postgres != nil {
		errs = append(errs, s.Postgres.Stop(ctx))
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

// lockDataDir takes the lock of a data directory. The kernel drops a lock when its holder ends, however it ends: whether the
// directory is in use is decided by the lock, and the process id in it is for messages only.
func lockDataDir(dataDir string) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(dataDir, "dev.lock"))
	free, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	if !free {
		return nil, &InUseError{DataDir: dataDir, PID: lockHolder(lock)}
	}
	if err := os.WriteFile(lock.Path(), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// lockHolder is the process id that the last holder has written, 0 when there is none.
func lockHolder(lock *flock.Flock) int {
	text, err := os.ReadFile(lock.Path())
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// lockRetry is how often a waiting lock tries again: flock cannot be interrupted by a context.
const lockRetry = 50 * time.Millisecond

// waitForLock takes the lock as soon as no other process has it. Lock files are never deleted: a lock on a deleted file would
// exclude no other process.
func waitForLock(ctx context.Context, path string) (*flock.Flock, error) {
	lock := flock.New(path)
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		return nil, fmt.Errorf("wait for the lock %s: %w", path, err)
	}
	return lock, nil
}

// Reset wipes the state in a data directory: database, Temporal's history, mails, media, keys and logs. Built and downloaded
// programs stay, and so does anything that is not ours. It stops servers that a killed process left behind, and returns
// *InUseError while another process runs on the directory. A directory that does not exist is clean.
func Reset(ctx context.Context, dataDir string, log *slog.Logger) error {
	log = orDiscard(log)
	dataDir, err := filepath.Abs(orDefault(dataDir, DefaultDataDir))
	if err != nil {
		return err
	}
	if dataDir, err = filepath.EvalSymlinks(dataDir); os.IsNotExist(err) {
		return nil
	} else if err != nil {
		return err
	}
	lock, err := lockDataDir(dataDir)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	homes := []string{filepath.Join(dataDir, "postgres")}
	if recorded := recordedHome(dataDir); recorded != "" {
		homes = append(homes, recorded)
	}
	for _, home := range homes {
		if err := stopStalePostgres(ctx, log, home); err != nil {
			return err
		}
	}
	if err := stopStaleTemporal(ctx, log, dataDir); err != nil {
		return err
	}
	var errs []error
	for _, name := range stateNames {
		errs = append(errs, os.RemoveAll(filepath.Join(dataDir, name)))
	}
	for _, home := range homes {
		errs = append(errs, os.RemoveAll(home))
	}
	if err := errors.Join(append(errs, os.RemoveAll(filepath.Join(dataDir, locationFile)))...); err != nil {
		return fmt.Errorf("reset %s: %w", dataDir, err)
	}
	log.InfoContext(ctx, "state in "+dataDir+" wiped")
	return nil
}

// stateNames is everything of ours in a data directory besides PostgreSQL, the lock and the programs. Names, not "all the rest":
// a DATA_DIR that points to the wrong place must not delete other files.
var stateNames = []string{"temporal", "sandbox", "exports", "outbox", "media", "keys", "logs", "run"}

// makeDataDir creates the directory, for its owner only, and returns its absolute path without links.
func makeDataDir(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no data directory given")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(abs, "run"), 0o700); err != nil {
		return "", fmt.Errorf("create the data directory: %w", err)
	}
	return filepath.EvalSymlinks(abs)
}

func (s *Stack) preferredPort(name string, asked, usual int) int {
	switch asked {
	case 0:
		return s.Ports.Prefer(name, usual)
	case AnyPort:
		return 0
	default:
		return asked
	}
}

func orDefault(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

// pause waits for d and reports whether it passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// reportExit logs the unexpected end of a child: wanted tells whether it should still be running.
func reportExit(log *slog.Logger, p *process.Process, logFile string, wanted func() bool) {
	<-p.Done()
	if wanted() {
		log.Error(p.Name()+" ended unexpectedly", "error", p.Err(), "log", logFile)
	}
}
