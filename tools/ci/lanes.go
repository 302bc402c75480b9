package main

import (
	"context"
	"io"
	"strings"
	"time"
)

// Lane is a named check.
type Lane struct {
	Name, About string
	// Needs are steps of setUp that have to be done before.
	Needs []string
	// Always runs it although it is proven.
	Always bool
	// Cores is how many cores it keeps busy; 0: it has the machine to itself.
	Cores int
	// Units are its parts with all that their outcome depends on.
	Units func(ctx context.Context, w *World) ([]Unit, error)
	// Run runs these units and returns the names of those that have passed.
	Run func(ctx context.Context, w *World, log io.Writer, units []Unit) (passed []string, err error)
}

// reads are files that the tests of a package open beyond those they are built from. goTest finds what is missing here.
var reads = map[string][]string{
	"./api/compat":          {"api/openapi.yaml", "api/released/", "CHANGELOG.md"},
	"./api/contract":        {"api/openapi.yaml"},
	"./api/middleware":      {"**/*.go", "api/openapi.yaml"}, // every message has words in Arabic
	"./api/operations":      {"docs/", "models/errors.go"},
	"./bench":               {"docs/benchmarks.md"},
	"./chaos/invariants":    {"docs/reliability.md"},
	"./docs":                everything, // documents are held to the code
	"./e2e/harness/sources": everything, // it copies the service
	"./e2e/compose":         {"docker-compose.yml", "Dockerfile"},
	"./e2e/histories":       {"workflows/testdata/"},
	"./e2e/identity":        {"tools/identity/"},
	"./internal/brand":      {"console/public/icon.svg", "console/src/app/theme.css"},
	"./internal/config":     {".env.example", "docker-compose.yml", "docs/configuration.md"},
	"./internal/store/db":   {"**/*.go", "api/openapi.yaml"}, // statements that name their columns, calls of the audit, values of enums
	"./migrations":          {"CHANGELOG.md"},
	"./models":              {"**/*.go", "api/openapi.yaml"}, // every text has words
	"./internal/telemetry":  {"docs/"},
}

var (
	everything = []string{"**/*"}

	goSources = []string{"**/*.go", "go.mod", "go.sum", ".golangci.yml", "!api/gen/"}
	npmLocks  = []string{"**/package.json", "**/package-lock.json"}
	withDev   = []string{"e2e/typescript/"}
	// besides is what the service carries with it and its tests do not look at, apart from lanes that say so.
	besides = []string{"console/", "docs/", "*.md", "*.yml", "Makefile", "Dockerfile", "**/*.md"}
)

// whole is a lane's single unit: what matches the patterns.
func whole(patterns ...string) func(context.Context, *World) ([]Unit, error) {
	return func(_ context.Context, w *World) ([]Unit, error) {
		return []Unit{{Name: "all", Files: w.Tree.Select(patterns)}}, nil
	}
}

// built is a lane's single unit: what the programs in these directories are built from, without some of it, and what matches.
func built(programs, without, patterns []string) func(context.Context, *World) ([]Unit, error) {
	return func(_ context.Context, w *World) ([]Unit, error) {
		packages, err := w.packages()
		if err != nil {
			return nil, err
		}

		files := w.Tree.Select(patterns)

		for _, dir := range programs {
			of, err := packages.Program(dir)
			if err != nil {
				return nil, err
			}

			files = append(files, keep(of, without)...)
		}

		return []Unit{{Name: "all", Files: keep(files, nil)}}, nil
	}
}

// shell runs a script of bash in the root, with a time limit.
func shell(limit time.Duration, script string) func(context.Context, *World, io.Writer, []Unit) ([]string, error) {
	return func(ctx context.Context, w *World, log io.Writer, units []Unit) ([]string, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()

		if err := w.Command(ctx, log, "bash", "-euo", "pipefail", "-c", script); err != nil {
			return nil, err
		}

		return names(units), nil
	}
}

// unchanged runs a script, which must leave the tree as it is.
func unchanged(script string) func(context.Context, *World, io.Writer, []Unit) ([]string, error) {
	return shell(10*time.Minute, `before="$(git status --porcelain; git diff | sha256sum)"
`+script+`
after="$(git status --porcelain; git diff | sha256sum)"
[ "$before" = "$after" ] || { git --no-pager diff --stat; git status --short; echo "Error: the tree has changed"; exit 1; }`)
}

// tests is a lane of packages, which run the programs in some directories.
func tests(pick func(dir string) bool, programs, without []string, flags ...string) (
	func(context.Context, *World) ([]Unit, error), func(context.Context, *World, io.Writer, []Unit) ([]string, error),
) {
	units := func(_ context.Context, w *World) ([]Unit, error) {
		packages, err := w.packages()
		if err != nil {
			return nil, err
		}

		var dirs []string

		for _, dir := range packages.Tested() {
			if pick(dir) {
				dirs = append(dirs, dir)
			}
		}

		return w.testUnits(dirs, programs, strings.Join(flags, " "), without...)
	}

	return units, func(ctx context.Context, w *World, log io.Writer, units []Unit) ([]string, error) {
		return goTest(ctx, w, log, units, flags...)
	}
}
