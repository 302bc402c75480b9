package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// module is the import path of the module at the root.
const module = "rihla"

// goTest runs the tests of units, whose names are directories, with flags, and returns the names of those that have passed. A test that
// opens a file of the tree which is none of its unit's files fails its unit: a change of that file would go unseen.
func goTest(ctx context.Context, w *World, log io.Writer, units []Unit, flags ...string) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}

	return goTestBy(ctx, w, log, self, units, flags...)
}

// goTestBy is goTest with the program self noting what tests open.
func goTestBy(ctx context.Context, w *World, log io.Writer, self string, units []Unit, flags ...string) ([]string, error) {
	opened, err := os.MkdirTemp("", "rihla-ci-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(opened)

	var said bytes.Buffer

	args := slices.Concat([]string{"test", "-exec", self + " " + noteOpened + " " + opened}, flags, names(units))
	failed := w.Command(ctx, io.MultiWriter(log, &said, &results{out: os.Stdout}), "go", args...)

	var passed []string

	for _, dir := range passedIn(said.String()) {
		i := slices.IndexFunc(units, func(u Unit) bool { return u.Name == dir })
		if i < 0 {
			continue
		}

		if undeclared := w.undeclared(opened, units[i]); len(undeclared) > 0 {
			failed = errors.Join(failed, fmt.Errorf("error: %s opens files that are not among its inputs (lanes.go): %s",
				dir, strings.Join(undeclared, ", ")))

			continue
		}

		passed = append(passed, dir)
	}

	return passed, failed
}

func names(units []Unit) []string {
	all := make([]string, 0, len(units))
	for _, u := range units {
		all = append(all, u.Name)
	}

	return all
}

// results passes on the lines that say how a test or a package of tests ended.
type results struct {
	out  io.Writer
	line []byte
}

var resultLine = regexp.MustCompile(`^(ok  \t|FAIL|\s*--- FAIL)`)

func (r *results) Write(p []byte) (int, error) {
	for _, c := range p {
		r.line = append(r.line, c)

		if c == '\n' {
			if resultLine.Match(r.line) {
				if _, err := r.out.Write(r.line); err != nil {
					return 0, err
				}
			}

			r.line = r.line[:0]
		}
	}

	return len(p), nil
}

// ended is the line about a package whose tests have passed, or that has none.
var ended = regexp.MustCompile(`(?m)^(?:ok  |\?   )\t(\S+)`)

func passedIn(said string) []string {
	var dirs []string

	for _, m := range ended.FindAllStringSubmatch(said, -1) {
		switch rest, ok := strings.CutPrefix(m[1], module+"/"); {
		case ok:
			dirs = append(dirs, "./"+rest)
		case m[1] == module:
			dirs = append(dirs, ".")
		}
	}

	return dirs
}

// testUnits is a unit for each package, whose name is its directory. Its tests run the programs. What matches without is no input.
func (w *World) testUnits(dirs, programs []string, salt string, without ...string) ([]Unit, error) {
	packages, err := w.packages()
	if err != nil {
		return nil, err
	}

	var (
		units []Unit
		run   []string // what the programs are built from
	)

	for _, dir := range programs {
		files, err := packages.Program(dir)
		if err != nil {
			return nil, err
		}

		run = append(run, files...)
	}

	for _, dir := range dirs {
		files, err := packages.Test(dir)
		if err != nil {
			return nil, err
		}

		// The process that happens to be the first one starts Temporal for all of them and looks up which version is pinned.
		starts := slices.ContainsFunc(files, func(name string) bool { return path.Dir(name) == "internal/devstack" })

		files = append(keep(slices.Concat(files, run), without), w.Tree.Select(reads[dir])...) // what a test reads is never left out
		if starts {
			files = append(files, "tools/go.mod")
		}

		units = append(units, Unit{Name: dir, Files: keep(files, nil), Without: without, Salt: salt})
	}

	return units, nil
}

// keep leaves out the files that match a pattern, and sorts the rest.
func keep(files, without []string) []string {
	kept := slices.DeleteFunc(slices.Clone(files), func(name string) bool { return matches(without, name) })
	slices.Sort(kept)

	return slices.Compact(kept)
}
