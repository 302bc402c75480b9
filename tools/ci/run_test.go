package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fixed is a lane of two units that passes what is in passes and counts its runs.
func fixed(passes *[]string, runs *int) Lane {
	return Lane{
		Name: "fixed",
		Units: func(_ context.Context, w *World) ([]Unit, error) {
			return []Unit{{Name: "low", Files: w.Tree.Select([]string{"low/"})}, {Name: "high", Files: w.Tree.Select([]string{"high/"})}}, nil
		},
		Run: func(_ context.Context, _ *World, log io.Writer, units []Unit) ([]string, error) {
			*runs++

			var passed []string

			for _, u := range units {
				if slices.Contains(*passes, u.Name) {
					passed = append(passed, u.Name)
				}
			}

			if len(passed) < len(units) {
				_, _ = io.WriteString(log, "Error: one is broken\n")

				return passed, errors.New("broken")
			}

			return passed, nil
		},
	}
}

// What has passed is not run again until its inputs change; what has failed is.
func TestOnlyWhatIsNotProvenRuns(t *testing.T) {
	t.Parallel()

	root, cache := newRepository(t), t.TempDir()
	passes, runs := []string{"low"}, 0
	lane := fixed(&passes, &runs)
	due := func() []string {
		p, err := newTestWorld(t, root, cache).plan(t.Context(), lane)
		if err != nil {
			t.Fatal(err)
		}

		return names(p.due)
	}

	if got := due(); !slices.Equal(got, []string{"low", "high"}) {
		t.Fatal(got)
	}

	err := runLanes(t.Context(), newTestWorld(t, root, cache), []Lane{lane})
	if err == nil || err.Error() != "FAILED: fixed" {
		t.Fatal(err)
	}

	if got := due(); !slices.Equal(got, []string{"high"}) {
		t.Fatal(got)
	}

	passes = []string{"low", "high"}

	for range 2 {
		if err := runLanes(t.Context(), newTestWorld(t, root, cache), []Lane{lane}); err != nil {
			t.Fatal(err)
		}
	}

	if runs != 2 {
		t.Errorf("%d runs: the third had nothing to run", runs)
	}

	write(t, filepath.Join(root, "low/low.go"), "package low\n")

	if got := due(); !slices.Equal(got, []string{"low"}) {
		t.Fatal(got)
	}

	all := newTestWorld(t, root, cache)
	all.All = true

	if p, err := all.plan(t.Context(), lane); err != nil || len(p.due) != 2 {
		t.Fatal("`all` asks for no proof", err)
	}
}

// A test that opens a file which is no input of its unit does not pass: a change of that file would go unseen.
func TestUndeclaredInputsFail(t *testing.T) {
	t.Parallel()

	root := newRepository(t)
	w := newTestWorld(t, root, t.TempDir())

	units, err := w.testUnits([]string{"./high", "./low"}, nil, "")
	if err != nil {
		t.Fatal(err)
	}

	// The binary of this test is not the program: it is built for -exec.
	self := filepath.Join(t.TempDir(), "ci")
	if err := w.Command(t.Context(), os.Stderr, "go", "build", "-C", sourceDir(t), "-o", self, "."); err != nil {
		t.Fatal(err)
	}

	passed, err := goTestBy(t.Context(), w, io.Discard, self, units)
	if err == nil || !strings.Contains(err.Error(), "./high opens files that are not among its inputs (lanes.go): notes.txt, other/other.go") {
		t.Errorf("%v", err)
	}

	if !slices.Equal(passed, []string{"./low"}) {
		t.Errorf("%v", passed)
	}

	units[0].Files = append(units[0].Files, "notes.txt", "other/other.go")

	if passed, err := goTestBy(t.Context(), w, io.Discard, self, units); err != nil || len(passed) != 2 {
		t.Errorf("%v, %v", passed, err)
	}
}

func sourceDir(t *testing.T) string {
	t.Helper()

	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}

	return dir
}

// Every package of the module that has tests is in one lane, and in one alone but for the end-to-end tests that run twice.
func TestEveryPackageIsInALane(t *testing.T) {
	t.Parallel()

	root := filepath.Join(sourceDir(t), "..", "..")
	w := newTestWorld(t, root, t.TempDir())

	packages, err := w.packages()
	if err != nil {
		t.Fatal(err)
	}

	in := map[string][]string{}

	for _, l := range lanes() {
		if !slices.Contains([]string{"texts", "race", "races", "e2e", "failure"}, l.Name) {
			continue
		}

		units, err := l.Units(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}

		for _, u := range units {
			in[u.Name] = append(in[u.Name], l.Name)
		}
	}

	tested := packages.Tested()
	if len(tested) < 50 {
		t.Fatalf("%d packages", len(tested))
	}

	for _, dir := range tested {
		want := 1

		if dir == "./e2e" {
			want = 2
		}

		if len(in[dir]) != want {
			t.Errorf("%s is in %v", dir, in[dir])
		}
	}
}

func TestWhy(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ log, said string }{
		"race": {
			"time=now level=ERROR msg=\"Error: of the service\"\n--- FAIL: TestX\n    x_test.go:1: Error: wrong\nok  \trihla/x\nsecond\nthird\nfourth\nlast\n",
			"--- FAIL: TestX\n    x_test.go:1: Error: wrong\n",
		},
		"chaos": {
			"schedule 0 of seed 1: ok\nlast\n\nVIOLATED no-loss:\n  a payment\n\nAgain: go run ./chaos --seed 1\n| kills | 3 |\n",
			"VIOLATED no-loss:\n  a payment\n\nAgain: go run ./chaos --seed 1\n",
		},
	} {
		log := filepath.Join(t.TempDir(), name)
		write(t, log, c.log)

		var said bytes.Buffer

		why(&said, name, log)

		if got := said.String(); !strings.Contains(got, c.said) || strings.Contains(got, "level=") || strings.Contains(got, "last") {
			t.Error(got)
		}
	}
}

func TestPassedIn(t *testing.T) {
	t.Parallel()

	got := passedIn("ok  \trihla/models\t1.2s\nFAIL\trihla/worker\t2s\n?   \trihla/api/docs\t[no test files]\nok  \trihla\t0.1s [no tests to run]\nok  \trihla/api\t(cached)\n")
	if !slices.Equal(got, []string{"./models", "./api/docs", ".", "./api"}) {
		t.Error(got)
	}
}
