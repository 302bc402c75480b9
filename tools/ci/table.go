package main

import (
	"context"
	"slices"
	"strings"
	"time"
)

// races are the end-to-end tests whose subject is concurrency: they run with the race detector, the service in them too.
const races = "^(TestSpine|TestParallelRefunds|TestHundredDeliveriesOfOneWebhook)$"

// alone are the suites that kill and cut: what they hold the service to is how soon it is back at work.
var alone = []string{"./e2e/failure"}

// reading has tests that read all sources and texts and share nothing: the race detector only makes them ten times as slow.
const reading = "./docs"

func inProcess(dir string) bool {
	return !strings.HasPrefix(dir, "./e2e") || dir == "./e2e/harness/sources"
}

func endToEnd(dir string) bool { return !inProcess(dir) && !slices.Contains(alone, dir) }

// lanes are all checks, those that fail soonest first. A browser and the service that it uses leave a core idle: what needs one core runs
// beside them.
func lanes() []Lane {
	return slices.Concat(readingLanes(), watchingLanes(), outsideLanes(), besideLanes(), testLanes(), drawnLanes())
}

// readingLanes read, compile and compare.
func readingLanes() []Lane {
	return []Lane{
		{
			Name: "format", About: "gofumpt and gofmt", Cores: 1, Needs: []string{"gofumpt"},
			Units: whole("**/*.go", "go.mod", "!api/gen/", "!**/*.gen.go"),
			Run: shell(5*time.Minute, `files="$(git ls-files --cached --others --exclude-standard '*.go' | grep -vE '/gen/|[.]gen[.]go$')"
bad="$(gofumpt -l -modpath rihla $files; gofmt -l $files)"
[ -z "$bad" ] || { echo "Error: not formatted: $bad"; exit 1; }`),
		},
		{
			Name: "ci", About: "the program that runs the lanes", Cores: 1, Needs: []string{"golangci-lint"},
			Units: whole("tools/ci/", ".golangci.yml", "**/*_test.go"),
			Run:   shell(5*time.Minute, `cd tools/ci && go test ./... && golangci-lint run ./...`),
		},
		{
			Name: "histories", About: "no kept workflow history was ever removed", Cores: 1,
			Units: whole("workflows/testdata/"),
			Run: shell(time.Minute, `gone="$(git log -p --format= -- workflows/testdata/histories/SHA256SUMS | grep '^-[0-9a-f]' || true)"
[ -z "$gone" ] || { echo "Error: histories that are not kept any more:"; echo "$gone"; exit 1; }`),
		},
		{
			Name: "tidy", About: "go mod tidy changes nothing", Cores: 1, Units: whole("**/*.go", "**/go.mod", "**/go.sum"),
			Run: unchanged(`go mod tidy`),
		},
		{
			Name: "generate", About: "go generate changes nothing", Cores: 1,
			Units: whole("**/*.go", "go.mod", "go.sum", "api/", "docs/"), Run: unchanged(`go generate ./...`),
		},
		{
			Name: "spectral", About: "the rules of api/openapi.yaml", Cores: 1, Needs: []string{"node", "npm openapi"},
			Units: whole("api/openapi.yaml", "tools/openapi/"), Run: shell(5*time.Minute, `cd tools/openapi && npm run --silent lint`),
		},
		{
			Name: "migrations", About: "no migration keeps the running service waiting, or takes from it what it uses", Cores: 1,
			Needs: []string{"node", "npm migrations"}, Units: whole("migrations/", "tools/migrations/"),
			Run: shell(5*time.Minute, `tools/migrations/check`),
		},
		{
			Name: "compat", About: "api/openapi.yaml breaks no client of the released document", Cores: 1,
			Units: whole("api/", "CHANGELOG.md", "go.mod"), Run: shell(5*time.Minute, `go run ./api/compat`),
		},
		{
			Name: "vulnerabilities", About: "govulncheck and npm audit, where their data can be reached; once a day", Cores: 1,
			Needs: []string{"node"},
			Units: func(ctx context.Context, w *World) ([]Unit, error) {
				units, err := whole(append([]string{"**/go.mod", "**/go.sum", "tools/vulnerabilities"}, npmLocks...)...)(ctx, w)
				for i := range units {
					units[i].Salt = time.Now().UTC().Format(time.DateOnly)
				}

				return units, err
			},
			Run: shell(15*time.Minute, `tools/vulnerabilities`),
		},
		{
			Name: "workflowcheck", About: "workflow code is deterministic", Cores: 1, Needs: []string{"workflowcheck"},
			Units: built([]string{"./workflows"}, besides, nil), Run: shell(10*time.Minute, `workflowcheck ./workflows/...`),
		},
		{
			// It has the machine to itself: the service, which others build, carries what this one makes anew.
			Name: "console", About: "types, lint and tests of the console; its committed build is what its sources make",
			Needs: []string{"node", "npm console"},
			Units: whole("console/", "api/openapi.yaml", "!console/e2e/", "!**/*.md"),
			Run: shell(15*time.Minute, `(cd console && npm run --silent check && npm run --silent build)
git diff --exit-code --stat -- console/built && [ -z "$(git status --porcelain -- console/built)" ]`),
		},
	}
}

