package env

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rihla/chaos/schedule"
	"rihla/internal/process"
)

// Process is one API or worker process, whose clock can be put wrong. Its methods may be called from several goroutines.
type Process struct {
	*process.Program

	address string // of an API
	clock   string // the file that says how wrong its clock is
}

func newProcess(e *Environment, part schedule.Part, p *process.Program) *Process {
	clock := filepath.Join(e.Dir, strings.ReplaceAll(strings.ToLower(string(part)), " ", "-")+".clock")
	p.Setenv("CHAOS_CLOCK", clock)

	return &Process{Program: p, clock: clock}
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

	// The rename is atomic: a concurrent reader gets the old file or the new one.
	next := p.clock + ".next"
	if err := os.WriteFile(next, []byte(wrong.String()), 0o600); err != nil {
		return err
	}

	return os.Rename(next, p.clock)
}
