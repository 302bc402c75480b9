// Package process starts programs, ends them in the way that suits each, and sees to it that they do not outlive the process that
// has started them: for devstack, whose servers are part of the product's `dev`, and for what runs the service from outside.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Command describes a child process before it is started. All paths are absolute.
type Command struct {
	Name string // in messages
	Path string
	Args []string
	Env  []string
	Dir  string
	Log  string // the file to which its output is added
	// Credential is whom it runs as; nil: as this process.
	Credential *syscall.Credential
	// Orphan is the signal that the kernel sends it when this process is gone, where the kernel can (Linux).
	Orphan syscall.Signal
}

// Process is a running, or ended, child.
type Process struct {
	name   string
	cmd    *exec.Cmd
	offset int64         // of its log when it began
	done   chan struct{} // closed once it has ended and has been reaped
	err    error         // how it ended; valid after done
}

// Start starts c in a process group of its own, so that Ctrl-C at the terminal reaches this process alone, which then stops
// its children in their order.
func Start(c Command) (*Process, error) {
	logFile, err := openLog(c.Log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = logFile.Close() }()
	cmd := exec.Command(c.Path, c.Args...) //nolint:gosec,noctx // our own components; Stop ends them in their own way, not a context's kill
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = c.Env, c.Dir, logFile, logFile
	cmd.SysProcAttr = childAttributes(c)

	p := &Process{name: c.Name, cmd: cmd, offset: LogSize(c.Log), done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel's parent-death signal is tied to the thread that forked, not to the process: this thread has to stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := cmd.Start(); err != nil {
			started <- fmt.Errorf("start %s: %w", c.Name, err)
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

// Run starts c and waits until it has ended; at the end of ctx its whole group is killed.
func Run(ctx context.Context, c Command) error {
	p, err := Start(c)
	if err != nil {
		return err
	}
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		p.KillGroup()
		<-p.done
		return ctx.Err()
	}
}

// Name is that of the command.
func (p *Process) Name() string { return p.name }

// PID is the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed once the process has ended and has been reaped.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is how the process ended, nil for a success; it is valid after Done.
func (p *Process) Err() error { return p.err }

// Ended reports whether the process is gone.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Step is one attempt to end a process: a signal, and how long it may take to work.
type Step struct {
	Signal syscall.Signal
	Grace  time.Duration
}

// Stop goes through steps until the process has ended, and kills it when they are exhausted or ctx ends. It returns once the
// process is gone; the error says that it had to be killed.
func (p *Process) Stop(ctx context.Context, steps ...Step) error {
	for _, s := range steps {
		if err := p.cmd.Process.Signal(s.Signal); errors.Is(err, os.ErrProcessDone) {
			<-p.done
			return nil
		}
		timer := time.NewTimer(s.Grace)
		select {
		case <-p.done:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		if p.Ended() {
			return nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	p.KillGroup()
	<-p.done
	return fmt.Errorf("%s did not stop when asked and was killed", p.name)
}

// KillGroup kills the process and those of its group; Done tells when it is gone.
func (p *Process) KillGroup() {
	if p.Ended() { // its id may be another process's by now
		return
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	_ = p.cmd.Process.Kill()
}

// KillTree kills the process and those that it has started, which may have groups of their own, as those of PostgreSQL's
// sessions do: left running, they would finish their current statement.
func (p *Process) KillTree(ctx context.Context) {
	if p.Ended() {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGSTOP) // from now on it starts no more of them
	for _, child := range childrenOf(ctx, p.cmd.Process.Pid) {
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
	p.KillGroup()
}
