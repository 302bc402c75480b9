// Package docs is the documentation that the program itself needs.
package docs

import _ "embed" // of the pages

// Operations is the runbook, in Markdown, with an HTML anchor for the paragraph of each kind of incident.
//
//go:embed operations.md
var Operations string
