package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"rihla/chaos/actors"
	"rihla/chaos/env"
	"rihla/chaos/invariants"
	"rihla/chaos/schedule"
	"rihla/e2e/rig"
	"rihla/gateways/drivers"
	"rihla/migrations"
)

// runner runs schedules, in environments side by side.
type runner struct {
	options

	binary, last string // of this version and of the last release
	began        time.Time

	mu       sync.Mutex
	out      io.Writer
	tally    tally
	violated []int // the schedules in which something was found
}

// errViolated ends the command with 1; what was found is printed already.
var errViolated = errors.New("something was found that must not be")

func run(ctx context.Context, out io.Writer, o options) error {
	r := &runner{options: o, out: out, tally: newTally(), began: time.Now()}

	if err := r.compile(ctx); err != nil {
		return err
	}

	environments, inside := errgroup.WithContext(ctx)
	environments.SetLimit(o.environments)

	for _, schedules := range o.plan() {
		environments.Go(func() error { return r.runAll(inside, schedules) })
	}

	err := environments.Wait()
	r.tally.write(out, time.Since(r.began))

	if len(r.violated) > 0 {
		slices.Sort(r.violated)
		fmt.Fprintf(out, "something was found in the schedules %v\n", r.violated)

		return errViolated
	}

	if err != nil && ctx.Err() == nil { // else it was Ctrl-C
		return err
	}

	return nil
}

// plan says which schedules meet each other in which environment. The kind of an environment follows from its number, and that from
// the schedules' own: so one meets the same kind of environment wherever the first one is.
func (o options) plan() [][]int {
	var plan [][]int

	for i := range o.schedules {
		n, place := o.from+i, o.from+i
		if o.schedule >= 0 {
			n, place = o.schedule, i
		}

		if i == 0 || place%o.perEnvironment == 0 {
			plan = append(plan, nil)
		}

		plan[len(plan)-1] = append(plan[len(plan)-1], n)
	}

	return plan
}

// compile builds the service as it is now.
func (r *runner) compile(ctx context.Context) (err error) {
	r.binary, err = rig.Build(ctx, "rihla-chaos", "-tags", "chaos")
	if err != nil || !r.upgrade {
		return err
	}

	if r.release == "" {
		if r.release, err = lastRelease(); err != nil {
			return err
		}
	}

	r.last, err = rig.BuildAt(ctx, r.release, "rihla-chaos-"+r.release, "-tags", "chaos")

	return err
}

// lastRelease is the commit of the newest release.
func lastRelease() (string, error) {
	all, err := migrations.Releases()
	if err != nil {
		return "", err
	}

	for _, r := range slices.Backward(all) {
		if r.Commit != "" {
			return r.Commit, nil
		}
	}

	return "", errors.New("there is no release yet")
}

// runAll runs the schedules of one environment. After one in which something was found the others get an environment of their own: what is
// wrong in this one would be found after each of them.
func (r *runner) runAll(ctx context.Context, schedules []int) error {
	for len(schedules) > 0 && !r.over(r.began) && ctx.Err() == nil {
		done, err := r.runIn(ctx, schedules)
		if err != nil && (!errors.Is(err, errViolated) || !r.goOn) {
			return err
		}

		schedules = schedules[done:]
	}

	return nil
}

// scheduled is the one with a number, for the environment's company and accounts.
func (o options) scheduled(company *env.Company, number int) schedule.Schedule {
	s := schedule.New(o.seed, number).With(company.Instead)
	if o.backup {
		s = s.WithBackup()
	}

	if o.upgrade {
		s = s.WithUpgrade()
	}

	return s
}

// runIn builds an environment, runs schedules in it, and takes it down. One in which something was found stays on disk, if that is
// wanted.
func (r *runner) runIn(ctx context.Context, schedules []int) (done int, err error) {
	e, err := r.build(ctx, schedules[0]/r.perEnvironment)
	if err != nil {
		return 0, err
	}

	for done < len(schedules) && !r.over(r.began) && err == nil {
		err = r.one(ctx, e, r.scheduled(e.Company, schedules[done]))
		done++
	}

	if closeErr := e.Close(); closeErr != nil {
		return done, errors.Join(err, closeErr)
	}

	if errors.Is(err, errViolated) && r.keep {
		r.printf("Logs and data are kept in %s\n", e.Dir)

		return done, err
	}

	return done, errors.Join(err, e.Remove(context.Background()))
}

