package devstack

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stale is a child that an earlier process, killed without a chance to stop it, may have left behind.
type stale struct {
	name string
	pid  int
	// words must all be in its command line: a process id alone may meanwhile belong to anybody.
	words []string
	steps []step
}

func (s stale) alive(ctx context.Context) bool {
	if s.pid <= 1 {
		return false
	}
	line := commandLine(ctx, s.pid)
	for _, word := range s.words {
		if !strings.Contains(line, word) {
			return false
		}
	}
	return line != ""
}

// stopStale ends a left-over child if it is still alive and really ours.
func stopStale(ctx context.Context, log *slog.Logger, s stale) error {
	if !s.alive(ctx) {
		return nil
	}
	log.InfoContext(ctx, fmt.Sprintf("stopping %s left over from an earlier run (pid %d)", s.name, s.pid))
	for _, step := range append(s.steps, step{syscall.SIGKILL, 5 * time.Second}) {
		if err := syscall.Kill(s.pid, step.signal); err != nil {
			if !s.alive(ctx) {
				return nil
			}
			return fmt.Errorf("stop %s left over from an earlier run (pid %d): %w", s.name, s.pid, err)
		}
		if s.gone(ctx, step.grace) {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("%s left over from an earlier run (pid %d) cannot be stopped", s.name, s.pid)
}

func (s stale) gone(ctx context.Context, within time.Duration) bool {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for s.alive(ctx) {
		select {
		case <-ticker.C:
		case <-deadline.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// readPID reads the process id in the first line of a pid file, 0 when there is none.
func readPID(path string) int {
	text, err := os.ReadFile(path) //nolint:gosec // our own file
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, _ := strconv.Atoi(strings.TrimSpace(first))
	return pid
}

func writePID(path string, pid int) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strconv.Itoa(pid)+"\n"), 0o600)
}
