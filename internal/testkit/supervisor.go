package testkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/peterldowns/pgtestdb"

	"rihla/internal/devstack"
)

const (
	// envSupervise names the meeting place's directory to a process that is to be a supervisor.
	envSupervise = "RIHLA_TESTKIT_SUPERVISE"
	envRoot      = "RIHLA_TESTKIT_ROOT"
	envIdle      = "RIHLA_TEST_IDLE"
	envPooler    = "RIHLA_TEST_POOLER"

	defaultIdle = 20 * time.Second
)

// A supervisor is the test binary started once more. It must take over before the tests' own main does, in every package that
// imports testkit and whether or not that package has a TestMain: forgetting a call there would run the tests inside themselves.
func init() { //nolint:gochecknoinits // see above
	dir := os.Getenv(envSupervise)
	if dir == "" {
		return
	}
	p := place{root: os.Getenv(envRoot), dir: dir, kind: serverKind(filepath.Base(dir))}
	// The processes that the supervisor starts are not to become one.
	_ = os.Unsetenv(envSupervise)
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := p.supervise(log); err != nil {
		log.Error(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

// spawn starts a supervisor in a session of its own, with none of this process's files: `go test` waits until its output is closed.
func (p place) spawn() (*spawned, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(p.logFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(self) //nolint:gosec,noctx // ourselves, to outlive this process
	cmd.Env = append(os.Environ(), envSupervise+"="+p.dir, envRoot+"="+p.root)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.root, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the supervisor: %w", err)
	}
	s := &spawned{pid: cmd.Process.Pid, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // what went wrong is in the state file or in the log
		close(s.done)
	}()
	return s, nil
}

// spawned is a supervisor that this process has started.
type spawned struct {
	pid  int
	done chan struct{} // closed when it has ended
}

func (s *spawned) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// server is what both kinds have in common.
type server interface {
	Done() <-chan struct{}
}

// supervise starts the server, tells the state file, and stops the server when there have been no clients for a while. It returns
// at once when another supervisor lives.
func (p place) supervise(log *slog.Logger) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	lock := flock.New(p.supervisorLock())
	defer func() { _ = lock.Close() }()
	lockCtx, cancel := context.WithTimeout(ctx, 2*time.Second) // those who only look hold the lock for a moment
	defer cancel()
	if _, err := lock.TryLockContext(lockCtx, lockRetry); errors.Is(err, context.DeadlineExceeded) {
		return nil
	} else if err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(p.stateFile()), os.Truncate(p.logFile(), 0)); err != nil {
		return err
	}

	running, said, halt, err := p.start(ctx, log)
	if err != nil {
		return errors.Join(err, p.write(state{PID: os.Getpid(), Error: err.Error()}))
	}
	clients := flock.New(p.clientsLock())
	defer func() { _ = clients.Close() }() // last, see watch
	defer halt()
	defer p.forget()
	said.PID = os.Getpid()
	if err := p.write(said); err != nil {
		return err
	}
	log.Info(string(p.kind) + " is running")
	return p.watch(ctx, log, clients, running)
}

// start starts the server of this kind; halt stops it and wipes its data.
func (p place) start(ctx context.Context, log *slog.Logger) (running server, said state, halt func(), err error) {
	// A supervisor that was killed has wiped nothing.
	if err := devstack.Reset(ctx, p.dataDir(), log); err != nil {
		return nil, state{}, nil, err
	}
	after := context.WithoutCancel(ctx) // a signal that ends the supervisor does not shorten the end
	wipe := func() {
		if err := devstack.Reset(after, p.dataDir(), nil); err != nil {
			log.Error(err.Error())
		}
	}
	if p.kind == kindTemporal {
		temporal, err := devstack.StartTemporal(ctx, devstack.TemporalOptions{
			DataDir: p.dataDir(), BinDir: binDir(p.root), InMemory: true, Headless: true, Log: log,
		})
		if err != nil {
			return nil, state{}, nil, err
		}
		return temporal, state{Address: temporal.Address()}, func() { temporal.Kill(); wipe() }, nil // nothing in it to be saved
	}
	postgres, err := devstack.StartPostgres(ctx, devstack.PostgresOptions{
		DataDir: p.dataDir(), BinDir: binDir(p.root), Throwaway: true, Log: log,
	})
	if err != nil {
		return nil, state{}, nil, err
	}
	halt = func() {
		if err := postgres.Stop(after); err != nil {
			log.Error(err.Error())
		}
		wipe()
	}
	said.Address = postgres.URL()
	if os.Getenv(envPooler) == "" {
		return postgres, said, halt, nil
	}
	pooler, err := postgres.StartPooler(ctx, log, devstack.FindPooler(), map[string]string{
		pgtestdb.DefaultRoleUsername: pgtestdb.DefaultRolePassword, ServiceRole: ServiceRole,
	})
	if err != nil {
		halt()
		return nil, state{}, nil, err
	}
	said.Pooler = pooler.Port()
	return postgres, said, func() { pooler.Stop(after); halt() }, nil
}

// watch returns when the server has ended, when a signal came, or when no client held the lock for the idle time: then watch
// holds the clients' lock, so that a new client waits until all is over and starts anew.
func (p place) watch(ctx context.Context, log *slog.Logger, clients *flock.Flock, running server) error {
	idle := idleTime()
	seen := time.Now()
	ticker := time.NewTicker(min(time.Second, idle/4+time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-running.Done():
			return fmt.Errorf("%s ended by itself", p.kind)
		case <-ctx.Done():
			log.Info("stopping on a signal")
			return nil
		}
		alone, err := clients.TryLock()
		switch {
		case err != nil:
			return err
		case !alone:
			seen = time.Now()
		case time.Since(seen) >= idle:
			log.Info("stopping: no test process used it for " + idle.String())
			return nil
		default:
			if err := clients.Unlock(); err != nil {
				return err
			}
		}
	}
}

// forget removes a state that is this process's and promises a server; one that tells of a failure is for the clients to read.
func (p place) forget() {
	if s, ok := p.read(); ok && s.PID == os.Getpid() && s.Error == "" {
		_ = os.Remove(p.stateFile())
	}
}

func idleTime() time.Duration {
	if idle, err := time.ParseDuration(os.Getenv(envIdle)); err == nil && idle > 0 {
		return idle
	}
	return defaultIdle
}
