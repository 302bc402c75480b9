// Package sources makes `go test` notice a change of a program that a test builds and runs.
package sources

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Note opens every directory that the program pkg of the module at root is built from, embedded files included. `go test` keeps
// the result of a package that has not changed; it knows what a test opens, and not what a `go build` in a child process reads.
// Without Note a suite that only runs the built service would pass from the cache after a change to that service.
func Note(ctx context.Context, root, pkg string) error {
	dirs, err := Of(ctx, root, pkg)
	if err != nil {
		return err
	}

	for _, dir := range dirs {
		if _, err := os.ReadDir(dir); err != nil {
			return fmt.Errorf("note the sources of %s: %w", pkg, err)
		}
	}

	return nil
}

// Of lists the directories that the program pkg of the module at root is built from, without those of other modules, sorted.
func Of(ctx context.Context, root, pkg string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Dir,Standard,Module,EmbedFiles", pkg) //nolint:gosec // a package of ours
	cmd.Dir = root

	var complaint bytes.Buffer

	cmd.Stderr = &complaint

	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the sources of %s: %w: %s", pkg, err, complaint.Bytes())
	}

	var dirs []string

	for packages := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			Dir        string   `json:"Dir"`
			Standard   bool     `json:"Standard"`
			EmbedFiles []string `json:"EmbedFiles"`
			Module     *struct {
				Main bool `json:"Main"`
			} `json:"Module"`
		}

		switch err := packages.Decode(&p); {
		case errors.Is(err, io.EOF):
			slices.Sort(dirs)

			return append([]string{root}, slices.Compact(dirs)...), nil // go.mod and go.sum are in the root
		case err != nil:
			return nil, fmt.Errorf("list the sources of %s: %w", pkg, err)
		case p.Standard || p.Module == nil || !p.Module.Main:
			continue
		}

		dirs = append(dirs, p.Dir)
		for _, file := range p.EmbedFiles {
			dirs = append(dirs, filepath.Dir(filepath.Join(p.Dir, file)))
		}
	}
}
