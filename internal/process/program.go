package process

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Program is a program that is ended and started again: one process at a time, and one log of them all. Its fields are set
// before the first start. Its methods may be called from several goroutines.
type Program struct {
	// Command says what to start; its Env comes from Settings.
	Command

	// Settings are the whole environment of the next process: Setenv.
	Settings map[string]string
	// ReadyLine is what its log says once it is ready.
	ReadyLine string
	// Probe reports whether it is ready, when there is no ReadyLine.
	Probe func(ctx context.Context) bool

	mu      sync.Mutex
	process *Process          // the last one; nil before the first start
	asked   map[*Process]bool // to end; of those whose end watch has not seen yet
	exits   []string
	frozen  bool // once at least
}

// Start starts the program, unless it runs. It does not wait until the program is ready.
func (p *Program) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process != nil && !p.process.Ended() {
		return nil
	}
	c := p.Command
	c.Env = Entries(p.Settings)
	child, err := Start(c)
	if err != nil {
		return err
	}
	p.process = child
	go p.watch(child)
	return nil
}

// watch notes the end of a process that was not asked to end.
func (p *Program) watch(child *Process) {
	<-child.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked[child] {
		delete(p.asked, child)
		return
	}
	tail := LogTail(p.Command.Log, child.offset)
	p.exits = append(p.exits, fmt.Sprintf("%s at %s: %v; its log ends with: %s",
		p.Name, time.Now().Format("15:04:05.000"), child.Err(), tail[strings.LastIndexByte(tail, '\n')+1:]))
}

// Exits takes the notes of the times that a process ended without being asked to, or not when it was asked.
func (p *Program) Exits() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	exits := p.exits
	p.exits = nil
	return exits
}

// Setenv changes the environment of the next start; an empty value unsets.
func (p *Program) Setenv(name, value string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Settings[name] = value
}

// SetPath changes what the next start runs.
func (p *Program) SetPath(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Path = path
}

// Kill ends the process at once, as kill -9 does, and waits until it is gone; false when it did not run.
func (p *Program) Kill() bool {
	child := p.ask()
	if child == nil {
		return false
	}
	child.KillGroup()
	<-child.Done()
	return true
}

// stopPatience is more than the 20 s that a stopping API gives its requests.
const stopPatience = 40 * time.Second

// Stop asks the process to end and waits until it has; one that takes longer than it may is killed, which is an exit of its own.
// It is false when the program did not run.
func (p *Program) Stop() bool {
	child := p.ask()
	if child == nil {
		return false
	}
	if err := child.Stop(context.Background(), Step{syscall.SIGTERM, stopPatience}); err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.exits = append(p.exits, err.Error())
	}
	return true
}

// ask is the process that runs, from now on asked to end; nil when none runs.
func (p *Program) ask() *Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process == nil || p.process.Ended() {
		return nil
	}
	if p.asked == nil {
		p.asked = map[*Process]bool{}
	}
	p.asked[p.process] = true
	return p.process
}

// Freeze stops the process from running until Thaw; false when it does not run.
func (p *Program) Freeze() bool {
	hit := p.signal(syscall.SIGSTOP)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = p.frozen || hit
	return hit
}

// Thaw has a frozen process run again.
func (p *Program) Thaw() { p.signal(syscall.SIGCONT) }

// WasFrozen reports whether the program ever was.
func (p *Program) WasFrozen() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frozen
}

func (p *Program) signal(s syscall.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process != nil && p.process.cmd.Process.Signal(s) == nil
}

// PID is the id of the last process.
func (p *Program) PID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process.PID()
}

// Running reports whether a process runs.
func (p *Program) Running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process != nil && !p.process.Ended()
}

// Ready reports whether the process runs and is ready.
func (p *Program) Ready(ctx context.Context) bool {
	if !p.Running() {
		return false
	}
	if p.ReadyLine != "" {
		return strings.Contains(p.Log(), p.ReadyLine)
	}
	return p.Probe(ctx)
}

// Await returns once the process is ready. The error tells of one that has ended instead, or that ctx has.
func (p *Program) Await(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !p.Ready(ctx) {
		if !p.Running() {
			return fmt.Errorf("%s has ended:\n%s", p.Name, p.Log())
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w\n%s", p.Name, ctx.Err(), p.Log())
		}
	}
	return nil
}

// Log is what the process has written since the last start.
func (p *Program) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process == nil {
		return ""
	}
	file, err := os.Open(p.Command.Log)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(p.process.offset, io.SeekStart); err != nil {
		return ""
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return ""
	}
	return string(text)
}
