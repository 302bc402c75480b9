package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// World is what lanes run in: the tree, the tools, and what was proven before.
type World struct {
	Tree      *Tree
	Proofs    Proofs
	GoVersion string
	// All runs everything, proven or not.
	All bool
	// Bin is where tools are installed, Logs has a file for each lane.
	Bin, Logs string

	packages func() (*Packages, error)
	needs    map[string]func() error
}

// NewWorld reads the tree at root.
func NewWorld(ctx context.Context, root, cache string) (*World, error) {
	tree, err := ReadTree(ctx, root)
	if err != nil {
		return nil, err
	}

	version, err := output(ctx, root, "go", "version")
	if err != nil {
		return nil, err
	}

	w := &World{
		Tree: tree, Proofs: Proofs{Dir: cache}, GoVersion: strings.TrimSpace(version),
		Bin: filepath.Join(root, ".data", "ci-bin"), Logs: filepath.Join(root, ".data", "ci-logs"),
		packages: sync.OnceValues(func() (*Packages, error) { return ReadPackages(ctx, tree) }),
		needs:    map[string]func() error{},
	}

	for _, dir := range []string{w.Bin, w.Logs} {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // programs and logs
			return nil, err
		}
	}

	var one sync.Mutex // package managers do not like company

	for name, script := range setUp {
		w.needs[name] = sync.OnceValue(func() error {
			one.Lock()
			defer one.Unlock()

			return w.Command(ctx, os.Stdout, "bash", "-euc", script)
		})
	}

	return w, nil
}

// Need does a set-up step once.
func (w *World) Need(name string) error {
	if err := w.needs[name](); err != nil {
		return fmt.Errorf("set up %s: %w", name, err)
	}

	return nil
}

// Command runs a program in the root of the tree and writes what it prints to log. It is ended with all its children when ctx is.
func (w *World) Command(ctx context.Context, log io.Writer, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // what a lane declares
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = w.Tree.Root, log, log, w.Env()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second

	return cmd.Run()
}

// Env is the environment of commands. -trimpath keeps the path of the clone out of what is compiled, so that the next clone finds it
// in Go's cache.
func (w *World) Env() []string {
	return append(os.Environ(),
		"PATH="+w.Bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GOFLAGS=-buildvcs=false -trimpath",
		"GOBIN="+w.Bin,
		"TEMPORAL_CLI_DOWNLOAD=off", // what is run here is built from sources of the module proxy
	)
}
