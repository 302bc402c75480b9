package devstack

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
)

var (
	moduleLine = regexp.MustCompile(`(?m)^module rihla\s*$`)
	cliVersion = regexp.MustCompile(`(?m)^\s*(?:require\s+)?github\.com/temporalio/cli\s+(v\S+)`)
)

// ErrNoModule is returned by ModuleRoot outside the source tree.
var ErrNoModule = errors.New("no go.mod of rihla in this directory or above it")

// ModuleRoot is the directory of the source tree, found by walking up from the working directory.
func ModuleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod")) //nolint:gosec // the name is fixed
		if err == nil && moduleLine.Match(text) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ErrNoModule
		}
		dir = parent
	}
}

// pinnedCLI is the version of the Temporal CLI that tools/go.mod asks for, "" when it cannot be read.
func pinnedCLI(root string) string {
	text, err := os.ReadFile(filepath.Join(root, "tools", "go.mod")) //nolint:gosec // the name is fixed
	if err != nil {
		return ""
	}
	match := cliVersion.FindSubmatch(text)
	if match == nil {
		return ""
	}
	return string(match[1])
}