// watchingLanes look at what operators watch the service by.
func watchingLanes() []Lane {
	return []Lane{
		{
			Name: "alerts", About: "the rules of docs/alerts.yml, each of which fires and ends in a test", Cores: 1, Needs: []string{"prometheus"},
			Units: whole("docs/alerts*.yml"),
			Run:   shell(5*time.Minute, `promtool check rules docs/alerts.yml && promtool test rules docs/alerts.test.yml`),
		},
		{
			Name: "dashboards", About: "docs/dashboards is what tools/dashboards makes", Cores: 1, Needs: []string{"golangci-lint"},
			Units: whole("docs/dashboards/", "tools/dashboards/", ".golangci.yml"),
			Run:   shell(5*time.Minute, `cd tools/dashboards && go test ./... && golangci-lint run ./...`),
		},
	}
}

// besideLanes compute: they are held to one core.
func besideLanes() []Lane {
	textUnits, texts := tests(func(dir string) bool { return dir == reading }, nil, nil, "-p", "1")

	return []Lane{
		{
			Name: "lint", About: "golangci-lint, go vet's checks among them", Cores: 1, Needs: []string{"golangci-lint"},
			Units: whole(goSources...), Run: shell(30*time.Minute, `GOMAXPROCS=1 golangci-lint run ./...`),
		},
		{
			Name: "texts", About: "tests of documents, rules and words", Cores: 1, Units: textUnits, Run: texts,
		},
		{
			Name: "postgres", About: "the store and the audit on PostgreSQL 16, 17 or 18, as the commit draws, and behind PgBouncer", Cores: 1,
			Needs: []string{"node", "npm postgres", "pgbouncer"},
			Units: built([]string{"./internal/store/storetest", "./internal/audit"}, besides,
				[]string{"internal/store/**/*_test.go", "internal/audit/*_test.go", "tools/postgres/"}),
			Run: newerPostgres,
		},
		{
			Name: "image", About: "two builds of the image have one digest, and it runs as its user on a read-only file system", Cores: 1,
			Needs: []string{"postgresql"}, Units: whole("tools/image/", "cmd/*.go", "!cmd/*_test.go", "main.go", "go.mod", "go.sum"),
			Run: shell(20*time.Minute, `cd tools/image && go vet ./... && cd ../.. && tools/image/check`),
		},
		{
			Name: "fuzz", About: "fuzz targets of changed packages, and two that the commit draws", Cores: 1,
			Needs: []string{"postgresql", "temporal"}, Units: fuzzUnits, Run: fuzz,
		},
	}
}

