// Package rig runs the service from outside, as it is deployed: processes of the built binary, the sandbox gateway in front of
// them, and a client for the API. The end-to-end tests, the chaos harness and the benchmarks stand on it; product code never
// imports it.
package rig

import (
	"context"
	"fmt"
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
