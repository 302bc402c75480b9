package process

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

// Stale is a child that an earlier process, killed without a chance to stop it, may have left behind.
type Stale struct {
	Name string
	PID  int
	// Words must all be in its command line: a process id alone may meanwhile belong to another process.
	Words []string
	Steps []Step
}

func (s Stale) isRunning(ctx context.Context) bool {
	if s.PID <= 1 {
		return false
	}
	line := commandLine(ctx, s.PID)
	for _, word := range s.Words {
		if !strings.Contains(line, word) {
			return false
		}
	}
	return line != ""
}

// StopStale ends a left-over child if it is still alive and really ours.
func StopStale(ctx context.Context, log *slog.Logger, s Stale) error {
	if !s.isRunning(ctx) {
		return nil
	}
	log.InfoContext(ctx, fmt.Sprintf("stopping %s left over from an earlier run (pid %d)", s.Name, s.PID))
	for _, step := range append(s.Steps, Step{syscall.SIGKILL, 5 * time.Second}) {
		if err := syscall.Kill(s.PID, step.Signal); err != nil {
			if !s.isRunning(ctx) {
				return nil
			}
			return fmt.Errorf("stop %s left over from an earlier run (pid %d): %w", s.Name, s.PID, err)
		}
		if s.waitUntilEnded(ctx, step.Grace) {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("%s left over from an earlier run (pid %d) cannot be stopped", s.Name, s.PID)
}

func (s Stale) waitUntilEnded(ctx context.Context, within time.Duration) bool {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for s.isRunning(ctx) {
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

// ReadPID reads the process id in the first line of a pid file, 0 when there is none.
func ReadPID(path string) int {
	text, err := os.ReadFile(path) //nolint:gosec // our own file
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, _ := strconv.Atoi(strings.TrimSpace(first))
	return pid
}

// WritePID writes a pid file.
func WritePID(path string, pid int) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(strconv.Itoa(pid)+"\n"), 0o600)
}