// testLanes are those of `go test`.
func testLanes() []Lane {
	racy := func(dir string) bool { return inProcess(dir) && dir != reading }
	raceUnits, race := tests(racy, nil, []string{"*.md", "**/README.md"}, "-race", "-timeout", "30m")
	rulesUnits, rules := tests(func(dir string) bool { return dir == "./models" || dir == "./workflows" }, nil, nil, "-count=1")
	racesUnits, racing := tests(func(dir string) bool { return dir == "./e2e" }, service, besides, "-race", "-run", races, "-timeout", "30m")
	e2eUnits, e2e := tests(endToEnd, service, besides, "-skip", races, "-p", "1", "-timeout", "30m") // a package runs two tests per core
	failureUnits, failure := tests(func(dir string) bool { return slices.Contains(alone, dir) }, service, besides, "-timeout", "30m")

	return []Lane{
		{
			Name: "rules", About: "the rules about money and the replay of all kept histories, in every run: they take seconds",
			Always: true, Units: rulesUnits, Run: rules,
		},
		{
			Name: "race", About: "tests of packages with the race detector", Needs: []string{"postgresql"}, Units: raceUnits, Run: race,
		},
		{
			Name: "races", About: "the service end to end, with the race detector in its processes", Needs: []string{"postgresql"},
			Units: racesUnits, Run: racing,
		},
		{
			Name: "e2e", About: "the built service, its database and Temporal, from outside", Needs: []string{"postgresql"},
			Units: e2eUnits, Run: e2e,
		},
		{
			Name: "failure", About: "kills and cuts at every boundary", Needs: []string{"postgresql"}, Units: failureUnits, Run: failure,
		},
	}
}

// drawnLanes take what the commit draws.
func drawnLanes() []Lane {
	return []Lane{
		{
			Name: "chaos", About: "5 schedules of a fixed seed, 12 of the commit's, 4 beside the last release", Needs: []string{"postgresql"},
			Units: built([]string{".", "./chaos"}, besides, nil),
			Run:   chaos,
		},
		{
			Name: "benches", About: "benchmarks of changed packages, and two that the commit draws: none rots, no time is looked at",
			Needs: []string{"postgresql"}, Units: benchUnits, Run: benches,
		},
	}
}

// service is the program that the others run.
var service = []string{"."}

// outsideLanes use the service as others do.
func outsideLanes() []Lane {
	return []Lane{
		{
			Name: "browser", About: "the console in Chromium", Cores: 1,
			Needs: []string{"postgresql", "temporal", "node", "chromium", "npm console"},
			Units: built(service, []string{"docs/", "*.md", "*.yml", "Makefile", "Dockerfile"},
				append([]string{"console/e2e/", "console/package-lock.json", "console/playwright.config.ts"}, withDev...)),
			Run: shell(30*time.Minute, `CHROMIUM="$(command -v chromium)" e2e/typescript/with-dev console/e2e/run`),
		},
		{
			Name: "demo", About: "`rihla demo` on an empty machine", Cores: 1, Needs: []string{"postgresql", "temporal"},
			Units: built(service, besides, nil),
			Run: shell(15*time.Minute, `dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
chmod 711 "$dir" # the user that PostgreSQL runs as has to reach its data
mkdir -p "$dir/bin"
cp .data/bin/temporal "$dir/bin/" 2>/dev/null || true
DATA_DIR="$dir" go run . demo --exit`),
		},
		{
			Name: "clients", About: "a generated TypeScript client, four other generators, /docs and the checkout in Chromium, at one service",
			Cores: 1, Needs: []string{"postgresql", "temporal", "node", "chromium", "npm typescript", "npm clients"},
			Units: built(service, []string{"console/", "*.md", "*.yml", "Makefile", "Dockerfile"}, []string{"e2e/typescript/", "e2e/clients/"}),
			Run: shell(30*time.Minute, `export CHROMIUM="$(command -v chromium)"
e2e/typescript/with-dev bash -euc 'e2e/typescript/run story && e2e/typescript/run docs && e2e/typescript/run checkout && e2e/clients/run'`),
		},
		{
			Name: "workbook", About: "LibreOffice and exceljs read an exported workbook", Cores: 1,
			Needs: []string{"postgresql", "temporal", "node", "libreoffice", "npm typescript"},
			Units: built([]string{".", "./bench"}, besides,
				[]string{".ci/xlsx-check", "e2e/typescript/workbook.mjs", "e2e/typescript/package-lock.json"}),
			Run: shell(15*time.Minute, `.ci/xlsx-check`),
		},
	}
}
