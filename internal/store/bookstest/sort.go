package bookstest

import (
	"strings"

	"rihla/internal/store/db"
)

// SortBy orders a list by fields, those with a - in front descending.
func SortBy(fields ...string) []db.Sort {
	out := make([]db.Sort, len(fields))

	for i, field := range fields {
		name, desc := strings.CutPrefix(field, "-")
		out[i] = db.Sort{Field: name, Desc: desc}
	}

	return out
}
