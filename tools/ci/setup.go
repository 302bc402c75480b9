package main

// setUp are scripts that install what lanes need and the machine does not have. The versions of tools stand here and nowhere else;
// what npm installs is pinned by lock files, and none of its packages runs a script of its own.
var setUp = map[string]string{
	"postgresql": `ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null ||
		{ apt-get update -q && apt-get install -y -q --no-install-recommends postgresql; }`,
	// Debian starts one as it installs it: that has the standard port to itself, and ours has another.
	"pgbouncer": `[ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null ||
		{ apt-get update -q && apt-get install -y -q --no-install-recommends pgbouncer; }`,
	"node": `command -v node >/dev/null && command -v npm >/dev/null && command -v curl >/dev/null ||
		{ apt-get update -q && apt-get install -y -q --no-install-recommends nodejs npm curl; }`,
	"prometheus": `command -v prometheus >/dev/null && command -v promtool >/dev/null ||
		{ apt-get update -q && apt-get install -y -q --no-install-recommends prometheus; }`,
	"chromium": `command -v chromium >/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends chromium; }`,
	"libreoffice": `command -v soffice >/dev/null && command -v python3 >/dev/null ||
		{ apt-get update -q && apt-get install -y -q --no-install-recommends libreoffice-calc python3; }`,
	"gofumpt":       `go install mvdan.cc/gofumpt@v0.12.0`,
	"golangci-lint": `go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0`,
	"workflowcheck": `go install go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0`,
	// One for all who start a service of their own.
	"temporal": `[ -x .data/bin/temporal ] || { mkdir -p .data/bin &&
		GOWORK=off go -C tools build -mod=readonly -o ../.data/bin/temporal github.com/temporalio/cli/cmd/temporal; }`,
	"npm migrations": `cd tools/migrations && npm ci --ignore-scripts --no-audit --no-fund`,
	"npm postgres":   `cd tools/postgres && npm ci --ignore-scripts --no-audit --no-fund`,
	"npm openapi":    `cd tools/openapi && npm ci --ignore-scripts --no-audit --no-fund`,
	"npm typescript": `cd e2e/typescript && npm ci --ignore-scripts --no-audit --no-fund`,
	"npm clients":    `cd e2e/clients && npm ci --ignore-scripts --no-audit --no-fund`,
	"npm console":    `cd console && npm ci --ignore-scripts --no-audit --no-fund`,
}
