# Short forms of the commands that README.md and docs/ explain. `make` or `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help demo dev test test-short race fuzz chaos upgrade-refused lint generate spectral compat client console docs-page image drills bench cluster exports xlsx-check ci lane

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## start everything and tell the story of one booking
	go run . demo

dev: ## start everything, with users and trips to try
	go run . dev

test: ## all tests, against a real PostgreSQL and Temporal
	go test ./...

test-short: ## the tests that need neither Temporal nor a built program; PostgreSQL they do
	go test -short ./...

race: ## all tests with the race detector
	go test -race -count=1 ./...

fuzz: ## every fuzz target, one after the other, FUZZTIME each (about 10 seconds)
	tools/fuzz

chaos: ## kill and cut everything, 20 times, and look for what must not be
	go run ./chaos --seed 1 --schedules 20 --environments 2

upgrade-refused: ## chaos finds a migration that the last release cannot work with; 7 minutes
	go run ./chaos --upgrade --schedules 1 --seed 1 --migration chaos/testdata/breaking.sql | grep 'VIOLATED answers'

lint: ## golangci-lint; `make lane NAME=lint` installs it into .data/ci-bin
	PATH="$(CURDIR)/.data/ci-bin:$$PATH" golangci-lint run ./...

generate: ## the server from api/openapi.yaml
	go generate ./...

spectral: ## hold api/openapi.yaml to its rules; needs Node.js
	cd tools/openapi && npm ci --ignore-scripts --no-audit --no-fund && npm run --silent lint

compat: ## compare api/openapi.yaml with the last released document
	go run ./api/compat -v

client: ## the story by a generated TypeScript client; needs Node.js
	cd e2e/typescript && npm ci --ignore-scripts --no-audit --no-fund && ./with-dev ./run story

console: ## build the console into console/built; needs Node.js 20
	cd console && npm ci && npm run check && npm run build

docs-page: ## /docs in Chromium; needs Node.js and Chromium
	cd e2e/typescript && npm ci --ignore-scripts --no-audit --no-fund && ./with-dev ./run docs

image: ## build the image of a deployment, without a container engine, as an OCI layout in .data/image
	go -C tools/image run . build

drills: ## bring a lost database and a lost Temporal back, and have every alert fire and end; a quarter of an hour
	go test -tags drill -count=1 -timeout 30m -p 1 -v ./e2e/restore ./e2e/alerts

bench: ## measure payments over HTTP beside a bare workflow: rate, CPU, statements
	go run ./bench payments

cluster: ## the service on a Temporal cluster: health, a payment, payments per second
	go run ./bench cluster

exports: ## compare exports with psql, and what they cost in memory
	go run ./bench exports

xlsx-check: ## LibreOffice and exceljs read an exported workbook; needs soffice, psql and Node.js
	cd e2e/typescript && npm ci --ignore-scripts --no-audit --no-fund
	.ci/xlsx-check

ci: ## everything that must hold before a change lands and has not passed with what is here
	.ci/run

lane: ## one lane of it, proven or not: make lane NAME=lint; without a name: which there are
	.ci/run $(or $(NAME),list)
