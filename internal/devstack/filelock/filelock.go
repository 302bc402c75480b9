// Package filelock is advisory file locking between processes (flock). The kernel drops a lock when its holder ends, however it
// ends, so a lock never goes stale: that is why devstack and testkit decide "is somebody there?" by locks and not by pid files.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// pollEvery is how often a waiting lock tries again: flock cannot be interrupted by a context.
const pollEvery = 50 * time.Millisecond

// File is an open lock file. Lock files are never deleted: a lock on a deleted file would exclude nobody.
type File struct {
	file *os.File
}

// Open opens the lock file at path, creating it if needed, without locking it.
func Open(path string) (*File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the caller's own lock
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	return &File{file: file}, nil
}

// TryExclusive takes the lock for this process alone and reports false when another process holds it in any way.
func (f *File) TryExclusive() (bool, error) { return f.try(syscall.LOCK_EX) }

// TryShared takes the lock together with other sharers and reports false when a process holds it exclusively.
func (f *File) TryShared() (bool, error) { return f.try(syscall.LOCK_SH) }

func (f *File) try(how int) (bool, error) {
	for {
		err := syscall.Flock(int(f.file.Fd()), how|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, fmt.Errorf("lock %s: %w", f.file.Name(), err)
		}
	}
}

// Exclusive waits for TryExclusive to succeed, or for the end of ctx.
func (f *File) Exclusive(ctx context.Context) error { return f.wait(ctx, f.TryExclusive) }

// Shared waits for TryShared to succeed, or for the end of ctx.
func (f *File) Shared(ctx context.Context) error { return f.wait(ctx, f.TryShared) }

func (f *File) wait(ctx context.Context, try func() (bool, error)) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		if ok, err := try(); ok || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for the lock %s: %w", f.file.Name(), ctx.Err())
		}
	}
}

// Unlock gives the lock back and keeps the file open.
func (f *File) Unlock() error {
	return syscall.Flock(int(f.file.Fd()), syscall.LOCK_UN)
}

// Close gives the lock back.
//
// It gives the lock back first: a child process that is being started at this moment has a copy of the descriptor, which would
// keep the lock until the child's program runs.
func (f *File) Close() {
	_ = f.Unlock()
	_ = f.file.Close() // closing a descriptor that was not written to cannot lose anything
}

// WritePID stores this process's id in the file, for people and for messages to those who are refused.
func (f *File) WritePID() error {
	if err := f.file.Truncate(0); err != nil {
		return err
	}
	_, err := f.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// PID is the id written by the last holder, 0 when there is none. It says who, not whether: only the lock says whether.
func (f *File) PID() int {
	text, err := os.ReadFile(f.file.Name())
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}
