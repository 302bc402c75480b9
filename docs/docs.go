// Package docs is the documentation that the program itself needs.
package docs

import _ "embed" // of the pages

// The parts of the documents that are made from the code, and the appendix of the rules.
//go:generate go test -count=1 -run "^(TestCapabilitiesAreThoseOfTheCode|TestAppendixOfRulesIsGenerated)$" . -update

// Operations is the runbook, in Markdown, with an HTML anchor for the paragraph of each kind of incident.
//
//go:embed operations.md
var Operations string
