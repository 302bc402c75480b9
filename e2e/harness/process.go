package harness

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/internal/devstack"
)

// Process is one process of the service, which a test may kill and start again.
type Process struct {
	tb        testing.TB
	name      string
	path      string
	args      []string
	env       map[string]string
	ready     func() bool // asked until it is true
	readyLine string      // or: waited for in the log

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{}
	log  buffer
}

// NewProgram makes a process of any program, which Start runs until the test's end; ready is asked until it is true.
func NewProgram(tb testing.TB, name, path string, args []string, env map[string]string, ready func() bool) *Process {
	tb.Helper()

	return &Process{tb: tb, name: name, path: path, args: args, env: env, ready: ready}
}

// startPatience is how long a process may take until it is ready.
const startPatience = 60 * time.Second

// Start runs the process and returns once it is ready.
func (p *Process) Start() {
	p.tb.Helper()
	p.Launch()
	p.AwaitReady()
}

// Launch runs the process and does not wait for it.
func (p *Process) Launch() {
	p.tb.Helper()

	p.log.reset()

	cmd := exec.Command(p.path, p.args...) //nolint:noctx,gosec // our own binary; the test ends it, not a context
	cmd.Stdout, cmd.Stderr = &p.log, &p.log
	// Nothing of the developer's own environment: what the service needs must be in env. A data race ends the process,
	// where it would only be a line in a log that nobody reads.
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.env["DATA_DIR"], "GORACE=halt_on_error=1"}

	for name, value := range p.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}

	dieWithTest(cmd)
	require.NoError(p.tb, cmd.Start())

	p.mu.Lock()
	done := make(chan struct{})
	p.cmd, p.done = cmd, done
	p.mu.Unlock()

	go func() {
		_ = cmd.Wait()

		close(done)
	}()

	p.tb.Cleanup(p.end)
}

// AwaitReady returns once the process is ready; one that ends instead fails the test.
func (p *Process) AwaitReady() {
	p.tb.Helper()

	p.mu.Lock()
	done := p.done
	p.mu.Unlock()

	ended := false

	require.Eventually(p.tb, func() bool {
		if ended = closed(done); ended {
			return true
		}

		if p.readyLine != "" {
			return strings.Contains(p.log.String(), p.readyLine)
		}

		return p.ready()
	}, startPatience, 20*time.Millisecond, "%s is not ready:\n%s", p.name, &p.log)
	require.False(p.tb, ended, "%s has ended:\n%s", p.name, &p.log)
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// end kills the process, and shows what it had to say when the test has failed.
func (p *Process) end() {
	p.Kill()

	if !p.tb.Failed() {
		return
	}

	for line := range strings.Lines(p.log.String()) {
		if strings.Contains(line, "level=ERROR") {
			p.tb.Logf("%s: %s", p.name, line)
		}
	}
}

// Setenv changes the environment of the process's next start; an empty value unsets.
func (p *Process) Setenv(name, value string) { p.env[name] = value }

// Kill ends the process at once, as kill -9 does, and waits until it is gone.
func (p *Process) Kill() { p.signal(syscall.SIGKILL) }

// Stop asks the process to end and waits until it has.
func (p *Process) Stop() { p.signal(syscall.SIGTERM) }

func (p *Process) signal(s os.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.cmd == nil {
		return
	}

	_ = p.cmd.Process.Signal(s)

	<-p.done
	p.cmd = nil
}

// Log is what the process has written since its last start.
func (p *Process) Log() string { return p.log.String() }

func (s *Stack) apiReady() bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/healthz", nil)
	if err != nil {
		return false
	}

	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}

	_ = answer.Body.Close()

	return answer.StatusCode == http.StatusOK
}

// Binary is the path of the built binary.
func Binary(tb testing.TB) string {
	tb.Helper()

	return build(tb)
}

// build makes the binary once per test process. Go's build cache makes the next time quick.
var build = func() func(testing.TB) string {
	var (
		once sync.Once
		path string
		err  error
		text []byte
	)

	return func(tb testing.TB) string {
		tb.Helper()
		once.Do(func() { path, text, err = compile() })
		require.NoError(tb, err, "%s", text)

		return path
	}
}()

func compile() (path string, text []byte, err error) {
	root, err := devstack.ModuleRoot()
	if err != nil {
		return "", nil, err
	}

	dir := filepath.Join(root, ".data", "bin")
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // programs, not secrets
		return "", nil, err
	}

	path = filepath.Join(dir, "rihla-e2e")
	cmd := exec.Command("go", "build", "-o", path, ".") //nolint:gosec,noctx // our own module

	if raceEnabled {
		path += "-race"
		cmd = exec.Command("go", "build", "-race", "-o", path, ".") //nolint:gosec,noctx // likewise
	}

	cmd.Dir = root
	text, err = cmd.CombinedOutput()

	return path, text, err
}

// buffer is a bytes.Buffer for several writers.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.b.String()
}

func (b *buffer) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.b.Reset()
}

func upper(s string) string { return strings.ToUpper(s) }
