// Package migrations holds the numbered SQL migrations of the database, embedded into the binary.
// A file that has been released is never edited: a change is a new number.
package migrations

import "embed"

// FS holds the files; internal/store applies them in order.
//
//go:embed *.sql
var FS embed.FS
