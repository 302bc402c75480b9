package house

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"rihla/chaos/schedule"
)

// Process is one API or worker process. Its methods may be called from several goroutines.
type Process struct {
	part    schedule.Part
	command string
	binary  string
	env     []string
	log     string
	probe   string // answered with 200 once it is ready; "" for a worker, whose log says so
	clock   string // the file that says how wrong its clock is

	mu     sync.Mutex
	cmd    *exec.Cmd // nil: not running
	done   chan struct{}
	asked  bool  // to end
	offset int64 // of its log at the start
	exits  []string
	frozen bool // it was, once at least
}

func newProcess(h *House, part schedule.Part, command string, own map[string]string) *Process {
	name := strings.ReplaceAll(strings.ToLower(string(part)), " ", "-")
	p := &Process{
		part: part, command: command, binary: h.binary, log: filepath.Join(h.LogDir(), name+".log"), clock: filepath.Join(h.Dir, name+".clock"),
	}
	p.env = merged(h.env, own, map[string]string{"CHAOS_CLOCK": p.clock})

	if command == "api" {
		p.probe = "http://" + own["LISTEN_ADDR"] + "/readyz"
	}

	return p
}

// Start starts the process, unless it runs.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.cmd != nil {
		return nil
	}

	if err := os.MkdirAll(filepath.Dir(p.log), 0o700); err != nil {
		return err
	}

	out, err := os.OpenFile(p.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()

	if info, err := out.Stat(); err == nil {
		p.offset = info.Size()
	}

	cmd := exec.Command(p.binary, p.command) //nolint:noctx,gosec // our own binary; the harness ends it, not a context
	cmd.Env, cmd.Stdout, cmd.Stderr = p.env, out, out
	endWithParent(cmd)

	started := make(chan error, 1)
	done := make(chan struct{})

	go p.watch(cmd, started, done)

	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", p.part, err)
	}

	p.cmd, p.done, p.asked = cmd, done, false

	return nil
}

// watch starts the process and stays with it: the kernel ends it together with the thread that has started it.
func (p *Process) watch(cmd *exec.Cmd, started chan<- error, done chan<- struct{}) {
	stayOnThread()

	err := cmd.Start()
	started <- err

	if err != nil {
		return
	}

	err = cmd.Wait()

	p.mu.Lock()
	defer p.mu.Unlock()

	if !p.asked {
		p.exits = append(p.exits, fmt.Sprintf("%s at %s: %v; its log ends with: %s",
			p.part, time.Now().Format("15:04:05.000"), err, p.lastLine()))
	}

	p.cmd = nil

	close(done)
}

// Kill ends the process at once and waits until it is gone; false when it did not run.
func (p *Process) Kill() bool { return p.end(syscall.SIGKILL) }

// Stop asks the process to end and waits until it has; one that takes longer than it may is an exit of its own. It is false
// when it did not run.
func (p *Process) Stop() bool { return p.end(syscall.SIGTERM) }

// stopPatience is more than the 20 s that a stopping API gives its requests.
const stopPatience = 40 * time.Second

func (p *Process) end(s syscall.Signal) bool {
	p.mu.Lock()

	if p.cmd == nil {
		p.mu.Unlock()

		return false
	}

	p.asked = true
	done := p.done
	_ = p.cmd.Process.Signal(s)
	p.mu.Unlock()

	select {
	case <-done:
	case <-time.After(stopPatience):
		p.mu.Lock()
		p.exits = append(p.exits, string(p.part)+" did not end within "+stopPatience.String()+" of being asked to")

		if p.cmd != nil {
			_ = p.cmd.Process.Kill()
		}

		p.mu.Unlock()
		<-done
	}

	return true
}

// setClock puts the clock of the process wrong, from now on and for those that come after it; 0 puts it right.
func (p *Process) setClock(wrong time.Duration) error {
	if wrong == 0 {
		err := os.Remove(p.clock)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}

		return err
	}

	// Renamed into its place: who reads it in this moment finds the old one or the new one.
	next := p.clock + ".next"
	if err := os.WriteFile(next, []byte(wrong.String()), 0o600); err != nil {
		return err
	}

	return os.Rename(next, p.clock)
}

// signal sends a signal, if the process runs.
func (p *Process) signal(s syscall.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.cmd != nil && p.cmd.Process.Signal(s) == nil
}

// freeze stops the process from running.
func (p *Process) freeze() bool {
	frozen := p.signal(syscall.SIGSTOP)

	p.mu.Lock()
	defer p.mu.Unlock()

	p.frozen = p.frozen || frozen

	return frozen
}

func (p *Process) ready(ctx context.Context) bool {
	if p.probe != "" {
		return answers(ctx, p.probe)
	}

	p.mu.Lock()
	defer p.mu.Unlock()

	return p.cmd != nil && strings.Contains(p.since(), "worker polls")
}

// since is what the process has written since its last start.
func (p *Process) since() string {
	text, err := os.ReadFile(p.log)
	if err != nil || int64(len(text)) < p.offset {
		return ""
	}

	return string(text[p.offset:])
}

func (p *Process) lastLine() string {
	text := strings.TrimSpace(p.since())

	return text[strings.LastIndexByte(text, '\n')+1:]
}

func (p *Process) takeExits() []string {
	p.mu.Lock()
	defer p.mu.Unlock()

	exits := p.exits
	p.exits = nil

	return exits
}
