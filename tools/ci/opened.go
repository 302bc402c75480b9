package main

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// noteOpened is the command that `go test -exec` runs the binary of a test with.
const noteOpened = "note-opened"

// unlessProven is the command that the README's test command runs the binaries of tests with, behind the lanes.
const unlessProven = "unless-proven"

// runUnlessProven becomes the test's binary, unless its directory stands in a list of those that lanes have proven.
func runUnlessProven(list, binary string, args []string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}

	proven, err := os.ReadFile(list) //nolint:gosec // ours
	if err != nil {
		return err
	}

	if slices.Contains(strings.Split(string(proven), "\n"), here) {
		return nil
	}

	return syscall.Exec(binary, append([]string{binary}, args...), os.Environ()) //nolint:gosec // it is what go test has built
}

// noteWhatIsOpened becomes the test's binary and has it list the files it opens in a file of dir, named after its directory.
func noteWhatIsOpened(dir, binary string, args []string) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}

	args = append([]string{binary, "-test.testlogfile=" + filepath.Join(dir, url.PathEscape(here))}, args...)

	return syscall.Exec(binary, args, os.Environ()) //nolint:gosec // it is what go test has built
}

// openedFiles are the tracked files that are meant by a path: itself, or what is built from a directory that was read.
func (w *World) openedFiles(rel string, read bool) []string {
	if _, tracked := w.Tree.files[rel]; tracked {
		return []string{rel}
	}

	if !read {
		return nil
	}

	sources := w.Tree.Select([]string{path.Join(rel, "*.go")})

	return slices.DeleteFunc(sources, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
}

// undeclared lists files of the tree that the test of a unit has opened and that are none of its files, and not left out on purpose.
func (w *World) undeclared(opened string, u Unit) []string {
	here := filepath.Join(w.Tree.Root, filepath.FromSlash(u.Name))

	log, err := os.ReadFile(filepath.Join(opened, url.PathEscape(here))) //nolint:gosec // ours
	if err != nil {
		return nil // the package has no tests to run
	}

	var found []string

	for line := range strings.Lines(string(log)) {
		what, name, _ := strings.Cut(strings.TrimSpace(line), " ")

		if !filepath.IsAbs(name) {
			name = filepath.Join(here, name)
		}

		rel, err := filepath.Rel(w.Tree.Root, name)
		if err != nil || strings.HasPrefix(rel, "..") {
			continue
		}

		switch rel = filepath.ToSlash(rel); what {
		case "chdir":
			here = name
		case "open", "stat":
			for _, file := range w.openedFiles(rel, what == "open") {
				if !slices.Contains(u.Files, file) && !matches(u.Without, file) {
					found = append(found, file)
				}
			}
		}
	}

	slices.Sort(found)

	return slices.Compact(found)
}
