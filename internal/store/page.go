package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"rihla/models"
)

// Page asks for one page of a list. The zero value is the first page of 20 items in the list's own order.
type Page struct {
	Number  int // 1-based; less than 1 is the first
	PerPage int // less than 1 is the default; the bounds are the edge's business (spec 8.1)
	Sort    []Sort
}

// Sort is one field to sort a list by.
type Sort struct {
	Field string
	Desc  bool
}

// Listed is one page of a list. Items is never nil; Total counts all pages.
type Listed[T any] struct {
	Items []T
	Total int64
}

// defaultPerPage is the page size of contract §1.
const defaultPerPage = 20

// order says how a list may be sorted.
type order struct {
	columns  map[string]string // what a caller may name, and the SQL column behind it
	id       string            // the column that breaks ties, so that pages never overlap
	fallback Sort
}

// apply adds ORDER BY. Error: VALIDATION_ERROR on sort, when a field is not on the whitelist.
func (o order) apply(q *bun.SelectQuery, by []Sort) (*bun.SelectQuery, error) {
	if len(by) == 0 {
		by = []Sort{o.fallback}
	}

	for _, s := range by {
		column, ok := o.columns[s.Field]
		if !ok {
			known := slices.Sorted(maps.Keys(o.columns))

			return nil, models.Invalid("sort", "must be one of %s", strings.Join(known, ", "))
		}

		direction := bun.Safe("ASC")
		if s.Desc {
			direction = "DESC"
		}

		q = q.OrderExpr("? ?", bun.Ident(column), direction)
	}

	return q.OrderExpr("? ASC", bun.Ident(o.id)), nil
}

// listed runs a list query, which has no model yet, for one page. A page past the end is empty.
func listed[T any](ctx context.Context, q *bun.SelectQuery, p Page, o order) (Listed[T], error) {
	out := Listed[T]{Items: []T{}}

	q, err := o.apply(q.Model(&out.Items), p.Sort)
	if err != nil {
		return out, err
	}

	if out.Total, err = q.Count(ctx); err != nil {
		return out, fmt.Errorf("count list: %w", err)
	}

	perPage, before := int64(p.PerPage), int64(p.Number)-1
	if perPage < 1 {
		perPage = defaultPerPage
	}

	before = max(before, 0)

	// The division keeps the offset of an absurd page number from overflowing.
	if before > out.Total/perPage {
		return out, nil
	}

	if err := q.Limit(perPage).Offset(before * perPage).Scan(ctx); err != nil {
		return out, fmt.Errorf("read list: %w", err)
	}

	return out, nil
}

// matching narrows a list to rows with the value; the zero value narrows nothing.
func matching[T comparable](q *bun.SelectQuery, column string, value T) *bun.SelectQuery {
	var none T
	if value == none {
		return q
	}

	return q.Where("? = ?", bun.Ident(column), value)
}

// likeEscaper makes the wildcards of LIKE ordinary characters (contract §1).
var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// containing narrows a list to rows with the text in one of the columns, whatever its case; no text narrows nothing.
func containing(q *bun.SelectQuery, text string, columns ...string) *bun.SelectQuery {
	if text == "" {
		return q
	}

	pattern := "%" + likeEscaper.Replace(text) + "%"

	return q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		for _, c := range columns {
			q = q.WhereOr("? ILIKE ?", bun.Ident(c), pattern)
		}

		return q
	})
}

// during narrows a list to the moments of a timestamptz column that fall on the days in Riyadh: from the first
// midnight up to, and without, the one after the last day. An end that is missing is open.
func during(q *bun.SelectQuery, column string, d models.Days) *bun.SelectQuery {
	if !d.From.IsZero() {
		q = q.Where("? >= ?", bun.Ident(column), d.From.Start())
	}

	if !d.To.IsZero() {
		q = q.Where("? < ?", bun.Ident(column), d.To.AddDays(1).Start())
	}

	return q
}

// Actor is who does something: what scopes and audit entries need to know of the caller.
type Actor struct {
	UserID     uuid.UUID
	Role       models.Role
	ProviderID uuid.UUID // of provider roles only
	RequestID  string
}

// ProviderScope is the provider to which a reading of provider data is narrowed: their own for provider roles,
// whatever they ask for; what is asked for, with uuid.Nil for all, for the platform's roles (contract §2).
// Error: FORBIDDEN for everybody else.
func (a Actor) ProviderScope(asked uuid.UUID) (uuid.UUID, error) {
	switch {
	case a.Role.IsProvider() && a.ProviderID != uuid.Nil:
		return a.ProviderID, nil
	case a.Role.ReadsAnyBooking():
		return asked, nil
	default:
		return uuid.Nil, models.Errorf(models.CodeForbidden, "The role may not see provider data.")
	}
}

// ProviderForNew is the provider that what the actor creates belongs to: their own for provider roles, the named
// one for ADMIN and SUPER_ADMIN (contract §2). Errors: VALIDATION_ERROR on provider_id, FORBIDDEN.
func (a Actor) ProviderForNew(named uuid.UUID) (uuid.UUID, error) {
	switch {
	case a.Role.IsProvider() && a.ProviderID != uuid.Nil:
		return a.ProviderID, nil
	case !a.Role.IsAdmin():
		return uuid.Nil, models.Errorf(models.CodeForbidden, "The role may not write provider data.")
	case named == uuid.Nil:
		return uuid.Nil, models.Invalid("provider_id", "is required")
	default:
		return named, nil
	}
}

// Owns reports whether the actor may act on what belongs to the provider. Callers answer false with NOT_FOUND.
func (a Actor) Owns(provider uuid.UUID) bool {
	return a.Role.IsAdmin() || a.Role.IsProvider() && a.ProviderID != uuid.Nil && a.ProviderID == provider
}
