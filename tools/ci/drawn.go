package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// recent is how many commits count as changes on a machine that has no record of a lane.
const recent = "HEAD~10"

// atMost is how many changed units a machine without a record runs: ten commits with merges among them can be the whole tree.
const atMost = 4

// drawTwo are the places of two of n units, which differ from commit to commit.
func drawTwo(commit string, n int) []int {
	if n < 3 {
		return []int{0, n - 1}
	}

	a, _ := strconv.ParseUint(commit[:8], 16, 64)
	b, _ := strconv.ParseUint(commit[8:16], 16, 64)
	first := int(a % uint64(n))                    //nolint:gosec // n is the number of targets
	second := (first + 1 + int(b%uint64(n-1))) % n //nolint:gosec // likewise

	return []int{first, second}
}

// changedOrDrawn skips units of a lane whose own package has not changed since the lane last ran here, except two.
func (w *World) changedOrDrawn(ctx context.Context, lane string, units []Unit, own func(Unit) []string) ([]Unit, error) {
	drawn := drawTwo(w.Tree.Commit, len(units))
	known := make([]bool, len(units))
	fresh := true

	for i, u := range units {
		units[i].Own = own(u)

		proof, err := w.Proofs.Find(lane+"-seen", w.ownKey(lane, units[i]), time.Now())
		if err != nil {
			return nil, err
		}

		known[i] = proof != nil
		fresh = fresh && proof == nil
	}

	var changed []string
	if fresh {
		changed = w.Tree.ChangedSince(ctx, recent)
	}

	begin, ran := drawn[0], 0

	for k := range units {
		i := (begin + k) % len(units)

		if fresh {
			known[i] = ran >= atMost || !slices.ContainsFunc(units[i].Own, func(name string) bool { return slices.Contains(changed, name) })
		}

		if !known[i] {
			ran++
		}

		units[i].Skipped = known[i] && !slices.Contains(drawn, i)
	}

	return units, nil
}

func (w *World) ownKey(lane string, u Unit) string {
	return w.Key(lane+"-seen", Unit{Name: u.Name, Files: u.Own})
}

// fuzzTarget finds the fuzz targets of a file.
var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// targets lists functions of test files as "directory name".
func (w *World) targets(declared *regexp.Regexp) ([]string, error) {
	var found []string

	for _, file := range w.Tree.Select([]string{"**/*_test.go"}) {
		text, err := w.Tree.Read(file)
		if err != nil {
			return nil, err
		}

		for _, m := range declared.FindAllStringSubmatch(text, -1) {
			found = append(found, directory(file)+" "+m[1])
		}
	}

	slices.Sort(found)

	return slices.Compact(found), nil
}

// directory is that of a file, as "./dir".
func directory(file string) string {
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		return "./" + file[:i]
	}

	return "."
}

func fuzzUnits(ctx context.Context, w *World) ([]Unit, error) {
	targets, err := w.targets(fuzzTarget)
	if err != nil {
		return nil, err
	}

	return w.unitsOfTargets(ctx, "fuzz", targets)
}

// unitsOfTargets is a unit for each "directory name": its files are those of the directory's test.
func (w *World) unitsOfTargets(ctx context.Context, lane string, targets []string) ([]Unit, error) {
	packages, err := w.packages()
	if err != nil {
		return nil, err
	}

	units := make([]Unit, len(targets))

	for i, target := range targets {
		dir, _, _ := strings.Cut(target, " ")

		files, err := packages.Test(dir)
		if err != nil {
			return nil, err
		}

		units[i] = Unit{Name: target, Files: keep(files, besides)}
	}

	return w.changedOrDrawn(ctx, lane, units, func(u Unit) []string {
		dir, _, _ := strings.Cut(u.Name, " ")

		return w.Tree.Select([]string{strings.TrimPrefix(dir, "./") + "/"})
	})
}

// fuzz runs targets one after the other, as `go test -fuzz` takes one at a time.
func fuzz(ctx context.Context, w *World, log io.Writer, units []Unit) ([]string, error) {
	return oneByOne(ctx, units, func(ctx context.Context, u Unit) error {
		_, name, _ := strings.Cut(u.Name, " ")

		return w.Command(ctx, log, "env", "FUZZ=^"+name+"$", "FUZZ_PARALLEL=1", "tools/fuzz")
	})
}

