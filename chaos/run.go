package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"rihla/chaos/actors"
	"rihla/chaos/house"
	"rihla/chaos/invariants"
	"rihla/chaos/schedule"
	"rihla/internal/devstack"
)

// runner runs schedules, house after house.
type runner struct {
	options

	out    io.Writer
	root   string // of the source tree
	binary string
	house  *house.House
	number int // of the house
	tally  tally
	began  time.Time

	violated []int // the schedules in which something was found
}

// errViolated ends the command with 1; what was found is printed already.
var errViolated = errors.New("something was found that must not be")

func run(ctx context.Context, out io.Writer, o options) (err error) {
	r := &runner{options: o, out: out, tally: newTally(), began: time.Now()}

	if err := r.compile(ctx); err != nil {
		return err
	}

	for i := 0; i < o.schedules && !o.over(r.began); i++ {
		n := i
		if o.schedule >= 0 {
			n = o.schedule
		}

		if err = r.one(ctx, schedule.New(o.seed, n)); r.goesOn(err) {
			err = nil
		}

		if err != nil {
			break
		}
	}

	err = errors.Join(err, r.leave(errors.Is(err, errViolated)))
	r.tally.write(out, time.Since(r.began))

	if len(r.violated) > 0 {
		fmt.Fprintf(out, "something was found in the schedules %v\n", r.violated)

		if !errors.Is(err, errViolated) {
			err = errors.Join(err, errViolated)
		}
	}

	if ctx.Err() != nil && !errors.Is(err, errViolated) {
		return nil // Ctrl-C
	}

	return err
}

// compile builds the service as it is now.
func (r *runner) compile(ctx context.Context) (err error) {
	if r.root, err = devstack.ModuleRoot(); err != nil {
		return err
	}

	r.binary = filepath.Join(r.root, devstack.DefaultDataDir, "bin", "rihla-chaos")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", r.binary, ".") //nolint:gosec // our own module
	cmd.Dir = r.root

	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the service: %w\n%s", err, text)
	}

	return nil
}

// one runs one schedule and looks at what it left behind.
func (r *runner) one(ctx context.Context, s schedule.Schedule) error {
	if err := r.enter(ctx, s.Number/r.perHouse); err != nil {
		return err
	}

	began := time.Now()
	play, err := actors.Run(ctx, r.house, s)

	if ctx.Err() != nil {
		play.Rest()

		return ctx.Err()
	}

	if err != nil {
		play.Journal.Problemf("harness", "%v", err)
	}

	played := time.Since(began)

	settled, broken, err := r.look(ctx, play)
	if err != nil {
		return fmt.Errorf("schedule %d of seed %d: %w", s.Number, s.Seed, err)
	}

	r.tally.add(play.Journal, settled, time.Since(began))

	verdict := "ok"
	if len(broken) > 0 {
		verdict = "VIOLATED"
	}

	fmt.Fprintf(r.out, "schedule %4d of seed %d: %s  (%d customers, %d faults; played %.1f s, quiet %.1f s later, all in all %.1f s)\n",
		s.Number, s.Seed, verdict, len(s.Customers), len(s.Faults), played.Seconds(), settled.Seconds(), time.Since(began).Seconds())

	if len(broken) > 0 || r.verbose {
		r.report(s, play, broken)
	}

	if len(broken) > 0 {
		r.violated = append(r.violated, s.Number)

		return errViolated
	}

	return nil
}

// goesOn reports whether the next schedules are to be run although something was found. They get a house of their own:
// what is wrong in this one would be found after each of them.
func (r *runner) goesOn(err error) bool {
	return r.goOn && errors.Is(err, errViolated) && r.leave(true) == nil
}

// look waits until nothing moves, asks everything once more, and checks every invariant.
func (r *runner) look(ctx context.Context, play *actors.Play) (settled time.Duration, broken []invariants.Violation, err error) {
	settled, moving, err := invariants.Quiet(ctx, r.house)

	play.Rest()

	if err != nil {
		return settled, nil, err
	}

	play.Journal.Stepf("harness", "nothing moves any more")

	again, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()

	play.Repeat(again)

	broken, err = invariants.Check(ctx, &invariants.Scene{House: r.house, Play: play})
	if len(moving) > 0 {
		broken = append([]invariants.Violation{{Name: "comes-to-rest", Found: moving}}, broken...)
	}

	return settled, broken, err
}

func (r *runner) report(s schedule.Schedule, play *actors.Play, broken []invariants.Violation) {
	fmt.Fprintf(r.out, "\n%s\n", s)

	for _, line := range play.Journal.Trail() {
		fmt.Fprintln(r.out, "  "+line)
	}

	if len(broken) == 0 {
		return
	}

	fmt.Fprintln(r.out)

	for _, v := range broken {
		fmt.Fprintf(r.out, "VIOLATED %s:\n", v.Name)

		for _, text := range v.Found {
			fmt.Fprintf(r.out, "  %s\n", strings.ReplaceAll(text, "\n", "\n  "))
		}
	}

	again := fmt.Sprintf("go run ./chaos --seed %d --schedule %d --schedules 5 --per-house %d --keep", s.Seed, s.Number, r.perHouse)
	if r.cluster {
		again += " --cluster"
	}

	fmt.Fprintf(r.out, "\nAgain: %s\n", again)
}

// enter makes sure that the house is the one with the number.
func (r *runner) enter(ctx context.Context, number int) error {
	if r.house != nil && r.number == number {
		return nil
	}

	if err := r.leave(false); err != nil {
		return err
	}

	dir, err := os.MkdirTemp("", "rihla-chaos-")
	if err != nil {
		return err
	}

	// The account that PostgreSQL runs as has to reach its data.
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // no more than it needs
		return err
	}

	r.number = number
	r.house, err = house.Build(ctx, house.Options{
		Dir: dir, Number: number, Cluster: r.cluster, Binary: r.binary,
		BinDir: filepath.Join(r.root, devstack.DefaultDataDir, "bin"), Log: slog.New(slog.DiscardHandler),
	})

	return err
}

// leave takes the house down. One in which something was found stays on disk, if that is wanted.
func (r *runner) leave(found bool) error {
	if r.house == nil {
		return nil
	}

	h := r.house
	r.house = nil

	err := h.Close()

	if found && r.keep {
		fmt.Fprintf(r.out, "Logs and data are kept in %s\n", h.Dir)

		return err
	}

	return errors.Join(err, h.Remove(context.Background()))
}
