// Package docs is the documentation that the program itself needs.
package docs

import "embed"

// The parts of the documents that are made from the code, and the appendix of the rules.
//go:generate go test -count=1 -run "^(TestCapabilitiesAreThoseOfTheCode|TestAppendixOfRulesIsGenerated)$" . -update

// Pages are the guides in Markdown: operations.md is the index of the runbook, whose pages link to the others.
//
//go:embed *.md runbook/*.md
var Pages embed.FS