func oneByOne(ctx context.Context, units []Unit, run func(context.Context, Unit) error) (passed []string, failed error) {
	for _, u := range units {
		if err := run(ctx, u); err != nil {
			failed = errors.Join(failed, fmt.Errorf("error: %s: %w", u.Name, err)) // `why` looks for the word
		} else {
			passed = append(passed, u.Name)
		}
	}

	return passed, failed
}

var (
	benchmark   = regexp.MustCompile(`(?m)^func (Benchmark)\w*\(`)
	measurement = regexp.MustCompile(`section: "([a-z-]+)",\s+args: \[\]string\{[^}]*\},\s+small:`)
)

// benchUnits are the packages with benchmarks, once and small, and the measurements of bench that have a small form.
func benchUnits(ctx context.Context, w *World) ([]Unit, error) {
	targets, err := w.targets(benchmark)
	if err != nil {
		return nil, err
	}

	units, err := w.unitsOfTargets(ctx, "benches", targets)
	if err != nil {
		return nil, err
	}

	text, err := w.Tree.Read("bench/all.go")
	if err != nil {
		return nil, err
	}

	packages, err := w.packages()
	if err != nil {
		return nil, err
	}

	files, err := packages.Program("./bench")
	if err != nil {
		return nil, err
	}

	var measured []Unit

	for _, m := range measurement.FindAllStringSubmatch(text, -1) {
		measured = append(measured, Unit{Name: "bench " + m[1], Files: keep(files, besides)})
	}

	measured, err = w.changedOrDrawn(ctx, "benches", measured, func(Unit) []string { return w.Tree.Select([]string{"bench/"}) })

	return append(units, measured...), err
}

// benches runs each once; they end with an error when a payment fails or the books do not agree.
func benches(ctx context.Context, w *World, log io.Writer, units []Unit) ([]string, error) {
	return oneByOne(ctx, units, func(ctx context.Context, u Unit) error {
		if section, ok := strings.CutPrefix(u.Name, "bench "); ok {
			return w.Command(ctx, log, "timeout", "600", "go", "run", "./bench", "all", "--small", "--only", section)
		}

		dir, _, _ := strings.Cut(u.Name, " ")

		return w.Command(ctx, log, "go", "test", "-run", "^$", "-bench", ".", "-benchtime", "1x", dir)
	})
}

// chaos runs the same schedules each time, and others with each commit.
func chaos(ctx context.Context, w *World, log io.Writer, units []Unit) ([]string, error) {
	seed, err := strconv.ParseUint(w.Tree.Commit[:7], 16, 32)
	if err != nil {
		return nil, err
	}

	for _, args := range [][]string{
		{"--seed", "1", "--schedules", "5"},
		{"--seed", strconv.FormatUint(seed, 10), "--schedules", "12"},
		{"--seed", strconv.FormatUint(seed, 10), "--schedules", "4", "--upgrade"},
	} {
		args = append([]string{"900", "go", "run", "./chaos", "--environments", "2"}, args...)
		if err := w.Command(ctx, log, "timeout", args...); err != nil {
			return nil, err
		}
	}

	return names(units), nil
}

// newerPostgres runs the tests of statements on one of the versions after the oldest, which all other tests run on, and those of the
// busiest packages on it once more through a pooler.
func newerPostgres(ctx context.Context, w *World, log io.Writer, units []Unit) ([]string, error) {
	drawn, err := strconv.ParseUint(w.Tree.Commit[:7], 16, 32)
	if err != nil {
		return nil, err
	}

	const oldest, versions = 16, 3

	version := strconv.FormatUint(oldest+drawn%versions, 10)
	test := []string{version, "go", "test", "-count=1", "-p", "1", "-timeout", "20m"}

	if err := w.Command(ctx, log, "tools/postgres/run", append(test, "./internal/store/...", "./internal/audit")...); err != nil {
		return nil, err
	}

	// A pooler takes no time limit of a statement from a connection: the operator says so to the role (docs/configuration.md).
	const ofConnections = "^TestServerEndsWhatIsLeftBehind$"

	pooled := append([]string{"--pooled"}, append(test, "-skip", ofConnections, "./internal/store/bookings", "./internal/store/payments",
		"./internal/store/db")...)
	if err := w.Command(ctx, log, "tools/postgres/run", pooled...); err != nil {
		return nil, err
	}

	return names(units), nil
}
