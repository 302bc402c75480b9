// Package docs is the documentation that the program itself needs.
package docs

import "embed"

// Pages are the guides in Markdown: operations.md is the index of the runbook, whose pages link to the others.
//
//go:embed *.md runbook/*.md
var Pages embed.FS
