// Package rig runs the service from outside, as it is deployed: processes of the built binary, the sandbox gateway in front of
// them, and a client for the API. The end-to-end tests, the chaos harness and the benchmarks stand on it; product code never
// imports it.
package rig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"rihla/internal/devstack"
)

// BinDir is where built programs are kept between runs, ours and Temporal's.
func BinDir() (string, error) {
	root, err := devstack.ModuleRoot()

	return filepath.Join(root, devstack.DefaultDataDir, "bin"), err
}

// Build builds the service as it is now, with flags of `go build`, and returns the path of the binary with the name in BinDir.
// Go's build cache makes the next time quick.
func Build(ctx context.Context, name string, flags ...string) (string, error) {
	dir, err := BinDir()
	if err != nil {
		return "", err
	}

	path := filepath.Join(dir, name)
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build"}, flags...), "-o", path, "rihla")...) //nolint:gosec // our own module
	cmd.Dir = filepath.Dir(filepath.Dir(dir))

	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the service: %w\n%s", err, text)
	}

	return path, nil
}

// BuildAt builds the service as it was at a commit of this clone, and returns the path of the binary in BinDir. One that is there is kept.
func BuildAt(ctx context.Context, commit, name string, flags ...string) (string, error) {
	dir, err := BinDir()
	if err != nil {
		return "", err
	}

	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}

	tree, err := os.MkdirTemp("", "rihla-release-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tree)

	draft := fmt.Sprintf("%s.%d", path, os.Getpid()) // whole or not at all
	defer os.Remove(draft)

	script := `git -C "$0" archive "$1" | tar -x -C "$2" && cd "$2" && shift 2 && go build "$@" rihla`
	args := append([]string{"-euo", "pipefail", "-c", script, filepath.Dir(filepath.Dir(dir)), commit, tree}, append(flags, "-o", draft)...)

	if text, err := exec.CommandContext(ctx, "bash", args...).CombinedOutput(); err != nil { //nolint:gosec // a commit of ours
		return "", fmt.Errorf("build the service as it was at %s: %w\n%s", commit, err, text)
	}

	return path, os.Rename(draft, path)
}
