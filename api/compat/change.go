package main

import (
	"cmp"
	"fmt"
	"slices"
)

// changeKind says what a change means to clients that were written for the released document.
type changeKind int

const (
	// addition is what they need not know: new operations, optional fields, enum values, wider bounds of what they send.
	addition changeKind = iota
	// breaking is what they fail on, or what means something else than before (rules: api.versions).
	breaking
)

// change is one difference, and where it is: an operation and the way from there to the schema.
type change struct {
	kind  changeKind
	where string
	what  string
}

// String is one line of the report.
func (c change) String() string {
	word := "added    "
	if c.kind == breaking {
		word = "BREAKING "
	}

	return fmt.Sprintf("%s %s: %s", word, c.where, c.what)
}

// changes collects what a comparison finds.
type changes struct {
	list []change
	// seen has the pairs of schemas that were compared: a shared schema is reported where it is met first, and one that
	// contains itself comes to an end.
	seen map[schemaPair]bool
}

func (c *changes) breakf(where, format string, args ...any) {
	c.list = append(c.list, change{breaking, where, fmt.Sprintf(format, args...)})
}

func (c *changes) addf(where, format string, args ...any) {
	c.list = append(c.list, change{addition, where, fmt.Sprintf(format, args...)})
}

// sorted has what breaks first, the rest by place.
func (c *changes) sorted() []change {
	slices.SortStableFunc(c.list, func(a, b change) int {
		return cmp.Or(cmp.Compare(b.kind, a.kind), cmp.Compare(a.where, b.where), cmp.Compare(a.what, b.what))
	})

	return c.list
}

// broken says whether anything found so far breaks clients.
func (c *changes) broken() bool {
	return slices.ContainsFunc(c.list, func(one change) bool { return one.kind == breaking })
}