// one runs one schedule and looks at what it left behind.
func (r *runner) one(ctx context.Context, e *env.Environment, s schedule.Schedule) error {
	began := time.Now()
	run, err := actors.Execute(ctx, e, s)

	if ctx.Err() != nil {
		run.StopPayoutClerks()

		return ctx.Err()
	}

	if err != nil {
		run.Journal.Problemf("harness", "%v", err)
	}

	ran := time.Since(began)

	settled, broken, err := look(ctx, e, run)
	if err != nil {
		return fmt.Errorf("schedule %d of seed %d: %w", s.Number, s.Seed, err)
	}

	took := time.Since(began)
	verdict := "ok"

	if len(broken) > 0 {
		verdict = "VIOLATED"
	}

	text := fmt.Sprintf("schedule %4d of seed %d: %s  (%d customers, %d faults; run %.1f s, idle %.1f s later, all in all %.1f s)\n",
		s.Number, s.Seed, verdict, len(s.Customers), len(s.Faults), ran.Seconds(), settled.Seconds(), took.Seconds())

	if len(broken) > 0 || r.verbose {
		text += r.report(s, run, broken)
	}

	r.printf("%s", text)

	return r.note(s, run, settled, took, broken)
}

// note adds a schedule to the tally, and is errViolated if something was found in it.
func (r *runner) note(s schedule.Schedule, run *actors.Run, settled, took time.Duration, broken []invariants.Violation) error {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.tally.add(run.Journal, settled, took)

	if len(broken) == 0 {
		return nil
	}

	r.violated = append(r.violated, s.Number)

	return errViolated
}

// printf prints what belongs together in one piece.
func (r *runner) printf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()

	fmt.Fprintf(r.out, format, args...)
}

// look waits until nothing moves, asks everything once more, has customers come again, and checks every invariant.
func look(ctx context.Context, e *env.Environment, run *actors.Run) (settled time.Duration, broken []invariants.Violation, err error) {
	settled, moving, err := invariants.WaitIdle(ctx, e)

	run.StopPayoutClerks()

	if err != nil {
		return settled, nil, err
	}

	run.Journal.Stepf("harness", "nothing moves any more")
	run.Journal.Calm()

	again, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()

	run.Repeat(again)
	run.BookAgain(again)

	_, still, err := invariants.WaitSettled(ctx, e)
	if err != nil {
		return settled, nil, err
	}

	moving = append(moving, still...)
	broken, err = invariants.Check(ctx, &invariants.Evidence{Env: e, Run: run})
	if len(moving) > 0 {
		broken = append([]invariants.Violation{{Name: "comes-to-rest", Found: moving}}, broken...)
	}

	return settled, broken, err
}

// report is everything that is known of a schedule.
func (r *runner) report(s schedule.Schedule, run *actors.Run, broken []invariants.Violation) string {
	var b strings.Builder

	fmt.Fprintf(&b, "\n%s\n", s)

	for _, line := range run.Journal.Trail() {
		fmt.Fprintln(&b, "  "+line)
	}

	if len(broken) == 0 {
		return b.String()
	}

	fmt.Fprintln(&b)

	for _, v := range broken {
		fmt.Fprintf(&b, "VIOLATED %s:\n", v.Name)

		for _, text := range v.Found {
			fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(text, "\n", "\n  "))
		}
	}

	again := fmt.Sprintf("go run ./chaos --seed %d --schedule %d --schedules 5 --per-environment %d --keep",
		s.Seed, s.Number, r.perEnvironment)
	if r.cluster {
		again += " --cluster"
	}

	if r.backup {
		again += " --backup"
	}

	if r.upgrade {
		again += " --upgrade --release " + r.release
	}

	if r.migration != "" {
		again += " --migration " + r.migration
	}

	if r.driver != drivers.Sandbox {
		again += " --driver " + r.driver
	}

	fmt.Fprintf(&b, "\nAgain: %s\n", again)

	return b.String()
}

// build makes the environment with the number.
func (r *runner) build(ctx context.Context, number int) (*env.Environment, error) {
	dir, err := os.MkdirTemp("", "rihla-chaos-")
	if err != nil {
		return nil, err
	}

	// The account that PostgreSQL runs as has to reach its data.
	if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // no more than it needs
		return nil, err
	}

	return env.Build(ctx, env.Options{
		Dir: dir, Number: number, Cluster: r.cluster, Backup: r.backup, Driver: r.driver, Binary: r.binary,
		LastBinary: r.last, Migration: r.migration,
		BinDir: filepath.Dir(r.binary), Log: slog.New(slog.DiscardHandler),
	})
}
