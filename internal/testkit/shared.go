package testkit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"rihla/internal/devstack"
)

// serverKind is one of the two shared servers.
type serverKind string

const (
	kindPostgres serverKind = "postgres"
	kindTemporal serverKind = "temporal"
)

// patience is how long a test waits for a server: Temporal may have to be built first, beside the compiler.
const patience = 20 * time.Minute

// lockRetry is how often a waiting lock tries again.
const lockRetry = 50 * time.Millisecond

// place is where the test processes of one user and one source tree meet over one kind of server.
//
//	clients.lock     held shared by every test process for its lifetime; exclusively by a supervisor that ends
//	supervisor.lock  held by the living supervisor
//	state.json       what the supervisor has to say; means nothing unless supervisor.lock is held
//
// The kernel drops a lock when its holder ends, however it ends, and lock files are never deleted: so a lock is never stale.
type place struct {
	root string // of the module
	dir  string
	kind serverKind
}

func (p place) clientsLock() string    { return filepath.Join(p.dir, "clients.lock") }
func (p place) supervisorLock() string { return filepath.Join(p.dir, "supervisor.lock") }
func (p place) stateFile() string      { return filepath.Join(p.dir, "state.json") }
func (p place) logFile() string        { return filepath.Join(p.dir, "supervisor.log") }
func (p place) dataDir() string        { return filepath.Join(p.dir, "data") }

// state is written by a supervisor once its server answers, or when it has given up.
type state struct {
	PID     int    `json:"pid"`
	Address string `json:"address,omitempty"` // URL of PostgreSQL, host:port of Temporal
	Pooler  int    `json:"pooler,omitempty"`  // the port of a pooler in front of PostgreSQL
	Error   string `json:"error,omitempty"`
}

// meetingPlace creates the directories of the present user and source tree.
func meetingPlace(k serverKind) (place, error) {
	root, err := devstack.ModuleRoot()
	if err != nil {
		return place{}, err
	}
	sum := sha256.Sum256([]byte(root))
	top := filepath.Join(scratchDir(), fmt.Sprintf("rihla-test-%d-%s", os.Geteuid(), hex.EncodeToString(sum[:6])))
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711 // PostgreSQL runs as another user then, and has to pass
	}
	for _, dir := range []string{top, filepath.Join(top, string(k))} {
		if err := os.Mkdir(dir, mode); err != nil && !os.IsExist(err) {
			return place{}, err
		}
		info, err := os.Lstat(dir)
		if err != nil {
			return place{}, err
		}
		// The directory above is open to all, and the name can be guessed.
		if !info.IsDir() || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
			return place{}, fmt.Errorf("%s is not a directory of ours: remove it", dir)
		}
	}
	return place{root: root, dir: filepath.Join(top, string(k)), kind: k}, nil
}

// membership is this process's share in a server: the open lock lives as long as the process does.
type membership struct {
	once    sync.Once
	clients *flock.Flock
	address string
	pooler  int
	err     error
}

// memberships is per process by nature: the kernel ties the locks to the process, and all its tests share them.
var memberships = map[serverKind]*membership{kindPostgres: {}, kindTemporal: {}}

// shared returns the address of the shared server, started if needed.
func shared(tb testing.TB, k serverKind) string {
	tb.Helper()
	m := memberships[k]
	m.once.Do(func() {
		var p place
		if p, m.err = meetingPlace(k); m.err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		var said state
		m.clients, said, m.err = p.join(ctx, slog.New(slog.NewTextHandler(os.Stderr, nil)))
		m.address, m.pooler = said.Address, said.Pooler
	})
	if m.err != nil {
		tb.Fatalf("testkit: %s: %v", k, m.err)
	}
	return m.address
}

// join registers this process as a client and returns where the server is once it answers. The server stays up at least until
// the returned lock is closed.
func (p place) join(ctx context.Context, log *slog.Logger) (*flock.Flock, state, error) {
	clients := flock.New(p.clientsLock())
	// From here on no supervisor ends; one that is about to ends first.
	if _, err := clients.TryRLockContext(ctx, lockRetry); err != nil {
		return nil, state{}, fmt.Errorf("wait for the lock %s: %w", clients, err)
	}
	said, err := p.await(ctx, log)
	if err != nil {
		return nil, state{}, errors.Join(err, clients.Close())
	}
	return clients, said, nil
}

// await waits for a living supervisor's server, starting a supervisor whenever there is none. Several processes may do so at once:
// all but one of the supervisors find the lock taken and end.
func (p place) await(ctx context.Context, log *slog.Logger) (state, error) {
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	report := time.NewTicker(5 * time.Second)
	defer report.Stop()
	var mine *spawned
	for attempts := 0; ; {
		alive, err := p.supervised()
		if err != nil {
			return state{}, err
		}
		said, ok := p.read()
		switch {
		case alive && ok && said.Error == "" && processExists(said.PID):
			return said, nil
		case !alive && ok && said.Error != "" && mine != nil && said.PID == mine.pid:
			return state{}, errors.New(said.Error)
		case !alive && (mine == nil || mine.ended()):
			if attempts++; attempts > 5 {
				return state{}, fmt.Errorf("the supervisor keeps ending; see %s", p.logFile())
			}
			if mine, err = p.spawn(); err != nil {
				return state{}, err
			}
		}
		select {
		case <-poll.C:
		case <-report.C:
			log.Info("testkit: waiting for " + string(p.kind) + ": " + p.lastWord())
		case <-ctx.Done():
			return state{}, fmt.Errorf("%w; see %s", ctx.Err(), p.logFile())
		}
	}
}

// supervised reports whether a supervisor lives.
func (p place) supervised() (bool, error) {
	lock := flock.New(p.supervisorLock())
	free, err := lock.TryRLock()
	return !free, errors.Join(err, lock.Close())
}

func (p place) read() (state, bool) {
	var s state
	text, err := os.ReadFile(p.stateFile())
	if err != nil || json.Unmarshal(text, &s) != nil {
		return state{}, false
	}
	return s, true
}

// write replaces the state in one step, so that a reader never sees half of it.
func (p place) write(s state) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	draft := p.stateFile() + "." + strconv.Itoa(os.Getpid())
	if err := os.WriteFile(draft, text, 0o600); err != nil {
		return err
	}
	return os.Rename(draft, p.stateFile())
}

func (p place) lastWord() string {
	text, err := os.ReadFile(p.logFile())
	if err != nil {
		return "starting"
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

func processExists(pid int) bool { return syscall.Kill(pid, 0) == nil }
