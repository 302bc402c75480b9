package harness

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rihla/e2e/harness/sources"
	"rihla/e2e/rig"
	"rihla/internal/devstack"
	"rihla/internal/process"
)

// Process is one process of the service, which a test may kill and start again.
type Process struct {
	*process.Program

	tb testing.TB
}

// NewProgram makes a process of any program, which Start runs until the test's end; ready is asked until it is true.
func NewProgram(tb testing.TB, name, path string, args []string, env map[string]string, ready func() bool) *Process {
	tb.Helper()

	return supervised(tb, &process.Program{
		Command:  process.Command{Name: name, Path: path, Args: args, Log: filepath.Join(tb.TempDir(), name+".log"), Orphan: syscall.SIGKILL},
		Settings: env, Probe: func(context.Context) bool { return ready() },
	})
}

// supervised ends a program with the test, and shows what it had to say when the test has failed.
func supervised(tb testing.TB, p *process.Program) *Process {
	tb.Helper()
	tb.Cleanup(func() {
		p.Kill()

		if !tb.Failed() {
			return
		}

		for line := range strings.Lines(p.Log()) {
			if strings.Contains(line, "level=ERROR") {
				tb.Logf("%s: %s", p.Name, line)
			}
		}
	})

	return &Process{Program: p, tb: tb}
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
	require.NoError(p.tb, p.Program.Start())
}

// AwaitReady returns once the process is ready; one that ends instead fails the test.
func (p *Process) AwaitReady() {
	p.tb.Helper()

	ctx, cancel := context.WithTimeout(context.Background(), startPatience)
	defer cancel()

	require.NoError(p.tb, p.Await(ctx))
}

// Binary is the path of the built binary, which is built once per test process.
func Binary(tb testing.TB) string {
	tb.Helper()

	path, err := build()
	require.NoError(tb, err)

	return path
}

var build = sync.OnceValues(func() (string, error) {
	root, err := devstack.ModuleRoot()
	if err != nil {
		return "", err
	}

	if err := sources.Note(context.Background(), root, "rihla"); err != nil {
		return "", err
	}

	if raceEnabled {
		return rig.Build(context.Background(), "rihla-e2e-race", "-race")
	}

	return rig.Build(context.Background(), "rihla-e2e")
})
