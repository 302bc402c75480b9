// Package jsonlimit bounds how many values a JSON document from outside may have. Memory, errors and log lines grow with
// the number of values, not with the number of bytes: 1 MiB is 175,000 members of one letter each.
package jsonlimit

import (
	"errors"

	"rihla/models"
)

const (
	// MaxMembers is how many members all objects of a document may have together, duplicates counted.
	MaxMembers = 2_000
	// MaxElements is how many elements all arrays of a document may have together.
	MaxElements = 20_000
)

// ErrTooDeep reports a document whose objects and arrays are nested more deeply than its reader allows.
var ErrTooDeep = errors.New("nested too deeply")

// Check counts the levels, members and elements of a document in one pass that allocates nothing but a byte per level.
// The document must be valid JSON. Errors: ErrTooDeep, TOO_MANY_MEMBERS.
func Check(document []byte, maxDepth int) error {
	var (
		open     []byte // the brackets that are open
		members  int
		elements int
	)

	for i := 0; i < len(document); i++ {
		switch c := document[i]; c {
		case '"':
			i = stringEnd(document, i)
		case ':':
			members++
		case '{':
			open = append(open, c)
		case '[':
			open = append(open, c)

			if !emptyArray(document[i+1:]) {
				elements++
			}
		case '}', ']':
			open = open[:len(open)-1]
		case ',':
			if open[len(open)-1] == '[' {
				elements++
			}
		}

		if len(open) > maxDepth {
			return ErrTooDeep
		}

		if members > MaxMembers || elements > MaxElements {
			return tooMany()
		}
	}

	return nil
}

func tooMany() error {
	return models.NewError(models.CodeTooManyMembers,
		"request.too_many_members", "members", MaxMembers, "elements", MaxElements)
}

// stringEnd is the position of the quote that ends the string which begins at i.
func stringEnd(document []byte, i int) int {
	for i++; document[i] != '"'; i++ {
		if document[i] == '\\' {
			i++
		}
	}

	return i
}

// emptyArray reports whether the next thing after an opening bracket closes it.
func emptyArray(rest []byte) bool {
	for _, c := range rest {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c == ']'
		}
	}

	return false
}
