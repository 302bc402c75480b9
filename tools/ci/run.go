package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// plan is what there is to do of a lane.
type plan struct {
	lane  Lane
	units []Unit
	due   []Unit // not proven
	keys  map[string]string
	proof *Proof // the oldest of those that count
}

// plan finds which units of a lane have to run.
func (w *World) plan(ctx context.Context, l Lane) (*plan, error) {
	units, err := l.Units(ctx, w)
	if err != nil {
		return nil, fmt.Errorf("lane %s: %w", l.Name, err)
	}

	p := &plan{lane: l, units: units, keys: map[string]string{}}

	for _, u := range units {
		for _, need := range l.Needs {
			u.Salt += setUp[need] // with the versions of the tools
		}

		p.keys[u.Name] = w.Key(l.Name, u)

		proof, err := w.Proofs.Find(l.Name, p.keys[u.Name], time.Now())

		switch {
		case err != nil:
			return nil, err
		case proof == nil && u.Skipped && !w.All:
		case proof == nil || w.All || l.Always:
			p.due = append(p.due, u)
		case p.proof == nil || proof.At.Before(p.proof.At):
			p.proof = proof
		}
	}

	return p, nil
}

// key is that of the lane as a whole: of the keys of its units.
func (p *plan) key() string {
	h := sha256.New()
	for _, u := range p.units {
		fmt.Fprintln(h, u.Name, p.keys[u.Name])
	}

	return hex.EncodeToString(h.Sum(nil))[:12]
}

func (p *plan) state() string {
	switch {
	case len(p.due) == 0 && p.proof == nil:
		return "key " + p.key() + ", nothing of it changed"
	case len(p.due) == 0:
		return fmt.Sprintf("key %s passed at %s, %s", p.key(), p.proof.Commit, p.proof.At.UTC().Format("2006-01-02 15:04"))
	case len(p.units) == 1:
		return "key " + p.key() + ", not proven"
	}

	return fmt.Sprintf("key %s, %d of %d not proven", p.key(), len(p.due), len(p.units))
}

// runner runs lanes side by side as far as there are cores.
type runner struct {
	w      *World
	cores  int
	mu     sync.Mutex
	free   *sync.Cond
	used   int
	failed []string
}

// runLanes runs what is due of the lanes. The last lines that it prints say what failed, and why.
func runLanes(ctx context.Context, w *World, all []Lane) error {
	r := &runner{w: w, cores: max(runtime.NumCPU(), 1)}
	r.free = sync.NewCond(&r.mu)

	var done sync.WaitGroup

	for _, l := range all {
		p, err := w.plan(ctx, l)
		if err != nil {
			return err
		}

		if len(p.due) == 0 {
			fmt.Fprintf(os.Stdout, "== %s: proven (%s)\n", l.Name, p.state())

			continue
		}

		cores := r.take(l.Cores)

		done.Go(func() {
			defer r.give(cores)

			if !r.runLane(ctx, p) {
				r.mu.Lock()
				defer r.mu.Unlock()

				r.failed = append(r.failed, l.Name)
			}
		})
	}

	done.Wait()

	if len(r.failed) == 0 {
		return errors.Join(ctx.Err(), w.listProven(ctx, all))
	}

	for _, name := range r.failed {
		why(os.Stdout, name, filepath.Join(w.Logs, name))
	}

	return errors.New("FAILED: " + strings.Join(r.failed, ", "))
}

// listProven writes the directories of packages whose tests lanes have proven, for the README's test command behind them. Packages of a
// lane that runs always are not among them.
func (w *World) listProven(ctx context.Context, all []Lane) error {
	always := map[string]bool{}

	var proven []string

	for _, l := range all {
		units, err := l.Units(ctx, w)
		if err != nil {
			return err
		}

		for _, u := range units {
			switch {
			case !strings.HasPrefix(u.Name, "./") || strings.Contains(u.Name, " "):
			case l.Always:
				always[u.Name] = true
			case !always[u.Name]:
				proven = append(proven, filepath.Join(w.Tree.Root, u.Name))
			}
		}
	}

	list := filepath.Join(filepath.Dir(w.Logs), "ci-proven")

	return os.WriteFile(list, []byte(strings.Join(proven, "\n")+"\n"), 0o644) //nolint:gosec // nothing of it is secret
}

// take waits until so many cores are free; 0 is all of them.
func (r *runner) take(cores int) int {
	if cores == 0 || cores > r.cores {
		cores = r.cores
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	for r.used+cores > r.cores {
		r.free.Wait()
	}

	r.used += cores

	return cores
}

func (r *runner) give(cores int) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.used -= cores
	r.free.Broadcast()
}

// runLane runs the units of a lane that are due, records those that pass, and reports whether all did.
func (r *runner) runLane(ctx context.Context, p *plan) bool {
	began := time.Now()
	name := p.lane.Name

	fmt.Fprintf(os.Stdout, "== %s: %s\n", name, p.state())

	log, err := os.Create(filepath.Join(r.w.Logs, name)) //nolint:gosec // a name of ours
	if err != nil {
		fmt.Fprintln(os.Stdout, err)

		return false
	}
	defer log.Close()

	passed, err := r.tryLane(ctx, p, log)
	if err != nil {
		fmt.Fprintln(log, err)
	}

	if saved := r.save(p, passed); saved != nil {
		fmt.Fprintln(os.Stdout, "its proof cannot be kept:", saved)
	}

	took := time.Since(began).Seconds()

	if err != nil || len(passed) < len(p.due) {
		fmt.Fprintf(os.Stdout, "== %s: FAILED (%.0f s, %d of %d passed)\n", name, took, len(passed), len(p.due))

		return false
	}

	fmt.Fprintf(os.Stdout, "== %s: ok (%.0f s, %d of %d run)\n", name, took, len(p.due), len(p.units))

	return true
}

func (r *runner) tryLane(ctx context.Context, p *plan, log io.Writer) ([]string, error) {
	for _, need := range p.lane.Needs {
		if err := r.w.Need(need); err != nil {
			return nil, err
		}
	}

	return p.lane.Run(ctx, r.w, log, p.due)
}

// save records the units that have passed; of a lane that has passed as a whole also what its skipped units are now, against which the
// next run compares them.
func (r *runner) save(p *plan, passed []string) error {
	proof := Proof{Commit: r.w.Tree.Head, At: time.Now()}

	for _, name := range passed {
		if err := r.w.Proofs.Save(p.lane.Name, p.keys[name], proof); err != nil {
			return err
		}
	}

	for _, u := range p.units {
		if len(u.Own) == 0 || !slices.Contains(passed, u.Name) && (!u.Skipped || len(passed) < len(p.due)) {
			continue
		}

		if err := r.w.Proofs.Save(p.lane.Name+"-seen", r.w.ownKey(p.lane.Name, u), proof); err != nil {
			return err
		}
	}

	return nil
}
