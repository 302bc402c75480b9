// Command compat compares the API's document with the last released one (rules: api.versions). Within a major version only additions
// are made: it fails on whatever breaks a client, and when info.version or the changelog does not tell what has changed.
//
//	go run ./api/compat
//
// It exits with 0 when the document may be released as it stands, with 1 when it may not, and with 2 when it could not
// compare.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/getkin/kin-openapi/openapi3"
)

const (
	exitCompatible   = 0
	exitIncompatible = 1
	exitCannotTell   = 2
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, out, problems io.Writer) int {
	flags := flag.NewFlagSet("compat", flag.ContinueOnError)
	flags.SetOutput(problems)

	released := flags.String("released", "api/released/v1.yaml", "the last released document")
	current := flags.String("document", "api/openapi.yaml", "the document to check")
	changelog := flags.String("changelog", "CHANGELOG.md", "the changelog, which has an entry for each version")
	verbose := flags.Bool("v", false, "list the additions, too")

	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return exitCompatible
	} else if err != nil || flags.NArg() > 0 {
		flags.Usage()

		return exitCannotTell
	}

	report, err := check(*released, *current, *changelog)
	if err != nil {
		fmt.Fprintln(problems, "compat:", err)

		return exitCannotTell
	}

	report.write(out, *verbose)

	if report.failed() {
		return exitIncompatible
	}

	return exitCompatible
}

// report is what the comparison of two documents found.
type report struct {
	releasedVersion, version string
	changes                  []change
	// faults are what is wrong with version and changelog.
	faults []string
	// newMajor allows what breaks.
	newMajor bool
}

func check(released, current, changelog string) (report, error) {
	before, err := load(released)
	if err != nil {
		return report{}, err
	}

	after, err := load(current)
	if err != nil {
		return report{}, err
	}

	text, err := os.ReadFile(changelog) //nolint:gosec // a developer's tool reads what it is pointed at
	if err != nil {
		return report{}, fmt.Errorf("read the changelog: %w", err)
	}

	r := report{releasedVersion: before.Info.Version, version: after.Info.Version, changes: compare(before, after)}

	same, err := sameButVersion(before, after)
	if err != nil {
		return report{}, err
	}

	r.judgeRelease(same, string(text))

	return r, nil
}

func load(path string) (*openapi3.T, error) {
	loader := openapi3.NewLoader()

	doc, err := loader.LoadFromFile(path)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", path, err)
	}

	if err = doc.Validate(loader.Context); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}

	return doc, nil
}

func (r report) failed() bool {
	return len(r.faults) > 0 || (r.count(breaking) > 0 && !r.newMajor)
}

func (r report) count(k changeKind) int {
	n := 0

	for _, c := range r.changes {
		if c.kind == k {
			n++
		}
	}

	return n
}

func (r report) write(out io.Writer, verbose bool) {
	for _, c := range r.changes {
		if c.kind == breaking || verbose {
			fmt.Fprintln(out, c)
		}
	}

	for _, fault := range r.faults {
		fmt.Fprintln(out, "release   "+fault)
	}

	fmt.Fprintf(out, "%s → %s: %d breaking changes, %d additions", r.releasedVersion, r.version, r.count(breaking), r.count(addition))

	switch {
	case r.count(breaking) > 0 && !r.newMajor:
		fmt.Fprintln(out, "; what breaks clients needs a new major version")
	case r.failed():
		fmt.Fprintln(out, "; the version does not tell")
	default:
		fmt.Fprintln(out, "; ok")
	}
}
