package devstack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// command describes a child process before it is started. All paths are absolute.
type command struct {
	name string
	path string
	args []string
	env  []string
	dir  string
	log  string
	// credential is whom it runs as; nil: as this process.
	credential *syscall.Credential
	// orphan is the signal that the kernel sends it when this process is gone, where the kernel can (Linux).
	orphan syscall.Signal
}

// process is a running, or ended, child.
type process struct {
	name string
	cmd  *exec.Cmd
	done chan struct{} // closed once it has ended and has been reaped
	err  error         // how it ended; valid after done
}

// startProcess starts c in a process group of its own, so that Ctrl-C at the terminal reaches this process alone, which then stops
// its children in their order.
func startProcess(c command) (*process, error) {
	logFile, err := openLog(c.log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = logFile.Close() }()
	cmd := exec.Command(c.path, c.args...) //nolint:gosec,noctx // our own components; stop ends them in their own way, not a context's kill
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.env, c.dir, logFile, logFile
	cmd.SysProcAttr = childAttributes(c)

	p := &process{name: c.name, cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel's parent-death signal is tied to the thread that forked, not to the process: this thread has to stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- fmt.Errorf("start %s: %w", c.name, err)
			return
		}
		started <- nil
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// run starts c and waits until it has ended; at the end of ctx its whole group is killed.
func run(ctx context.Context, c command) error {
	p, err := startProcess(c)
	if err != nil {
		return err
	}
	return p.wait(ctx)
}

func (p *process) wait(ctx context.Context) error {
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		p.killGroup()
		<-p.done
		return ctx.Err()
	}
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// step is one attempt to end a process: a signal, and how long it may take to work.
type step struct {
	signal syscall.Signal
	grace  time.Duration
}

// stop goes through steps until the process has ended, and kills it when they are exhausted or ctx ends. It returns once the
// process is gone; the error says that it had to be killed.
func (p *process) stop(ctx context.Context, steps ...step) error {
	for _, s := range steps {
		if err := p.cmd.Process.Signal(s.signal); errors.Is(err, os.ErrProcessDone) {
			<-p.done
			return nil
		}
		timer := time.NewTimer(s.grace)
		select {
		case <-p.done:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		if p.ended() {
			return nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	p.killGroup()
	<-p.done
	return fmt.Errorf("%s did not stop when asked and was killed", p.name)
}

func (p *process) killGroup() {
	if p.ended() { // its id may be somebody else's by now
		return
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	_ = p.cmd.Process.Kill()
}

// pause waits for d and reports whether it passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// reportExit logs the end of a child that nobody has asked to stop: wanted tells whether it should still be running.
func reportExit(log *slog.Logger, p *process, logFile string, wanted func() bool) {
	<-p.done
	if wanted() {
		log.Error(p.name+" ended unexpectedly", "error", p.err, "log", logFile)
	}
}

// maxLog is the size in bytes beyond which a component's log is set aside (one generation) when the component starts.
const maxLog = 10 << 20

func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // our own file
}

// logTail returns what was written to the log since offset, at most its last lines, for an error message.
func logTail(path string, offset int64) string {
	file, err := os.Open(path) //nolint:gosec // our own file
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	const most = 4 << 10
	if info, err := file.Stat(); err == nil {
		if info.Size() < offset { // it was set aside meanwhile
			offset = 0
		}
		offset = max(offset, info.Size()-most)
	}
	text, err := io.ReadAll(io.NewSectionReader(file, offset, most))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n")
}

func logSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// environ is this process's environment without the variables for which drop is true, and with extra.
func environ(drop func(name string) bool, extra ...string) []string {
	var env []string
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !drop(name) {
			env = append(env, entry)
		}
	}
	return append(env, extra...)
}

// killTree kills the process and those that it has started, which may have groups of their own, as those of PostgreSQL's
// sessions do: what they are at in this moment they would bring to its end.
func (p *process) killTree(ctx context.Context) {
	if p.ended() {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGSTOP) // from now on it starts no more of them
	for _, child := range childrenOf(ctx, p.cmd.Process.Pid) {
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
	p.killGroup()
}
