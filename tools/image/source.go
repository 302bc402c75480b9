package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// source is what an image is built from.
type source struct {
	root    string
	commit  string
	time    time.Time // of the commit: every file of the image is of this moment
	version string    // of the release that the commit belongs to
}

var errModified = errors.New("the tree differs from its commit, so that the image could not be built again: commit first")

func sourceOf(ctx context.Context, root string) (source, error) {
	s := source{root: root}

	changes, err := s.git(ctx, "status", "--porcelain")
	if err != nil {
		return s, err
	}

	if changes != "" {
		return s, fmt.Errorf("%w\n%s", errModified, changes)
	}

	line, err := s.git(ctx, "log", "-1", "--format=%H %ct")
	if err != nil {
		return s, err
	}

	commit, at, _ := strings.Cut(line, " ")

	seconds, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return s, err
	}

	s.commit, s.time = commit, time.Unix(seconds, 0).UTC()

	return s, s.readVersion()
}

// cloned is the source in a clone of its own: Go notes the commit in programs that are built in one, and not in all work trees.
func (s source) cloned(ctx context.Context, dir string) (source, error) {
	if _, err := s.git(ctx, "clone", "--quiet", "--shared", ".", dir); err != nil {
		return s, err
	}

	s.root = dir

	return s, nil
}

func (s *source) git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", s.root}, args...)...).Output() //nolint:gosec // commands of this file
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}

	return strings.TrimSpace(string(out)), nil
}

// readVersion reads the version of the release under way, as `rihla version` prints it.
func (s *source) readVersion() error {
	file, err := os.ReadFile(filepath.Join(s.root, "migrations", "releases.yml"))
	if err != nil {
		return err
	}

	var releases []struct {
		Version string `yaml:"version"`
	}

	if err := yaml.Unmarshal(file, &releases); err != nil {
		return err
	}

	s.version = releases[len(releases)-1].Version

	return nil
}

// compile builds the production program. No path of this machine and no setting of its environment gets into it.
func (s *source) compile(ctx context.Context, arch, program string) error {
	build := exec.CommandContext(ctx, "go", "build", "-o", program, //nolint:gosec // a file in a directory of our own
		"-tags=production", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -buildid=", ".")
	build.Dir, build.Stderr = s.root, os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOFLAGS=", "GOWORK=off", "GOAMD64=v1", "GOARM64=v8.0")

	return build.Run()
}

// labels are the image's, and the annotations of its index.
func (s *source) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       "rihla",
		"org.opencontainers.image.description": "Payments and provider backend of a travel-booking platform",
		"org.opencontainers.image.version":     s.version,
		"org.opencontainers.image.revision":    s.commit,
		"org.opencontainers.image.created":     s.time.Format(time.RFC3339),
	}
}
